/** Plans the constitutions: which one holds for which task. */
import { constitutionFinder } from '../../constitution/find.ts';
import type { Diagnostic } from '../diagnostic.ts';
import type { Findings } from '../workflow/source.ts';
import type { ValidWorkflow } from '../workflow/validate.ts';
import type { Plan } from './plan.ts';

/** Where constitutions are looked for, and where it is told what is wrong with them. */
export interface ConstitutionSearch {
	readonly project: string;
	readonly home: string | null;
	readonly show: (path: string) => string;
	readonly findings: Findings;
}

/** The distinct constitutions of a workflow, and which of them holds for a task. */
export interface PlannedConstitutions {
	readonly constitutions: Plan['constitutions'];
	readonly constitutionOf: (task: string) => number;
}

/** Tasks for which the same files hold share one constitution. */
export function planConstitutions(valid: ValidWorkflow, search: ConstitutionSearch): PlannedConstitutions {
	const find = constitutionFinder({ project: search.project, home: search.home, nameOf: search.show });
	const constitutions: { readonly [section: string]: string }[] = [];
	const indexes = new Map<object, number>();
	const ofTask = new Map<string, number>();
	const diagnostics = new Set<Diagnostic>();
	for (const { id, entry } of valid.tasks) {
		const found = find([...(entry.inputs ?? []), ...(entry.outputs ?? [])].filter(isName));
		if (!found.ok) {
			for (const diagnostic of found.diagnostics) diagnostics.add(diagnostic);
			continue;
		}
		const index = indexes.get(found) ?? constitutions.push(found.sections) - 1;
		indexes.set(found, index);
		if (index > 0) ofTask.set(id, index);
	}
	search.findings.diagnostics.push(...diagnostics);
	return { constitutions, constitutionOf: (task) => ofTask.get(task) ?? 0 };
}

/** What no file can be called has been told already. */
function isName(path: string): boolean {
	return !path.includes('\0');
}
