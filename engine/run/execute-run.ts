/** Carries a run through in this process: open, work, and leave it finished or ready to be gone on with. */
import type { Plan } from '../plan/plan.ts';
import { appendHead, assertHeadsSound, assertTailThere } from '../store/heads.ts';
import type { RunLock } from '../store/run-lock.ts';
import { beginRun, createRunFolder, type OpenOptions, type OpenRun, openRun, resumeRun } from './open-run.ts';
import { type Ending, type ScheduleOptions, schedule } from './schedule.ts';
import { isEnded, PENDING_TASK, type RunState } from './state.ts';
import { takeLock } from './take-lock.ts';

export interface ExecuteOptions extends OpenOptions, ScheduleOptions {
	/** The text of the plan for a new run; null to go on with the run that is there. */
	readonly planText: string | null;
	/** The processes that overlays run in: begun beside the first agents, ended with the run; then told what they did wrong unheard. */
	readonly hosts: { warmUp(): void; close(): Promise<readonly string[]> };
	/** Called once nobody else can begin or end a run; throws where what this run was chosen by no longer holds. */
	readonly recheck?: () => void;
	/** Ends what agents of this run left behind. */
	readonly endOrphans: () => Promise<unknown>;
}

/** How this process left the run. */
export interface RunResult {
	readonly run: string;
	readonly ending: 'completed' | 'failed' | 'waiting' | 'step' | 'partial' | 'interrupted';
	readonly state: RunState;
	/** The journal's last hash: keep it to prove later that nothing was cut off. */
	readonly head: string;
}

/** Runs until nothing more can be done here. Rejects only with a fault; the run can be gone on with even then. */
export async function executeRun(options: ExecuteOptions): Promise<RunResult> {
	const watch = { onLost: (): void => {} };
	const lock = await takeLock(options.project, { run: options.run, onLost: () => watch.onLost() });
	try {
		options.recheck?.();
		assertHeadsSound(options.project);
		if (options.planText === null) assertTailThere(options.project, options.run);
		const digest = options.planText === null ? null : createRunFolder(options.project, options.run, options.planText);
		const open = openRun(options);
		watch.onLost = () => lookForSuccessor(open);
		return await worked(options, open, digest);
	} finally {
		await release(lock);
	}
}

/**
 * A sleeping machine or a jump of the clock can take the polite lock away. That alone is no reason to stop; that another
 * process has taken over the run is, and the journal finds out by writing to it.
 */
function lookForSuccessor({ session }: OpenRun): void {
	session.record({
		kind: 'warning',
		code: 'RUN_LOCK_LOST',
		message: 'the lock of this run was lost; going on, as no other run has begun',
	});
	session.durable().catch(() => session.stop());
}

/** A lock that slipped away cannot be given back, and need not be. */
async function release(lock: RunLock): Promise<void> {
	await lock.release().catch(() => {});
}

async function worked(options: ExecuteOptions, open: OpenRun, digest: string | null): Promise<RunResult> {
	const { session, writer, views } = open;
	try {
		if (digest !== null) {
			const { maxParallel, only } = options;
			beginRun(open, options, { plan: digest, maxParallel, only: only === null ? null : [...only] });
		} else {
			await options.endOrphans();
			resumeRun(open, options);
		}
		await session.durable();
		views.heal();
		options.hosts.warmUp();
		const ending = await schedule(session, options);
		return await leave(options, open, ending);
	} catch (error) {
		await options.hosts.close();
		await options.endOrphans();
		throw error;
	} finally {
		await writer.close().catch(() => {});
	}
}

async function leave(options: ExecuteOptions, open: OpenRun, ending: Ending): Promise<RunResult> {
	const { session, writer, views } = open;
	const unheard = await options.hosts.close();
	for (const message of unheard) session.record({ kind: 'warning', code: 'OVERLAY_PROTOCOL', message });
	await options.endOrphans();
	if (ending === 'all_ended' && hasFault(session.state())) session.record({ kind: 'run_paused', reason: 'fault' });
	else if (ending === 'all_ended') session.record({ kind: 'run_finished', outcome: outcomeOf(session.state()) });
	else session.record({ kind: 'run_paused', reason: ending === 'stopped' ? 'interrupted' : ending });
	await session.durable();
	const unwritten = [...views.heal().map(({ message }) => message), ...(await reports(options, open))];
	for (const message of unwritten) session.record({ kind: 'warning', code: 'VIEW_NOT_WRITTEN', message });
	await session.durable();
	await writer.close();
	const { seq, hash, at } = writer.head();
	const state = session.state();
	appendHead(options.project, {
		run: options.run,
		seq,
		head: hash,
		at,
		state: state.status === 'finished' ? 'finished' : 'paused',
	});
	return { run: options.run, ending: resultOf(ending, state), state, head: hash };
}

async function reports(options: ExecuteOptions, { session, views }: OpenRun): Promise<readonly string[]> {
	const judged = views.judged();
	if (judged.size === 0) return [];
	const { writeReports } = await import('./task-report.ts');
	return writeReports(options.project, options.plan, session.state(), judged);
}

/** Work that no overlay has judged is not over, though nothing more can be done about it here. */
function hasFault(state: RunState): boolean {
	return [...state.tasks.values()].some((task) => task.fault !== null);
}

function outcomeOf(state: RunState): 'completed' | 'failed' {
	return [...state.tasks.values()].some((task) => task.status === 'FAILED') ? 'failed' : 'completed';
}

function resultOf(ending: Ending, state: RunState): RunResult['ending'] {
	if (ending === 'all_ended') return outcomeOf(state);
	return ending === 'stopped' ? 'interrupted' : ending;
}

/** Ends a run that nobody will go on with: what has not ended is cancelled. */
export async function cancelRun(options: OpenOptions, why: string): Promise<void> {
	assertHeadsSound(options.project);
	assertTailThere(options.project, options.run);
	const { session, writer, views } = openRun(options);
	const open = options.plan.tasks.filter(
		(task) => !isEnded((session.state().tasks.get(task.id) ?? PENDING_TASK).status),
	);
	for (const task of open) session.record({ kind: 'task_cancelled', task: task.id, reason: why });
	session.record({ kind: 'run_finished', outcome: 'cancelled' });
	await session.durable();
	views.heal();
	await writer.close();
	const { seq, hash, at } = writer.head();
	appendHead(options.project, { run: options.run, seq, head: hash, at, state: 'finished' });
}

/** What the tasks of a plan have come to. */
export function tally(state: RunState, plan: Plan): { readonly [status: string]: readonly string[] } {
	const found: { [status: string]: string[] } = {};
	for (const task of plan.tasks) {
		const { status } = state.tasks.get(task.id) ?? PENDING_TASK;
		const list = found[status];
		if (list === undefined) found[status] = [task.id];
		else list.push(task.id);
	}
	return found;
}
