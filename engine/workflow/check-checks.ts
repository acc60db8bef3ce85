/** Checks the checks: expressions and reports know them by name. */
import { quote } from '../diagnostic.ts';
import { errorAt, type Pointer, type Problem, type Source } from './source.ts';
import { defaultsOf, type Workflow } from './workflow.ts';
import type { CheckEntry } from './workflow-file.ts';

/** Notes every check that has the name of another one of the same list. */
export function checkChecks(workflow: Workflow, problems: Problem[]): void {
	for (const { source, settings } of defaultsOf(workflow)) note(source, ['defaults'], settings.checks, problems);
	for (const [id, { checks }] of Object.entries(workflow.file.tasks))
		note(workflow.source, ['tasks', id], checks, problems);
}

function note(source: Source, at: Pointer, checks: readonly CheckEntry[] | undefined, problems: Problem[]): void {
	if (checks === undefined || checks.length < 2) return;
	const names = new Set<string>();
	for (const [index, { name }] of checks.entries()) {
		if (names.has(name)) {
			const message = `two checks have the name ${quote(name)}`;
			const remedy = 'give each its own: expressions and verdicts know a check by its name';
			const place = { source, pointer: [...at, 'checks', index, 'name'], on: 'value' } as const;
			problems.push(errorAt(place, { code: 'CHECK_DUPLICATE', message, remedy }));
		}
		names.add(name);
	}
}
