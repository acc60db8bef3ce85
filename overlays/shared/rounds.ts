/** Rounds between one who works and one who judges: when they run out, a person decides. Both loops, the review's and the pair's, end so. */
import type { Answer, Moment, Verdict } from '../../engine/contract.ts';
import type { JsonObject } from '../../engine/json.ts';
import { rejected } from './person.ts';

type Ask = Extract<Verdict, { kind: 'ask' }>;
type Rework = Extract<Verdict, { kind: 'rework' }>;

/** What names one round: whoever judges it is given this, and may be asked to repeat it. */
export function reviewId({ run, task, iteration }: Moment): string {
	return `${run}/${task.id}/${iteration}`;
}

/** Puts the work to a person with the whole history; one more round is offered only below the hard cap. */
export function askToDecide(
	moment: Moment,
	{ trigger, question, hardCap }: { readonly trigger: string; readonly question: string; readonly hardCap: number },
): Ask {
	return {
		kind: 'ask',
		questions: [
			{
				id: 'decide',
				to: 'human',
				trigger,
				brief: { prompt: question },
				choices:
					moment.iteration < hardCap ? ['accept', 'rework', 'takeover', 'reject'] : ['accept', 'takeover', 'reject'],
				context: {
					artifacts: moment.artifacts.map(({ path, sha256 }) => ({ path, sha256 })),
					rounds_used: moment.iteration,
					hard_cap: hardCap,
				},
			},
		],
	};
}

export interface Decided {
	readonly hardCap: number;
	/** The error code of a round that was ordered beyond the hard cap. */
	readonly beyondCap: string;
	/** What goes on the log about the decision. */
	readonly record: JsonObject;
	/** One more round, as the person ordered. */
	again(): Rework;
}

/** A person's word is final; what it leads to is on the log. */
export function obeyDecision(moment: Moment, answer: Answer, { hardCap, beyondCap, record, again }: Decided): Verdict {
	const notes = answer.notes ?? '';
	switch (answer.value) {
		case 'accept':
			return { kind: 'pass', note: `accepted as it is by ${answer.by}`, record };
		case 'rework': {
			if (moment.iteration < hardCap) return { ...again(), record };
			const reason = `${answer.by} ordered one more round after round ${moment.iteration}, but ${hardCap} are the most there can be`;
			return { kind: 'fail', code: beyondCap, reason, record };
		}
		case 'takeover':
			return { kind: 'rework', by: 'human', feedback: notes === '' ? `${answer.by} takes over` : notes, record };
		default:
			return { ...rejected(answer), record };
	}
}

/** What the worker reads where a person ordered one more round and there is no judgement to repeat. */
export function orderedRound({ by }: Answer): string {
	return `${by} asked for one more round.`;
}
