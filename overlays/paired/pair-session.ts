/** The session log: `.ai-sdd/state/pair-sessions/<task-id>.json`. One record a round, sealed by the engine. */
import type { Answer, Moment, OverlayLog } from '../../engine/contract.ts';
import type { JsonObject } from '../../engine/json.ts';
import { closingOf, feedbackWith } from '../shared/round-log.ts';
import { usageRecord } from '../shared/usage-record.ts';
import type { Roles } from './pair-options.ts';
import type { Challenge } from './parse-challenge.ts';

/** One round, as it stands in the log. */
export interface RoundRecord {
	readonly iteration: number;
	readonly decision: 'AGREE' | 'CHALLENGE';
	readonly feedback: string;
	readonly challenger_agent: string;
}

/** A challenger's words, as they stand in the log. */
export const WORDS = { yes: 'AGREE', no: 'CHALLENGE' } as const;

export const pairSession: OverlayLog = {
	folder: 'pair-sessions',
	name: 'pair_session',
	members: ['iteration', 'decision', 'feedback', 'timestamp', 'task_id', 'driver_agent', 'challenger_agent'],
	closing: closingOf(WORDS),
};

/** The record of one round. `vetoes` says what stood against the challenger's AGREE, if anything did. */
export function roundRecord(
	moment: Moment,
	about: { readonly roles: Roles; readonly next: string; readonly answer: Answer },
	challenge: Challenge,
	vetoes: readonly string[],
): JsonObject {
	const { roles, next, answer } = about;
	const isVetoed = challenge.decision === 'AGREE' && vetoes.length > 0;
	const isOver = challenge.decision === 'AGREE' && !isVetoed;
	return {
		iteration: moment.iteration,
		decision: isVetoed ? 'CHALLENGE' : challenge.decision,
		feedback: feedbackOn(challenge, vetoes),
		timestamp: moment.at,
		task_id: moment.task.id,
		// Null where no agent made the attempt: a person did, or the files were changed from outside.
		driver_agent: moment.worker,
		challenger_agent: roles.challenger,
		next_driver: isOver ? null : next,
		confidence: challenge.confidence,
		artifacts: moment.artifacts.map(({ path, sha256 }) => ({ path, sha256 })),
		attempt: moment.attempt,
		prompt_sha256: answer.promptSha256 ?? null,
		usage: usageRecord(answer.usage),
		...(isVetoed ? { challenger_decision: 'AGREE', vetoed_by: vetoes } : {}),
	};
}

/** What the driver reads: the challenger's words, and what stood against its AGREE. */
export function feedbackOn(challenge: Challenge, vetoes: readonly string[]): string {
	return feedbackWith(challenge.feedback, vetoes, 'The challenger agreed');
}
