/** Exit conditions: what a workflow wants to hold, besides a judge's yes, before work may pass. */
import type { Moment, OptionProblem } from '../../engine/contract.ts';
import { type Expression, evaluate, type Path, parseExpression, paths } from '../../engine/expression.ts';
import type { JsonObject } from '../../engine/json.ts';

/** What an overlay's conditions can ask about, and one that shows how they are written. */
export interface Conditions {
	/** What there is of the overlay's own. */
	readonly facts: { readonly [name: string]: readonly string[] };
	readonly example: string;
	/** The checks that the task has. */
	readonly checks: readonly { readonly name: string }[];
}

/** What is wrong with the option `exit_conditions`, found when the workflow is loaded. */
export function conditionProblems(texts: readonly string[], about: Conditions): readonly OptionProblem[] {
	return texts.flatMap((text, index) => {
		const parsed = parseExpression(text);
		const fault = parsed.ok ? unknownName(parsed.expression, about) : `bad expression: ${parsed.message}`;
		if (fault === null) return [];
		return [{ path: ['exit_conditions', String(index)], message: fault, remedy: `write it like \`${about.example}\`` }];
	});
}

/** A condition about something that is never there would never hold, and no work would ever pass. */
function unknownName(expression: Expression, about: Conditions): string | null {
	for (const path of paths(expression)) {
		const fault = path[0] === 'checks' ? faultOfCheck(path, about) : faultOfFact(path, about);
		if (fault !== null) return fault;
	}
	return null;
}

function faultOfFact(path: Path, { facts }: Conditions): string | null {
	const [root = '', name = ''] = path;
	const known: Conditions['facts'] = { ...facts, checks: CHECK_FACTS, task: ['attempt'] };
	if (!Object.hasOwn(known, root))
		return `"${path.join('.')}" is unknown; an exit condition can ask about ${Object.keys(known).join(', ')}`;
	if (known[root]?.includes(name)) return null;
	return `"${path.join('.')}" is unknown; there is ${known[root]?.map((one) => `${root}.${one}`).join(', ')}`;
}

const CHECK_FACTS = ['ok', 'exit'];

function faultOfCheck(path: Path, { checks }: Conditions): string | null {
	const [, name, fact = ''] = path;
	if (name !== undefined && !checks.some((check) => check.name === name)) {
		const known = checks.length === 0 ? 'none' : checks.map((check) => check.name).join(', ');
		return `the task has no check "${name}", so the condition could never hold; its checks: ${known}`;
	}
	if (name !== undefined && CHECK_FACTS.includes(fact)) return null;
	const facts = CHECK_FACTS.map((one) => `checks.${name ?? '<name>'}.${one}`).join(', ');
	return `"${path.join('.')}" is unknown; there is ${facts}`;
}

/** What stands against a yes: required checks that failed, and conditions that do not hold. */
export function standingAgainst(moment: Moment, texts: readonly string[], own: JsonObject): readonly string[] {
	const failed = moment.checks.filter((check) => check.required && !check.ok);
	const scope = {
		...own,
		checks: Object.fromEntries(moment.checks.map((check) => [check.name, { ok: check.ok, exit: check.exit }])),
		task: { attempt: moment.attempt },
	};
	return [
		...failed.map((check) => `the required check "${check.name}" failed`),
		...texts.filter((text) => !holds(text, scope)).map((text) => `the exit condition "${text}" does not hold`),
	];
}

function holds(text: string, scope: JsonObject): boolean {
	const parsed = parseExpression(text);
	return parsed.ok && evaluate(parsed.expression, scope);
}
