/** The checks that every overlay goes through, wherever it lives. Each returns what is wrong, why it was not made, or null. */
import { ALLOWED_VERDICTS, type Hook, type Moment, type Verdict } from '../contract.ts';
import type { JsonObject } from '../json.ts';
import type { CheckName, Problem } from './checks.ts';
import { type Consult, dialogue } from './dialogue.ts';
import { MOODS, momentsAt } from './moments.ts';
import { problemOf, type Speaker } from './speaker.ts';

export interface Trial {
	readonly speaker: Speaker;
	readonly options: JsonObject;
}

/** There was nothing to check. */
export interface Skipped {
	readonly skipped: string;
}

/** As many calls are under way at once. */
const AT_ONCE = 16;

/** The trials by the check they make. */
export const TRIALS: { readonly [C in CheckName]?: (trial: Trial) => Promise<Problem | Skipped | null> } = {
	verdicts,
	async unknown_hook({ speaker, options }) {
		return problem('unknown_hook', await speaker.overreach(ordinary('after'), options));
	},
	questions,
	concurrency,
	cancellation,
};

async function verdicts(trial: Trial): Promise<Problem | null> {
	for (const hook of trial.speaker.about.hooks) {
		for (const [name, moment] of Object.entries(momentsAt(hook))) {
			const verdict = await verdictOf(trial, 'verdicts', hook, moment, name);
			if ('check' in verdict) return verdict;
		}
	}
	return null;
}

async function questions(trial: Trial): Promise<Problem | Skipped | null> {
	let asked = 0;
	for (const hook of trial.speaker.about.hooks) {
		for (const mood of MOODS) {
			const consult: Consult = (moment, about) => verdictOf(trial, 'questions', hook, moment, about);
			const count = await dialogue(consult, ordinary(hook), mood);
			if (typeof count !== 'number') return count;
			asked += count;
		}
	}
	return asked === 0 ? { skipped: 'it asked nothing at the standard moments' } : null;
}

async function concurrency(trial: Trial): Promise<Problem | null> {
	const { hooks } = trial.speaker.about;
	const calls = Array.from({ length: AT_ONCE }, (_, n) => {
		const hook = hooks[n % hooks.length]!;
		const moment = ordinary(hook);
		const own = { ...moment, task: { ...moment.task, id: `task-${n}` } };
		return verdictOf(trial, 'concurrency', hook, own, `call ${n + 1} of ${AT_ONCE} at once`);
	});
	const wrong = (await Promise.all(calls)).filter((one) => 'check' in one);
	const [first] = wrong;
	if (first === undefined || first.check !== 'concurrency') return first ?? null;
	return { ...first, words: `of ${AT_ONCE} calls at once ${wrong.length} got no verdict: ${first.words}` };
}

async function cancellation(trial: Trial): Promise<Problem | null> {
	const { speaker, options } = trial;
	for (const hook of speaker.about.hooks) {
		const wrong = await speaker.cancel(hook, ordinary(hook), options);
		if (wrong !== null) return wrong;
		const verdict = await verdictOf(trial, 'cancellation', hook, ordinary(hook), 'the call after a cancelled one');
		if ('check' in verdict) return verdict;
	}
	return null;
}

async function verdictOf(
	{ speaker, options }: Trial,
	check: CheckName,
	hook: Hook,
	moment: Moment,
	name: string,
): Promise<Verdict | Problem> {
	const heard = await speaker.consult(hook, moment, options);
	if (!heard.ok) return problemOf(heard, isAnswer(heard.code) ? 'verdicts' : check, at(hook, name));
	const { verdict } = heard;
	if (!ALLOWED_VERDICTS[hook].includes(verdict.kind)) {
		const allowed = ALLOWED_VERDICTS[hook].join(', ');
		return {
			check: 'verdicts',
			words: `${at(hook, name)}it said "${verdict.kind}", but ${hook} takes only ${allowed}`,
		};
	}
	const ids = verdict.kind === 'ask' ? verdict.questions.map(({ id }) => id) : [];
	const twice = ids.find((id, index) => ids.indexOf(id) !== index);
	if (twice === undefined) return verdict;
	return { check: 'verdicts', words: `${at(hook, name)}two of its questions have the id "${twice}"` };
}

/** Whether it did answer: then it is the verdict that is wrong, whatever was being tried. */
function isAnswer(code: string): boolean {
	return code === 'OVERLAY_BAD_VERDICT' || code === 'OVERLAY_BROKE_DOWN';
}

function at(hook: Hook, name: string): string {
	return `at ${hook} (${name}): `;
}

function ordinary(hook: Hook): Moment {
	return Object.values(momentsAt(hook))[0]!;
}

function problem(check: CheckName, words: string | null): Problem | null {
	return words === null ? null : { check, words };
}
