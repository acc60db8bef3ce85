/** Reads a challenger's reply. Whatever is wrong with it is a violation with a reason, and never an AGREE. */
import { type Candidate, type Found, findVerdict, show } from '../shared/find-verdict.ts';
import { leavesYes } from '../shared/unread-verdict.ts';
import { WORDS } from './pair-session.ts';

/** A challenger's verdict, proven well-formed. */
export interface Challenge {
	readonly decision: 'AGREE' | 'CHALLENGE';
	readonly feedback: string;
	/** From 0 to 1; null if the challenger did not say. */
	readonly confidence: number | null;
}

/** The one verdict in a reply, or why there is none. */
export function parseChallenge(
	reply: string,
	of: { readonly reviewId: string; readonly material: readonly string[] },
): Found<Challenge> {
	return findVerdict(reply, {
		...of,
		key: 'decision',
		members: ['decision', 'feedback'],
		read,
		saysTheSame: (one, other) => one.decision === other.decision,
		words: Object.values(WORDS),
		holdsBeside: ({ decision }, saying) => decision === 'CHALLENGE' || leavesYes(saying, WORDS),
	});
}

function read({ decision, feedback, confidence = null }: Candidate): Found<Challenge> {
	if (decision !== 'AGREE' && decision !== 'CHALLENGE') {
		return violation(`"decision" is ${show(decision)}, expected "AGREE" or "CHALLENGE"`);
	}
	if (typeof feedback !== 'string') return violation(`"feedback" is ${show(feedback)}, expected a text`);
	if (decision === 'CHALLENGE' && feedback.trim() === '') {
		return violation('a CHALLENGE needs "feedback" that says what to change');
	}
	if (confidence !== null && !isShare(confidence)) {
		return violation(`"confidence" is ${show(confidence)}, expected a number from 0 to 1`);
	}
	return { ok: true, value: { decision, feedback, confidence } };
}

function isShare(value: unknown): value is number {
	return typeof value === 'number' && value >= 0 && value <= 1;
}

function violation(reason: string): Found<Challenge> {
	return { ok: false, violation: reason };
}
