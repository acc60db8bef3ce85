/** What the logs of rounds have in common: how they end, and how a person's decision stands in them. */
import type { Answer, Moment, OverlayLog } from '../../engine/contract.ts';
import { failedRequired } from '../../engine/failed-checks.ts';
import type { JsonObject } from '../../engine/json.ts';
import { personRecord } from './person.ts';

/** How a judge's two words are written. */
export interface Words {
	readonly yes: string;
	readonly no: string;
}

/** The members that end the document: null while the loop is open. */
export function closingOf({ yes, no }: Words): NonNullable<OverlayLog['closing']> {
	return (records, { ended }) => {
		if (ended === null) return { final_decision: null, completed_at: null };
		const last = records.at(-1);
		// An accept that was void in the end, as the content changed after it, is no more a yes than a judge's.
		if (last !== undefined && 'final_decision' in last && (ended.completed || last['final_decision'] === no)) {
			const { final_decision = null, hil_item = null, decided_by = null } = last;
			return { final_decision, completed_at: ended.at, hil_item, decided_by };
		}
		// Without a person's word the last round is the final one; no round at all, or a task that failed later, is no yes.
		const decision = records.filter((record) => 'iteration' in record).at(-1)?.['decision'];
		return { final_decision: ended.completed && decision === yes ? yes : no, completed_at: ended.at };
	};
}

/** The record of a person's decision: it ends the log, or opens one more round. */
export function decisionRecord(moment: Moment, answer: Answer, { no }: Words): JsonObject {
	const decision = personRecord(moment, answer);
	if (answer.value === 'accept') {
		const failed = failedRequired(moment.checks);
		return {
			final_decision: 'ACCEPTED_BY_HUMAN',
			...decision,
			...(failed.length === 0 ? {} : { failed_checks: failed }),
		};
	}
	return answer.value === 'reject' ? { final_decision: no, ...decision } : decision;
}

/** What the worker reads: the judge's words, and what stood against its yes. */
export function feedbackWith(feedback: string, vetoes: readonly string[], saidYes: string): string {
	if (vetoes.length === 0) return feedback;
	return [`${saidYes}, but: ${vetoes.join('; ')}.`, feedback].filter((part) => part !== '').join('\n\n');
}
