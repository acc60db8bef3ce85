/**
 * The review log: `.ai-sdd/state/review-logs/<task-id>.json`.
 *
 * The overlay only says what goes into it, one record a verdict. The engine seals each record with `prev_hash` and
 * `hash`, appends it to the journal before anything acts on it, and rebuilds the document from there.
 */
import type { Answer, Moment, OverlayLog } from '../../engine/contract.ts';
import type { JsonObject } from '../../engine/json.ts';
import { personRecord } from '../shared/person.ts';
import { usageRecord } from '../shared/usage-record.ts';
import type { ReviewVerdict } from './parse-verdict.ts';

/** One review of one attempt, as it stands in the log. */
export interface IterationRecord {
	readonly iteration: number;
	readonly decision: 'GO' | 'NO_GO';
	readonly feedback: string;
	readonly timestamp: string;
	readonly task_id: string;
	readonly reviewer_agent: string;
	readonly coder_agent: string;
}

export const reviewLog: OverlayLog = {
	folder: 'review-logs',
	name: 'review_log',
	members: ['iteration', 'decision', 'feedback', 'timestamp', 'task_id', 'reviewer_agent', 'coder_agent'],
	closing(records, about) {
		if (about.ended === null) return { final_decision: null, completed_at: null };
		const last = records[records.length - 1];
		const byPerson = last !== undefined && 'final_decision' in last;
		return {
			final_decision: byPerson ? (last['final_decision'] ?? null) : finalDecision(records, about.ended.completed),
			completed_at: about.ended.at,
			...(byPerson ? { hil_item: last['hil_item'] ?? null, decided_by: last['decided_by'] ?? null } : {}),
		};
	},
};

/** Without a person's word the last review is the final one; no review at all, or a task that failed later, is no approval. */
function finalDecision(records: readonly JsonObject[], isCompleted: boolean): string {
	const reviews = records.filter((record) => 'iteration' in record);
	return isCompleted && reviews[reviews.length - 1]?.['decision'] === 'GO' ? 'GO' : 'NO_GO';
}

/** The record of one review. `vetoes` says what stood against the reviewer's GO, if anything did. */
export function iterationRecord(
	moment: Moment,
	about: { readonly coder: string; readonly reviewer: string; readonly answer: Answer },
	verdict: ReviewVerdict,
	vetoes: readonly string[],
): JsonObject {
	const vetoed = verdict.decision === 'GO' && vetoes.length > 0;
	return {
		iteration: moment.iteration,
		decision: vetoed ? 'NO_GO' : verdict.decision,
		feedback: feedbackWith(verdict, vetoes),
		timestamp: moment.at,
		task_id: moment.task.id,
		reviewer_agent: about.reviewer,
		coder_agent: about.coder,
		quality_checks: { ...verdict.qualityChecks },
		findings: verdict.findings as unknown as readonly JsonObject[],
		artifacts: moment.artifacts.map(({ path, sha256 }) => ({ path, sha256 })),
		attempt: moment.attempt,
		prompt_sha256: about.answer.promptSha256 ?? null,
		usage: usageRecord(about.answer.usage),
		...(vetoed ? { reviewer_decision: 'GO', vetoed_by: vetoes } : {}),
	};
}

/** What the coder reads: the reviewer's words, and what stood against its GO. */
export function feedbackWith(verdict: ReviewVerdict, vetoes: readonly string[]): string {
	if (verdict.decision === 'NO_GO' || vetoes.length === 0) return verdict.feedback;
	return [`The reviewer said GO, but: ${vetoes.join('; ')}.`, verdict.feedback]
		.filter((part) => part !== '')
		.join('\n\n');
}

/** The record of a person's decision: it ends the log, or opens one more round. */
export function decisionRecord(moment: Moment, answer: Answer): JsonObject {
	const decision = personRecord(moment, answer);
	if (answer.value === 'accept') return { final_decision: 'ACCEPTED_BY_HUMAN', ...decision };
	if (answer.value === 'reject') return { final_decision: 'NO_GO', ...decision };
	return decision;
}
