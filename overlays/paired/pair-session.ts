/** The session log: `.ai-sdd/state/pair-sessions/<task-id>.json`. One record a round, sealed by the engine. */
import type { Answer, Moment, OverlayLog } from '../../engine/contract.ts';
import type { JsonObject } from '../../engine/json.ts';
import { personRecord } from '../shared/person.ts';
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

export const pairSession: OverlayLog = {
	folder: 'pair-sessions',
	name: 'pair_session',
	members: ['iteration', 'decision', 'feedback', 'timestamp', 'task_id', 'driver_agent', 'challenger_agent'],
	closing(records, about) {
		if (about.ended === null) return { final_decision: null, completed_at: null };
		const last = records.at(-1);
		const byPerson = last !== undefined && 'final_decision' in last;
		return {
			final_decision: byPerson ? (last['final_decision'] ?? null) : finalDecision(records, about.ended.completed),
			completed_at: about.ended.at,
			...(byPerson ? { hil_item: last['hil_item'] ?? null, decided_by: last['decided_by'] ?? null } : {}),
		};
	},
};

/** A task that failed later, or was never agreed on, is no agreement. */
function finalDecision(records: readonly JsonObject[], isCompleted: boolean): string {
	const rounds = records.filter((record) => 'iteration' in record);
	return isCompleted && rounds.at(-1)?.['decision'] === 'AGREE' ? 'AGREE' : 'CHALLENGE';
}

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
		feedback: feedbackWith(challenge, vetoes),
		timestamp: moment.at,
		task_id: moment.task.id,
		driver_agent: roles.driver,
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
export function feedbackWith(challenge: Challenge, vetoes: readonly string[]): string {
	if (challenge.decision === 'CHALLENGE' || vetoes.length === 0) return challenge.feedback;
	return [`The challenger agreed, but: ${vetoes.join('; ')}.`, challenge.feedback]
		.filter((part) => part !== '')
		.join('\n\n');
}

/** The record of a person's decision: it ends the log, or opens one more round. */
export function decisionRecord(moment: Moment, answer: Answer): JsonObject {
	const decision = personRecord(moment, answer);
	if (answer.value === 'accept') return { final_decision: 'ACCEPTED_BY_HUMAN', ...decision };
	return answer.value === 'reject' ? { final_decision: 'CHALLENGE', ...decision } : decision;
}
