/** Exit conditions: what a workflow wants to hold, besides a judge's yes, before work may pass. */
import type { Moment, OptionProblem } from '../../engine/contract.ts';
import { type Expression, evaluate, parseExpression, paths } from '../../engine/expression.ts';
import type { JsonObject } from '../../engine/json.ts';

/** What an overlay's conditions can ask about, and one that shows how they are written. */
export interface Conditions {
	readonly names: readonly string[];
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
function unknownName(expression: Expression, { names, checks }: Conditions): string | null {
	const unknown = paths(expression).find(([root]) => root !== undefined && !names.includes(root));
	if (unknown !== undefined)
		return `"${unknown.join('.')}" is unknown; an exit condition can ask about ${names.join(', ')}`;
	const isMissing = ([root, name]: readonly string[]): boolean =>
		root === 'checks' && name !== undefined && !checks.some((check) => check.name === name);
	const missing = paths(expression).find(isMissing)?.[1];
	if (missing === undefined) return null;
	const known = checks.length === 0 ? 'none' : checks.map(({ name }) => name).join(', ');
	return `the task has no check "${missing}", so the condition could never hold; its checks: ${known}`;
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
