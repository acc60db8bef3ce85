/** Gives problems their line and column. Loaded only when there is something to tell. */
import { type Diagnostic, quote } from '../diagnostic.ts';
import { locator } from './locate.ts';
import type { Findings, Problem, Source } from './source.ts';

/** More than anybody reads; and each costs a walk through the file. */
const MOST = 200;

/** For so many it is guessed what was meant: in a file of thousands of tasks each guess looks at all of them. */
const GUESSED = 40;

/** Everything found, located, in the order of the files; past 200 only the number of the rest is told. */
export function toDiagnostics(findings: Findings): readonly Diagnostic[] {
	const locators = new Map<Source, ReturnType<typeof locator>>();
	const errorsFirst = distinct(findings.problems).sort((a, b) => a.severity.localeCompare(b.severity));
	const located = errorsFirst
		.slice(0, MOST)
		.map((problem, index) => locate(index < GUESSED ? problem : { ...problem, guess: undefined }, locators));
	const isLast = ({ code }: Diagnostic) => code === 'WORKFLOW_MORE_PROBLEMS';
	const all = [...findings.diagnostics.filter((one) => !isLast(one)), ...located].sort(byPlace);
	const untold = errorsFirst.slice(MOST);
	const last = findings.diagnostics.filter(isLast);
	return untold.length > 0 ? [...all, ...last, theRest(untold)] : [...all, ...last];
}

/** A mistake in the defaults is found once for every task that has them; it is told once, with the tasks. */
function distinct(problems: readonly Problem[]): Problem[] {
	const known = new Map<string, { readonly problem: Problem; readonly tasks: string[] }>();
	for (const problem of problems) {
		const { source, pointer, offset = 0 } = problem.place;
		const key = JSON.stringify([source.file, pointer, offset, problem.code, problem.message]);
		const same = known.get(key) ?? { problem, tasks: [] };
		known.set(key, same);
		if (problem.task !== undefined) same.tasks.push(problem.task);
	}
	return [...known.values()].map(({ problem, tasks }) => ({ ...problem, message: problem.message + onTasks(tasks) }));
}

/** As many tasks are named. */
const NAMED = 3;

function onTasks(tasks: readonly string[]): string {
	if (tasks.length === 0) return '';
	const named = tasks.slice(0, NAMED).map((task) => quote(task));
	const more = tasks.length > NAMED ? ` and ${tasks.length - NAMED} more` : '';
	return ` (on task${tasks.length === 1 ? '' : 's'} ${named.join(', ')}${more})`;
}

function locate(problem: Problem, locators: Map<Source, ReturnType<typeof locator>>): Diagnostic {
	const { place, code, severity, message } = problem;
	const meant = problem.guess?.();
	const remedy = meant === undefined ? problem.remedy : `did you mean "${meant}"?`;
	let find = locators.get(place.source);
	if (find === undefined) {
		find = locator(place.source.text);
		locators.set(place.source, find);
	}
	return { code, severity, message, file: place.source.file, remedy, ...find(place.pointer, place.on, place.offset) };
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
	if (a.file !== b.file) return a.file < b.file ? -1 : 1;
	return a.line - b.line || a.column - b.column;
}

function theRest(untold: readonly Problem[]): Diagnostic {
	const first = untold[0]!;
	return {
		code: 'WORKFLOW_MORE_PROBLEMS',
		severity: first.severity,
		message: `and ${untold.length} more`,
		file: first.place.source.file,
		line: 0,
		column: 0,
		remedy: 'fix these first, then validate again',
	};
}
