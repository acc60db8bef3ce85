/** `sdd runs`: the runs of this project. */
import { EXIT, SddError } from '../../engine/errors.ts';
import { foldRun } from '../../engine/run/read-run.ts';
import type { RunState } from '../../engine/run/state.ts';
import { listRuns } from '../../engine/store/state-folder.ts';
import type { Arguments } from '../arguments.ts';
import { asJson, type Terminal, table } from '../terminal.ts';

const SHOWN = 20;

export function runs(terminal: Terminal, args: Arguments): number {
	const project = terminal.project();
	const all = [...listRuns(project)].reverse();
	const shown = args.has('all') ? all : all.slice(0, SHOWN);
	const rows = shown.map((run) => rowOf(project, run));
	if (args.has('json')) terminal.out(asJson({ runs: rows }));
	else if (rows.length === 0) terminal.out('there is no run yet: start one with sdd run <workflow.yaml>\n');
	else {
		const head = ['run', 'workflow', 'status', 'completed', 'failed', 'tasks seen'];
		const body = rows.map((row) => [
			row.run,
			row.workflow,
			row.status,
			String(row.completed),
			String(row.failed),
			String(row.tasks),
		]);
		terminal.out(table([head, ...body]));
		if (all.length > shown.length) terminal.out(`and ${all.length - shown.length} older: sdd runs --all\n`);
	}
	return EXIT.done;
}

function rowOf(project: string, run: string) {
	try {
		const state = foldRun(project, run);
		const statuses = [...state.tasks.values()].map((task) => task.status);
		const count = (wanted: string): number => statuses.filter((word) => word === wanted).length;
		const { workflow, file, startedAt } = state;
		const status = statusOf(state);
		return {
			run,
			workflow,
			file,
			started_at: startedAt,
			status,
			completed: count('COMPLETED'),
			failed: count('FAILED'),
			tasks: statuses.length,
		};
	} catch (error) {
		if (!(error instanceof SddError)) throw error;
		// One damaged run must not hide the others.
		return {
			run,
			workflow: '',
			file: '',
			started_at: '',
			status: `damaged: ${error.code}`,
			completed: 0,
			failed: 0,
			tasks: 0,
		};
	}
}

function statusOf(state: RunState): string {
	if (state.run === '') return 'never began';
	return state.status === 'paused' ? `paused (${state.pausedFor})` : (state.outcome ?? 'unfinished');
}
