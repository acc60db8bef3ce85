/**
 * The ready queue: starts every task as soon as what it depends on is done, up to `maxParallel` at once.
 *
 * There are no levels. A task that waits for a person, or for the time of its next try, holds no slot.
 */
import type { TaskPlan } from '../plan/plan.ts';
import { recheckApprovals } from './approvals.ts';
import { driveTask, type Left } from './drive.ts';
import { type ReadyQueue, readyQueue } from './ready-queue.ts';
import { type Session, taskState } from './session.ts';
import { isEnded } from './state.ts';

export interface ScheduleOptions {
	readonly maxParallel: number;
	/** Only these tasks (and what they depend on); null for all. */
	readonly only: ReadonlySet<string> | null;
	/** Whether to stay and look for people's answers when nothing else is left to do. */
	readonly wait: boolean;
	/** Asked before each task but the first is started; false stops there. Null when nobody wants to be asked. */
	readonly step: ((task: string) => Promise<boolean>) | null;
}

/** Why scheduling ended. */
export type Ending = 'all_ended' | 'partial' | 'waiting' | 'step' | 'stopped';

/** Runs everything that can run. Rejects with the first fault; by then nothing is under way any more. */
export function schedule(session: Session, options: ScheduleOptions): Promise<Ending> {
	return new Promise((resolve, reject) => {
		const crew = assemble(session, options, { resolve, reject });
		for (const task of crew.tasks.values()) enter(crew, task);
		session.signal.addEventListener('abort', () => pump(crew), { once: true });
		crew.watch = setInterval(() => lookForAnswers(crew), ANSWER_POLL_MS);
		pump(crew);
	});
}

/** How often the queue of people's answers is looked at while tasks wait for one. */
const ANSWER_POLL_MS = 500;

interface Crew {
	readonly session: Session;
	readonly options: ScheduleOptions;
	readonly tasks: ReadonlyMap<string, TaskPlan>;
	readonly dependents: ReadonlyMap<string, readonly TaskPlan[]>;
	/** Dependencies not yet done, by task. */
	readonly missing: Map<string, number>;
	readonly ready: ReadyQueue;
	readonly running: Set<string>;
	readonly waiting: Set<string>;
	readonly sleeping: Map<string, NodeJS.Timeout>;
	readonly promise: { resolve(ending: Ending): void; reject(fault: unknown): void };
	watch: NodeJS.Timeout | null;
	started: number;
	asking: boolean;
	held: boolean;
	over: boolean;
	fault: { readonly error: unknown } | null;
}

function assemble(session: Session, options: ScheduleOptions, promise: Crew['promise']): Crew {
	const wanted = session.plan.tasks.filter((task) => options.only === null || options.only.has(task.id));
	const position = new Map(session.plan.tasks.map((task, index) => [task.id, index]));
	return {
		session,
		options,
		tasks: new Map(wanted.map((task) => [task.id, task])),
		dependents: dependentsOf(wanted),
		missing: new Map(),
		ready: readyQueue(position),
		running: new Set(),
		waiting: new Set(),
		sleeping: new Map(),
		promise,
		watch: null,
		started: 0,
		asking: false,
		held: false,
		over: false,
		fault: null,
	};
}

function dependentsOf(tasks: readonly TaskPlan[]): ReadonlyMap<string, readonly TaskPlan[]> {
	const dependents = new Map<string, TaskPlan[]>();
	for (const task of tasks) {
		for (const id of task.dependsOn) {
			const list = dependents.get(id);
			if (list === undefined) dependents.set(id, [task]);
			else list.push(task);
		}
	}
	return dependents;
}

/** Places a task by what the journal says of it; tasks come in planned order, so skips reach those further down. */
function enter(crew: Crew, task: TaskPlan): void {
	const { status } = taskState(crew.session, task.id);
	if (isEnded(status)) return;
	const open = task.dependsOn.filter((id) => !isDone(crew, id));
	const broken = open.find((id) => isLost(crew, id));
	if (broken !== undefined && status === 'PENDING') return skip(crew, task, broken);
	if (open.length === 0 || status !== 'PENDING') crew.ready.add(task);
	else crew.missing.set(task.id, open.length);
}

/** Done, or left out on purpose: what depends on it may go on. */
function isDone(crew: Crew, id: string): boolean {
	const state = taskState(crew.session, id);
	return state.status === 'COMPLETED' || (state.status === 'SKIPPED' && state.omitted);
}

function isLost(crew: Crew, id: string): boolean {
	return isEnded(taskState(crew.session, id).status) && !isDone(crew, id);
}

function skip(crew: Crew, task: TaskPlan, upstream: string): void {
	const { status } = taskState(crew.session, upstream);
	const reason = `"${upstream}", which it depends on, ${status === 'FAILED' ? 'failed' : 'did not run'}`;
	crew.session.record({ kind: 'task_skipped', task: task.id, reason, upstream });
}

