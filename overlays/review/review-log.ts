/**
 * The review log: `.ai-sdd/state/review-logs/<task-id>.json`.
 *
 * The overlay only says what goes into it, one record a verdict. The engine seals each record with `prev_hash` and
 * `hash`, appends it to the journal before anything acts on it, and rebuilds the document from there.
 */
import type { Answer, Finding, Moment, OverlayLog } from '../../engine/contract.ts';
import type { JsonObject } from '../../engine/json.ts';
import { closingOf, feedbackWith } from '../shared/round-log.ts';
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
	readonly findings?: readonly Finding[];
}

/** A reviewer's words, as they stand in the log. */
export const WORDS = { yes: 'GO', no: 'NO_GO' } as const;

export const reviewLog: OverlayLog = {
	folder: 'review-logs',
	name: 'review_log',
	members: ['iteration', 'decision', 'feedback', 'timestamp', 'task_id', 'reviewer_agent', 'coder_agent'],
	closing: closingOf(WORDS),
};

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
		feedback: feedbackOn(verdict, vetoes),
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
		// A fixer, or (null) whoever took over or changed the files.
		...(moment.worker === about.coder ? {} : { attempt_by_agent: moment.worker }),
	};
}

/** What the coder reads: the reviewer's words, and what stood against its GO. */
export function feedbackOn(verdict: ReviewVerdict, vetoes: readonly string[]): string {
	return feedbackWith(verdict.feedback, vetoes, 'The reviewer said GO');
}
