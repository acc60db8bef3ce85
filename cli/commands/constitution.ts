/** `sdd constitution`: what agents and reviewers are held to, and where it comes from. */
import { constitutionFor } from '../../constitution/find.ts';
import { constitutionJson, renderConstitution } from '../../constitution/render.ts';
import { EXIT, SddError } from '../../engine/errors.ts';
import { newestRunFile } from '../../engine/run/find-run.ts';
import { didYouMean } from '../../engine/suggest.ts';
import type { Arguments } from '../arguments.ts';
import { asJson, type Terminal } from '../terminal.ts';
import { userSettings } from '../user-settings.ts';
import { prepareWorkflow, refuse } from '../wiring.ts';

export async function constitution(terminal: Terminal, args: Arguments): Promise<number> {
	const task = args.value('task');
	const paths = task === null ? [] : await pathsOf(terminal, args, task);
	if (paths === null) return EXIT.usage;
	const found = constitutionFor({ project: terminal.project(), home: userSettings(terminal), paths });
	if (!found.ok) return refuse(terminal, args, found.diagnostics);
	const section = args.value('section');
	const shown = section === null ? {} : { section };
	terminal.out(args.has('json') ? asJson(constitutionJson(found, shown)) : `${renderConstitution(found, shown)}\n`);
	return EXIT.done;
}

/** The files of a task; null when its workflow is wrong (and said so). */
async function pathsOf(terminal: Terminal, args: Arguments, task: string): Promise<readonly string[] | null> {
	const file = args.value('workflow') ?? newestRunFile(terminal.project());
	if (file === null) {
		throw new SddError(
			'CLI_USAGE',
			'sdd constitution: --task needs a workflow, and there is no run yet',
			'add --workflow <file>',
		);
	}
	const prepared = await prepareWorkflow(terminal, file);
	if (!prepared.ok) {
		refuse(terminal, args, prepared.diagnostics);
		return null;
	}
	const planned = prepared.plan.tasks.find(({ id }) => id === task);
	if (planned === undefined)
		throw unknownTask(
			task,
			prepared.plan.tasks.map(({ id }) => id),
			file,
		);
	return [...planned.inputs, ...planned.outputs];
}

/** No such task in a workflow or run. */
export function unknownTask(task: string, known: readonly string[], where: string): SddError {
	const meant = didYouMean(task, known);
	const remedy = meant === undefined ? `it has: ${known.slice(0, 20).join(', ')}` : `did you mean "${meant}"?`;
	return new SddError('TASK_UNKNOWN', `${where} has no task ${JSON.stringify(task.slice(0, 80))}`, remedy);
}
