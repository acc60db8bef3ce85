/** What `sdd run` says at the end, and the exit code that says it to machines. */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { EXIT } from '../engine/errors.ts';
import type { Plan } from '../engine/plan/plan.ts';
import { printableReason } from '../engine/printable.ts';
import { type RunResult, tally } from '../engine/run/execute-run.ts';
import type { TaskState } from '../engine/run/state.ts';
import { logFile } from '../engine/store/layout.ts';
import { builtinOverlays } from '../overlays/index.ts';
import type { Terminal } from './terminal.ts';

/** When some tasks failed and others wait, it is 1. */
export function exitCodeOf({ ending, state }: RunResult, only: ReadonlySet<string> | null): number {
	const failed = [...state.tasks].some(([id, task]) => task.status === 'FAILED' && (only === null || only.has(id)));
	if (ending === 'interrupted') return EXIT.interrupted;
	if (failed) return EXIT.failed;
	if (ending === 'waiting') return EXIT.waiting;
	return ending === 'step' ? EXIT.paused : EXIT.done;
}

export interface Summarised {
	readonly project: string;
	readonly plan: Plan;
}

/** A few lines: what became of the tasks, where the logs are, what to do next. */
export function summaryText(terminal: Terminal, { project, plan }: Summarised, result: RunResult): string {
	const { state } = result;
	const counts = Object.entries(tally(state, plan)).map(([status, ids]) => `${ids.length} ${WORDS[status] ?? status}`);
	const lines = [
		'',
		`${plan.workflow}: ${counts.join(', ')}${whatNext(result)}`,
		...plan.tasks.flatMap((task) => taskLines(task.id, result)),
		...logsOf(plan, project).map(({ name, path }) => `${name}: ${relative(terminal.cwd, path)}`),
		`run ${result.run}, journal head ${result.head}`,
	];
	return `${lines.join('\n')}\n`;
}

/** What is said of a run even with `--quiet`: which tasks failed, and why. */
export function failuresText(plan: Plan, { state }: RunResult): string {
	const lines = plan.tasks.flatMap(({ id }) => {
		const task = state.tasks.get(id);
		return task?.status === 'FAILED' ? [`error: ${failure(id, task)}\n`] : [];
	});
	return lines.join('');
}

const WORDS: { readonly [status: string]: string } = {
	COMPLETED: 'done',
	FAILED: 'failed',
	SKIPPED: 'skipped',
	CANCELLED: 'cancelled',
	HIL_PENDING: 'waiting for a person',
	PENDING: 'not started',
	RUNNING: 'under way',
	NEEDS_REWORK: 'to be reworked',
};

const ENDINGS: { readonly [E in RunResult['ending']]: string } = {
	completed: '',
	failed: '',
	waiting: '; answer, then sdd run goes on',
	step: '; sdd run goes on',
	partial: '; sdd run does the rest',
	interrupted: '; interrupted, sdd run goes on',
};

function whatNext({ ending, state }: RunResult): string {
	const hasFault = [...state.tasks.values()].some(({ fault }) => fault !== null);
	if (!hasFault) return ENDINGS[ending];
	return ending === 'failed' ? '; mend the overlay, then sdd run goes on' : `${ENDINGS[ending]}; mend the overlay, too`;
}

function taskLines(id: string, { state }: RunResult): readonly string[] {
	const task = state.tasks.get(id);
	if (task?.status === 'FAILED') return [`  ${failure(id, task)}`];
	if (task?.status !== 'HIL_PENDING') return [];
	const items = [...state.items].filter(([, item]) => item.task === id && item.item !== null);
	return items.map(([item]) => `  ${id} waits for a person: sdd hil show ${item}`);
}

function failure(id: string, { reason }: TaskState): string {
	return `${id} failed: ${printableReason(reason ?? '')}`;
}

/** The logs that the built-in overlays of this plan, and those in processes, have left; many are not all listed. */
function logsOf(plan: Plan, project: string): readonly { readonly name: string; readonly path: string }[] {
	const logs = new Map(builtinOverlays.flatMap(({ name, log }) => (log === undefined ? [] : [[name, log] as const])));
	const paths = plan.tasks.flatMap((task) =>
		task.overlays.flatMap(({ name, log: declared }) => {
			const log = declared ?? logs.get(name);
			if (log === undefined) return [];
			return [{ name: log.name.replaceAll('_', ' '), path: logFile(project, log.folder, task.id) }];
		}),
	);
	return paths.slice(0, 10).filter(({ path }) => existsSync(path));
}
