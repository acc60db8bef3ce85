/** What the reviewer is told: the standards, the work, the acceptance criteria, the checks, the history, the contract. */

import { capText, OUTPUT_CAP } from '../../engine/brief/cap.ts';
import { fence, randomNonce } from '../../engine/brief/fence.ts';
import type { Moment, OverlayKit } from '../../engine/contract.ts';
import { withFindings } from '../../engine/findings.ts';
import { shownWork } from '../shared/shown-work.ts';
import type { IterationRecord } from './review-log.ts';
import { DEFAULT_MAX_ITERATIONS, type ReviewOptions } from './review-options.ts';

/** Earlier reviews shown in full, newest last; older ones are only counted, so that a long loop keeps a short prompt. */
const HISTORY_SHOWN = 10;

/** The reviewer's prompt. `complaint` says what was wrong with its previous reply to the same question, if it is asked again. */
export function reviewPrompt(
	moment: Moment,
	options: ReviewOptions,
	kit: OverlayKit,
	about: { readonly coder: string; readonly reviewId: string; readonly complaint: string | null },
): string {
	const nonce = randomNonce();
	const past = earlierReviews(moment, options);
	return kit.render('reviewer', {
		iteration: moment.iteration,
		// A person may have ordered rounds beyond the limit.
		maxIterations: Math.max(moment.iteration, options.max_iterations ?? DEFAULT_MAX_ITERATIONS),
		coder: about.coder,
		...shownWork(moment, nonce),
		history: past.slice(-HISTORY_SHOWN).map((record) => ({
			iteration: record.iteration,
			decision: record.decision,
			feedback: fence(
				`review ${record.iteration}`,
				capText(withFindings(record.feedback, record.findings ?? []), OUTPUT_CAP),
				nonce,
			),
		})),
		skipped: Math.max(0, past.length - HISTORY_SHOWN),
		complaint: about.complaint ?? '',
		contract: responseContract(options, about.reviewId),
	});
}

/** The reviews so far, unless the reviewer is to look with fresh eyes. */
function earlierReviews(moment: Moment, options: ReviewOptions): readonly IterationRecord[] {
	if (options.reviewer_context === 'fresh') return [];
	return moment.history.flatMap((past) =>
		past.record !== null && 'iteration' in past.record ? [past.record as unknown as IterationRecord] : [],
	);
}

function responseContract(options: ReviewOptions, reviewId: string): string {
	if (options.protocol === 'drift') {
		return [
			'Answer with exactly one JSON object, and no other JSON object with these keys:',
			'',
			'{"verdict": "pass" | "drift", "followUpPrompt": "on pass a short summary; on drift exactly what to change"}',
		].join('\n');
	}
	return [
		'Answer with exactly one JSON object, and no other JSON object with these keys. GO means that the work may go out as',
		'it is; anything that must change first is a NO_GO whose feedback says exactly what. `quality_checks` and `findings`',
		'may be left out.',
		'',
		`{"review_id": "${reviewId}", "decision": "GO" | "NO_GO", "feedback": "…",`,
		' "quality_checks": {"acceptance_criteria_met": true, "code_standards_met": true, "test_coverage_adequate": true, "security_review_passed": true},',
		' "findings": [{"file": "…", "line": 1, "severity": "blocker" | "warning" | "suggestion", "issue": "…", "fix": "…"}]}',
	].join('\n');
}
