/** What a person decided, as overlays record it and act on it. */
import type { Answer, Moment, Verdict } from '../../engine/contract.ts';
import type { JsonObject } from '../../engine/json.ts';

/** The record of a decision: who chose what, by which way, when and why. */
export function personRecord(moment: Moment, answer: Answer): JsonObject {
	return {
		hil_item: answer.item ?? null,
		choice: answer.value,
		decided_by: answer.by,
		decided_via: answer.via ?? null,
		notes: answer.notes ?? null,
		timestamp: answer.at,
		after_iteration: moment.iteration,
	};
}

/** The end of a task that a person rejected. */
export function rejected(answer: Answer): Extract<Verdict, { kind: 'fail' }> {
	return { kind: 'fail', code: 'HIL_REJECTED', reason: `rejected by ${answer.by}${why(answer)}` };
}

/** The reason a person gave, behind a colon. */
export function why({ notes }: Answer): string {
	return notes === undefined || notes === '' ? '' : `: ${notes}`;
}
