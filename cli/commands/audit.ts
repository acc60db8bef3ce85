/** `sdd audit list` and `sdd audit show`: who judged what, when, on which content. */
import { EXIT, SddError } from '../../engine/errors.ts';
import type { JsonObject } from '../../engine/json.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { runNamed } from '../../engine/run/find-run.ts';
import { endOf, logDocument } from '../../engine/run/log-view.ts';
import { readRun } from '../../engine/run/read-run.ts';
import { PENDING_TASK, type RunState, recordsOf } from '../../engine/run/state.ts';
import { listRuns } from '../../engine/store/state-folder.ts';
import type { Arguments } from '../arguments.ts';
import { definitionsFor } from '../hosts.ts';
import { logText } from '../log-text.ts';
import { asJson, type Terminal, table } from '../terminal.ts';
import { unknownTask } from './constitution.ts';

export async function auditList(terminal: Terminal, args: Arguments): Promise<number> {
	const project = terminal.project();
	const rows: Row[] = [];
	for (const run of listRuns(project)) {
		try {
			const { plan, state } = readRun(project, run);
			rows.push(...judgedTasks(plan, state, run));
		} catch (error) {
			if (!(error instanceof SddError)) throw error;
			terminal.err(`run ${run}: ${error.message} [${error.code}]\n`);
		}
	}
	if (args.has('json')) terminal.out(asJson({ judged: rows }));
	else if (rows.length === 0) terminal.out('nothing was judged yet\n');
	else {
		const body = rows.map((row) => [row.run, row.task, row.overlay, row.status, String(row.records), row.last]);
		terminal.out(table([['run', 'task', 'overlay', 'status', 'records', 'last'], ...body]));
	}
	return EXIT.done;
}

interface Row {
	readonly run: string;
	readonly task: string;
	readonly overlay: string;
	readonly status: string;
	readonly records: number;
	readonly last: string;
}

function judgedTasks(plan: Plan, state: RunState, run: string): readonly Row[] {
	return plan.tasks.flatMap(({ id, overlays }) => {
		const task = state.tasks.get(id) ?? PENDING_TASK;
		return overlays.flatMap(({ name }) => {
			const past = task.past[name] ?? [];
			const last = past.at(-1);
			if (last === undefined) return [];
			const word = last.record?.['decision'] ?? last.record?.['choice'] ?? last.verdict;
			return [{ run, task: id, overlay: name, status: task.status, records: past.length, last: String(word) }];
		});
	});
}

export async function auditShow(terminal: Terminal, args: Arguments): Promise<number> {
	const project = terminal.project();
	const id = args.positionals[0] ?? '';
	const { run, plan, state } = readRun(project, runNamed(project, args.value('run')));
	const planned = plan.tasks.find((task) => task.id === id);
	if (planned === undefined)
		throw unknownTask(
			id,
			plan.tasks.map((task) => task.id),
			`run ${run}`,
		);
	const task = state.tasks.get(id) ?? PENDING_TASK;
	const definitionOf = await definitionsFor(terminal, project, plan);
	const logs = planned.overlays.flatMap((overlay): JsonObject[] => {
		const records = recordsOf(task, overlay.name);
		const log = definitionOf(overlay)?.log ?? PLAIN_LOG;
		return records.length === 0 ? [] : [logDocument(log, overlay.name, records, { task: id, run, ended: endOf(task) })];
	});
	if (args.has('json')) terminal.out(asJson({ run, task: id, status: task.status, logs }));
	else terminal.out(showText(run, id, task.status, logs));
	return EXIT.done;
}

/** For overlays that record, but keep no document of their own. */
const PLAIN_LOG = { folder: 'overlay-logs', name: 'log', closing: () => ({}) };

function showText(run: string, task: string, status: string, logs: readonly JsonObject[]): string {
	const head = `${task}, run ${run}: ${status}\n`;
	if (logs.length === 0) return `${head}\nno overlay recorded anything about it\n`;
	return `${head}${logs.map((log) => `\n${logText(log)}`).join('')}`;
}
