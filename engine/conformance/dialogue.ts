/** Goes through a task's life with an overlay: its questions are answered, work it sends back comes again, and it sees its own past. */
import { type Answer, type Hook, type Moment, type Past, type Verdict, verdictText } from '../contract.ts';
import type { Problem } from './checks.ts';
import { answerTo, type Mood } from './moments.ts';

/** As often an overlay may ask about one attempt. */
const MAX_ROUNDS = 20;
/** As many attempts are made. */
const MAX_ATTEMPTS = 4;

/** Consults the overlay once; `about` says for people where in the dialogue. */
export type Consult = (moment: Moment, about: string) => Promise<Verdict | Problem>;

/** Lives through it; returns how many questions were asked, or what is wrong. */
export async function dialogue(consult: Consult, first: Moment, mood: Mood): Promise<number | Problem> {
	let history: readonly Past[] = [];
	let asked = 0;
	for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
		const judged = await untilJudged(consult, { ...first, attempt, iteration: attempt, history }, mood);
		if ('check' in judged) return judged;
		asked += judged.asked;
		history = judged.history;
		if (judged.kind !== 'rework') break;
	}
	return asked;
}

interface Judged {
	readonly kind: Verdict['kind'];
	readonly asked: number;
	readonly history: readonly Past[];
}

/** Answers its questions about one attempt until it asks no more. */
async function untilJudged(consult: Consult, moment: Moment, mood: Mood): Promise<Judged | Problem> {
	let { history } = moment;
	let answers: { readonly [question: string]: Answer } = {};
	const where = `attempt ${moment.attempt}, ${mood} answers`;
	const wrong = (words: string): Problem => ({ check: 'questions', words: `at ${moment.hook} (${where}): ${words}` });
	for (let round = 0; round <= MAX_ROUNDS; round++) {
		const verdict = await consult({ ...moment, history, answers }, where);
		if ('check' in verdict) return verdict;
		history = remembered(history, moment.hook, moment.attempt, verdict);
		if (verdict.kind !== 'ask') return { kind: verdict.kind, asked: Object.keys(answers).length, history };
		const again = verdict.questions.find(({ id }) => Object.hasOwn(answers, id));
		if (again !== undefined) return wrong(`it asked "${again.id}" again, though it was answered`);
		answers = { ...answers, ...Object.fromEntries(verdict.questions.map((one) => [one.id, answerTo(one, mood)])) };
	}
	return wrong(`it still asks after ${MAX_ROUNDS} rounds of answers`);
}

/** As in a run: every judgement, and every question that carries a record, becomes part of the overlay's past. */
function remembered(history: readonly Past[], hook: Hook, attempt: number, verdict: Verdict): readonly Past[] {
	const record = verdict.record ?? null;
	if (verdict.kind === 'ask' && record === null) return history;
	return [...history, { hook, attempt, verdict: verdict.kind, text: verdictText(verdict), record }];
}
