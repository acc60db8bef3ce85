/** Exit conditions: what a workflow wants to hold, besides a judge's yes, before work may pass. */
import type { Moment, OptionProblem } from '../../engine/contract.ts';
import { evaluate, parseExpression, paths } from '../../engine/expression.ts';
import { failedRequired } from '../../engine/failed-checks.ts';
import type { JsonObject } from '../../engine/json.ts';
import { didYouMean } from '../../engine/suggest.ts';

/** What an overlay's conditions can ask about besides checks and the task, and one that shows how they are written. */
export interface Conditions {
	/** Whole paths, such as `review.decision`. */
	readonly paths: readonly string[];
	readonly example: string;
	/** The checks that the task has. */
	readonly checks: readonly { readonly name: string }[];
}

/** What is wrong with the option `exit_conditions`, found when the workflow is loaded. */
export function conditionProblems(texts: readonly string[], about: Conditions): readonly OptionProblem[] {
	return texts.flatMap((text, index) => {
		const fault = faultIn(text, about);
		if (fault === null) return [];
		const { remedy = `write it like \`${about.example}\`` } = fault;
		return [{ path: ['exit_conditions', String(index)], message: fault.message, remedy }];
	});
}

interface Fault {
	readonly message: string;
	readonly remedy?: string;
}

function faultIn(text: string, about: Conditions): Fault | null {
	const parsed = parseExpression(text);
	if (!parsed.ok) return { message: `bad expression: ${parsed.message}` };
	const faults = paths(parsed.expression).map((path) => unknownPath(path, about));
	return faults.find((fault) => fault !== null) ?? null;
}

/** A condition about what is never there would never hold; behind a `not` it would always hold, and guard nothing. */
function unknownPath(path: readonly string[], about: Conditions): Fault | null {
	const [root, name] = path;
	const { checks } = about;
	if (root === 'checks' && name !== undefined && !checks.some((check) => check.name === name)) {
		const known = checks.length === 0 ? 'none' : checks.map((check) => check.name).join(', ');
		return { message: `the task has no check "${name}", so the condition could never hold; its checks: ${known}` };
	}
	const asked = path.join('.');
	const known = [...about.paths, 'task.attempt', ...checks.flatMap((check) => membersOf(check.name))];
	if (known.includes(asked)) return null;
	const meant = didYouMean(asked, known);
	const all = [...about.paths, 'task.attempt', ...membersOf('<name>')].join(', ');
	const message = `"${asked}" is unknown; an exit condition can ask about ${all}`;
	return { message, ...(meant === undefined ? {} : { remedy: `did you mean "${meant}"?` }) };
}

function membersOf(check: string): readonly string[] {
	return [`checks.${check}.ok`, `checks.${check}.exit`];
}

/** What stands against a yes: required checks that failed, and conditions that do not hold. */
export function standingAgainst(moment: Moment, texts: readonly string[], own: JsonObject): readonly string[] {
	const scope = {
		...own,
		checks: Object.fromEntries(moment.checks.map((check) => [check.name, { ok: check.ok, exit: check.exit }])),
		task: { attempt: moment.attempt },
	};
	return [
		...failedRequired(moment.checks).map((name) => `the required check "${name}" failed`),
		...texts.filter((text) => !holds(text, scope)).map((text) => `the exit condition "${text}" does not hold`),
	];
}

function holds(text: string, scope: JsonObject): boolean {
	const parsed = parseExpression(text);
	return parsed.ok && evaluate(parsed.expression, scope);
}
