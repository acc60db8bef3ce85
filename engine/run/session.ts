/** One process at work on a run: the plan, the world, the state so far, and the way to add to it. */
import { SddError } from '../errors.ts';
import type { RunEvent } from '../events.ts';
import type { AgentPlan, Plan, TaskPlan } from '../plan/plan.ts';
import { PENDING_TASK, type RunState, type TaskState } from './state.ts';
import type { World } from './world.ts';

export interface Session {
	readonly plan: Plan;
	readonly world: World;
	/** Aborted when the run must stop: whatever is under way is ended and begun again on resume. */
	readonly signal: AbortSignal;
	/** Stops the run. */
	stop(): void;
	/** The state as of the last recorded event. */
	state(): RunState;
	/** Takes events into the journal's queue and into the state, at once; nothing may act on them before `durable()`. */
	record(...events: readonly RunEvent[]): void;
	/** Resolves when everything recorded so far is on the disk. */
	durable(): Promise<void>;
}

/** The state of one task. */
export function taskState(session: Session, task: string): TaskState {
	return session.state().tasks.get(task) ?? PENDING_TASK;
}

/** The plan of an agent; the plan has been validated, so it is there. */
export function agentNamed(session: Session, name: string): AgentPlan | undefined {
	return session.plan.agents.find((agent) => agent.name === name);
}

/** Stops the run, to be gone on with later, where there is no room for what an agent may write. */
export function needSpace(session: Session): void {
	const low = session.world.spaceProblem();
	if (low !== null) throw new SddError('DISK_LOW', low, 'make room, then `sdd run` goes on');
}

/** What the task's overlays watch. */
export function watchedBy(task: TaskPlan): readonly string[] {
	return task.overlays.flatMap(({ watches }) => watches ?? []);
}

/** Whether anything will judge this task's finished work: only then does its content have to be held still. */
export function isJudged(task: TaskPlan): boolean {
	return task.overlays.some((overlay) => overlay.hooks.includes('after'));
}