/** Goes on with whatever can go on. It is called from timers too, so a fault must not fly out of it. */
function pump(crew: Crew): void {
	if (crew.over) return;
	try {
		advance(crew);
	} catch (error) {
		fail(crew, error);
	}
}

function advance(crew: Crew): void {
	const stopped = crew.session.signal.aborted || crew.fault !== null || crew.held;
	while (!stopped && !crew.asking && crew.running.size < slots(crew) && crew.ready.size > 0) startNext(crew);
	if (crew.running.size > 0 || crew.asking) return;
	if (stopped) return end(crew, crew.held && !crew.session.signal.aborted ? 'step' : 'stopped');
	if (crew.sleeping.size > 0) return;
	if (crew.waiting.size > 0) return crew.options.wait ? undefined : end(crew, 'waiting');
	const changed = recheckApprovals(crew.session, crew.tasks);
	for (const task of changed) crew.ready.add(task);
	if (changed.length > 0) return pump(crew);
	end(crew, crew.tasks.size < crew.session.plan.tasks.length && !allEnded(crew) ? 'partial' : 'all_ended');
}

function slots(crew: Crew): number {
	return crew.options.step === null ? crew.options.maxParallel : 1;
}

function startNext(crew: Crew): void {
	const task = crew.ready.next();
	if (task === undefined) return;
	const { step } = crew.options;
	crew.started++;
	if (step === null || crew.started === 1) return start(crew, task);
	crew.asking = true;
	// What happened so far is said before the question is put.
	crew.session
		.durable()
		.then(() => step(task.id))
		.then((yes) => {
			crew.asking = false;
			if (yes) start(crew, task);
			else crew.held = true;
			pump(crew);
		})
		.catch((error: unknown) => fail(crew, error));
}

function start(crew: Crew, task: TaskPlan): void {
	crew.running.add(task.id);
	driveTask(crew.session, task)
		.then((left) => {
			crew.running.delete(task.id);
			settle(crew, task, left);
			pump(crew);
		})
		.catch((error: unknown) => {
			crew.running.delete(task.id);
			fail(crew, error);
		});
}

function fail(crew: Crew, error: unknown): void {
	crew.asking = false;
	crew.fault ??= { error };
	crew.session.stop();
	pump(crew);
}

function settle(crew: Crew, task: TaskPlan, left: Left): void {
	if (left.kind === 'ended') return release(crew, task.id);
	if (left.kind === 'waiting') crew.waiting.add(task.id);
	if (left.kind === 'sleeping') {
		const ms = Math.min(Math.max(0, left.due - crew.session.world.now().getTime()), LONGEST_TIMER_MS);
		crew.sleeping.set(
			task.id,
			setTimeout(() => awaken(crew, task), ms),
		);
	}
}

/** What `setTimeout` can hold; a longer wait is simply entered again. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function awaken(crew: Crew, task: TaskPlan): void {
	crew.sleeping.delete(task.id);
	crew.ready.add(task);
	pump(crew);
}

/** A task has ended: its dependents come nearer, or are skipped, and so on down the graph. */
function release(crew: Crew, ended: string): void {
	const queue = [ended];
	for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
		const lost = isLost(crew, id);
		for (const task of crew.dependents.get(id) ?? []) {
			const left = crew.missing.get(task.id);
			if (left === undefined) continue;
			if (lost) {
				crew.missing.delete(task.id);
				skip(crew, task, id);
				queue.push(task.id);
			} else if (left > 1) crew.missing.set(task.id, left - 1);
			else {
				crew.missing.delete(task.id);
				crew.ready.add(task);
			}
		}
	}
}

function lookForAnswers(crew: Crew): void {
	try {
		for (const id of crew.waiting) {
			const task = crew.tasks.get(id);
			if (task === undefined || !hasAnswer(crew, id)) continue;
			crew.waiting.delete(id);
			crew.ready.add(task);
		}
	} catch (error) {
		return fail(crew, error);
	}
	pump(crew);
}

function hasAnswer(crew: Crew, task: string): boolean {
	const { items } = crew.session.state();
	for (const open of items.values()) {
		if (open.task === task && open.item !== null && crew.session.world.people.resolution(open.item) !== null)
			return true;
	}
	return false;
}

function allEnded(crew: Crew): boolean {
	return crew.session.plan.tasks.every((task) => isEnded(taskState(crew.session, task.id).status));
}

function end(crew: Crew, ending: Ending): void {
	crew.over = true;
	if (crew.watch !== null) clearInterval(crew.watch);
	for (const timer of crew.sleeping.values()) clearTimeout(timer);
	if (crew.fault !== null) crew.promise.reject(crew.fault.error);
	else crew.promise.resolve(ending);
}
