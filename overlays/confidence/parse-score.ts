/** Reads an evaluator's reply. */
import { type Candidate, type Found, findVerdict, show } from '../shared/find-verdict.ts';

/** An evaluator's score, proven well-formed. */
export interface Evaluation {
	readonly score: number;
	readonly reason: string;
}

/** The one score in a reply, or why there is none. */
export function parseScore(
	reply: string,
	of: { readonly reviewId: string; readonly material: readonly string[] },
): Found<Evaluation> {
	return findVerdict(reply, {
		...of,
		key: 'score',
		members: ['score', 'reason'],
		read,
		saysTheSame: (one, other) => one.score === other.score,
		words: [],
		holdsBeside: ({ score }, saying) => saying.length === 1 && Number(saying[0]) === score,
	});
}

function read({ score, reason = '' }: Candidate): Found<Evaluation> {
	if (typeof score !== 'number' || score < 0 || score > 1) {
		return { ok: false, violation: `"score" is ${show(score)}, expected a number from 0 to 1` };
	}
	if (typeof reason !== 'string') return { ok: false, violation: `"reason" is ${show(reason)}, expected a text` };
	return { ok: true, value: { score, reason } };
}
