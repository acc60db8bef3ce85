/** Holds verdicts to the content they were about. */
import type { Digest } from '../events.ts';
import type { TaskPlan } from '../plan/plan.ts';
import { sha256 } from '../store/hash.ts';
import { changes } from './content.ts';
import { isJudged, type Session, taskState, watchedBy } from './session.ts';
import { changesIn } from './watched.ts';

/** Compares a task's files with those that were judged, and records the change where there is one. */
export function voidIfChanged(session: Session, task: TaskPlan, was: readonly Digest[]): boolean {
	if (!isJudged(task) || task.outputs.length === 0) return false;
	const changed = changes(was, session.world.workspace.inspect(task.outputs).artifacts);
	if (changed.length === 0) return false;
	session.record({ kind: 'approval_voided', task: task.id, changed });
	return true;
}

/** The same for what the task's overlays watch, up to the end of the task: what others do there later is their affair. */
export function voidIfTouched(session: Session, task: TaskPlan, was: string | null): boolean {
	const places = watchedBy(task);
	if (was === null || places.length === 0) return false;
	const now = session.world.workspace.listing(places);
	if (sha256(now) === was) return false;
	session.record({ kind: 'approval_voided', task: task.id, changed: changesIn(session.world.readPrompt(was), now) });
	return true;
}

/**
 * Before a run is over, what was approved must still be what lies there, or what a later task made of it. Returns the
 * tasks of which that is no longer true: they are to be judged again.
 */
export function recheckApprovals(session: Session, tasks: ReadonlyMap<string, TaskPlan>): readonly TaskPlan[] {
	const judged = [...tasks.values()].filter(
		(task) => isJudged(task) && task.outputs.length > 0 && taskState(session, task.id).status === 'COMPLETED',
	);
	if (judged.length === 0) return [];
	const lastWriters = writersByOutput(session, tasks);
	return judged.filter((task) => {
		const { artifacts, endedAt } = taskState(session, task.id);
		const isOwn = (path: string): boolean => (lastWriter(lastWriters, path) ?? '') <= (endedAt ?? '');
		const own = { ...task, outputs: task.outputs.filter(isOwn) };
		return voidIfChanged(
			session,
			own,
			artifacts.filter(({ path }) => isOwn(path)),
		);
	});
}

/** When each declared output was last completed by a task: that task answers for it. */
function writersByOutput(session: Session, tasks: ReadonlyMap<string, TaskPlan>): ReadonlyMap<string, string> {
	const writers = new Map<string, string>();
	for (const task of tasks.values()) {
		const { status, endedAt } = taskState(session, task.id);
		if (status !== 'COMPLETED' || endedAt === null) continue;
		for (const output of task.outputs) {
			const path = output.replace(/\/+$/, '');
			if ((writers.get(path) ?? '') < endedAt) writers.set(path, endedAt);
		}
	}
	return writers;
}

/** The latest time at which a task completed this path or a folder above it. */
function lastWriter(writers: ReadonlyMap<string, string>, path: string): string | undefined {
	let latest: string | undefined;
	for (let at = path.replace(/\/+$/, ''); at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
		const time = writers.get(at);
		if (time !== undefined && (latest === undefined || time > latest)) latest = time;
	}
	return latest;
}
