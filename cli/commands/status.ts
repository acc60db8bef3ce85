/** `sdd status`: where the tasks of a run stand. */
import { EXIT } from '../../engine/errors.ts';
import { printableLine } from '../../engine/printable.ts';
import { runNamed } from '../../engine/run/find-run.ts';
import { type ReadRun, readRun } from '../../engine/run/read-run.ts';
import { PENDING_TASK } from '../../engine/run/state.ts';
import { stateDocument } from '../../engine/run/state-view.ts';
import { processAtWork } from '../../engine/store/holder.ts';
import type { Arguments } from '../arguments.ts';
import { asJson, type Terminal, table } from '../terminal.ts';

export function status(terminal: Terminal, args: Arguments): number {
	const project = terminal.project();
	const read = readRun(project, runNamed(project, args.positionals[0] ?? null));
	if (args.has('json')) terminal.out(asJson(stateDocument(read.state, read.plan)));
	else terminal.out(`${headline(read, processAtWork(project, read.run))}\n\n${table(rows(read))}${waiting(read)}`);
	return EXIT.done;
}

function headline({ run, state }: ReadRun, holder: number | null): string {
	const alive = holder === null ? 'unfinished: its process is gone, sdd run goes on' : `running (process ${holder})`;
	const word = state.status === 'paused' ? `paused (${state.pausedFor})` : (state.outcome ?? alive);
	return `${state.workflow}, run ${run}: ${word}`;
}

function rows({ plan, state }: ReadRun): readonly (readonly string[])[] {
	const head = ['task', 'status', 'attempts', 'ended', 'why'];
	const body = plan.tasks.map((task) => {
		const { status: word, attempt, endedAt, reason } = state.tasks.get(task.id) ?? PENDING_TASK;
		return [
			task.id,
			word,
			String(attempt),
			endedAt?.slice(0, 19) ?? '',
			reason === null ? '' : printableLine(reason, 100),
		];
	});
	return [head, ...body];
}

function waiting({ state }: ReadRun): string {
	const open = [...state.items].filter(([, item]) => item.resolution === null && state.status !== 'finished');
	return open.map(([id, item]) => `\n${item.task} waits for a person: sdd hil show ${id}\n`).join('');
}
