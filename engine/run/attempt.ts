/** One attempt at a task: by its agent, by fixers, by a person who took over, or by whoever changed the files. */
import type { AgentOutcome } from '../agent.ts';
import { OUTPUT_CAP } from '../brief/cap.ts';
import type { OutputRecord, RunEvent, Worker } from '../events.ts';
import type { AgentPlan, TaskPlan } from '../plan/plan.ts';
import { agentNamed, isJudged, needSpace, type Session, taskState, watchedBy } from './session.ts';
import { attemptsJudged, type Feedback } from './state.ts';

/** Makes the attempt and records what came of it. Returns false when the run was stopped meanwhile. */
export async function makeAttempt(session: Session, task: TaskPlan, attempt: number, by: Worker): Promise<boolean> {
	const feedback = taskState(session, task.id).feedback;
	const workers = by === 'agent' ? workersOf(session, task, feedback) : [];
	begin(session, task, attempt, by, workers);
	await session.durable();
	if (by !== 'agent') {
		session.record(finished(session, task, attempt, { agent: null, output: NO_OUTPUT, ms: 0 }));
		return true;
	}
	needSpace(session);
	return await work(session, task, attempt, workers);
}

/** Characters of a coder's output that the journal keeps; the whole of it lies in the run's folder. */
const KEPT_OUTPUT = OUTPUT_CAP + 10_000;

const NO_OUTPUT: OutputRecord = {
	text: '',
	bytes: 0,
	sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
};

function begin(session: Session, task: TaskPlan, attempt: number, by: Worker, workers: readonly WorkerPlan[]): void {
	const state = taskState(session, task.id);
	const tree = isJudged(task) && state.work?.baseTree == null ? session.world.workspace.tree() : null;
	const watched = state.work?.baseWatched == null ? watchedNow(session, task) : {};
	const agent = by === 'agent' ? workers.map((worker) => worker.agent.name).join(', ') : null;
	const event = { kind: 'attempt_started', task: task.id, attempt, by, agent, ...watched } as const;
	session.record({ ...event, ...(tree === null ? {} : { tree }) });
}

/** What the task's overlays watch, as it is now; kept by its content, as a brief is. */
function watchedNow({ world }: Session, task: TaskPlan): { readonly watched?: string } {
	const places = watchedBy(task);
	return places.length === 0 ? {} : { watched: world.keepPrompt(world.workspace.listing(places)) };
}

/** Somebody who works on the attempt, and what they are told besides the task. */
interface WorkerPlan {
	readonly agent: AgentPlan;
	readonly role: string;
	readonly key: string;
	readonly feedback: Feedback | null;
	readonly files?: readonly string[];
}

function workersOf(session: Session, task: TaskPlan, feedback: Feedback | null): readonly WorkerPlan[] {
	const fixers = feedback?.fixers ?? [];
	if (feedback === null || fixers.length === 0) {
		return [{ agent: planned(session, task.agent), role: 'coder', key: '', feedback }];
	}
	return fixers.map((fixer, index) => ({
		agent: planned(session, fixer.agent),
		role: 'fixer',
		key: `/fixer/${index + 1}`,
		// What fixers are told is made for each of them.
		feedback: { ...feedback, text: fixer.feedback, findings: [] },
		...(fixer.files === undefined ? {} : { files: fixer.files }),
	}));
}

function planned(session: Session, name: string): AgentPlan {
	const agent = agentNamed(session, name);
	if (agent === undefined) throw new Error(`the plan has no agent "${name}"`);
	return agent;
}

async function work(
	session: Session,
	task: TaskPlan,
	attempt: number,
	workers: readonly WorkerPlan[],
): Promise<boolean> {
	let last: AttemptEnd | null = null;
	for (const worker of workers) {
		const told = await tell(session, task, attempt, worker);
		if (session.signal.aborted) return false;
		last = told;
		if (told.kind === 'attempt_failed') break;
	}
	if (last !== null) session.record(last);
	return true;
}

type AttemptEnd = Extract<RunEvent, { kind: 'attempt_finished' | 'attempt_failed' }>;

async function tell(session: Session, task: TaskPlan, attempt: number, worker: WorkerPlan): Promise<AttemptEnd> {
	const { agent, role, feedback, files } = worker;
	const state = taskState(session, task.id);
	const { world } = session;
	const prompt = world.redact(
		world.briefFor(task, {
			attempt,
			amendments: state.amendments,
			feedback,
			failedChecks: feedback === null ? [] : state.failedChecks,
			agent,
			...(files === undefined ? {} : { files }),
		}),
	);
	// What judged work was made from is part of its audit.
	const brief = isJudged(task) ? world.keepPrompt(prompt) : null;
	const outcome = await world.startAgent({
		key: `${task.id}#${attempt}${worker.key}`,
		agent,
		task: task.id,
		attempt,
		iteration: 1 + attemptsJudged(state, 'after', attempt),
		role,
		prompt,
		timeoutMs: Math.min(agent.timeoutMs ?? task.timeoutMs, task.timeoutMs),
		signal: session.signal,
		keep: KEPT_OUTPUT,
	});
	return { ...eventFor(session, task, attempt, agent, outcome), ...(brief === null ? {} : { brief }) };
}

function eventFor(
	session: Session,
	task: TaskPlan,
	attempt: number,
	agent: AgentPlan,
	outcome: AgentOutcome,
): AttemptEnd {
	if (!outcome.ok) return failed(task, attempt, agent.name, outcome);
	const { output, ms } = outcome;
	const marker = stopMarker(session, task, output);
	if (marker !== null) {
		const reason = `the agent "${agent.name}" stopped with "${marker}"`;
		return failed(task, attempt, agent.name, { code: 'TASK_STOPPED', reason, output, ms });
	}
	return finished(session, task, attempt, { agent: agent.name, output, ms });
}

/** A stop marker counts only as a line of its own: a coder may well write about it. */
function stopMarker(session: Session, task: TaskPlan, output: OutputRecord): string | null {
	if (task.stopMarkers.length === 0) return null;
	const lines = new Set(output.text.split(/\r?\n/).map((line) => line.trim()));
	const seen = task.stopMarkers.find((marker) => lines.has(marker)) ?? null;
	// Only what was cut off can hold a marker that the kept text does not.
	if (seen !== null || output.file === undefined || output.bytes <= KEPT_OUTPUT) return seen;
	return session.world.workspace.outputHolds(output.file, task.stopMarkers);
}

/** An attempt that leaves out a declared output, or writes it outside the project, has broken its contract. */
function finished(
	session: Session,
	task: TaskPlan,
	attempt: number,
	work: { readonly agent: string | null; readonly output: OutputRecord; readonly ms: number },
): AttemptEnd {
	const { artifacts, missing, refused } = session.world.workspace.inspect(task.outputs);
	const [code, reason] =
		refused.length > 0
			? (['OUTPUT_REFUSED', `outputs that cannot be taken: ${refused.join('; ')}`] as const)
			: (['OUTPUT_MISSING', `declared outputs that are not there: ${missing.join(', ')}`] as const);
	if (refused.length > 0 || missing.length > 0) return failed(task, attempt, work.agent, { code, reason, ...work });
	const state = { ...treeOf(session, task), ...watchedNow(session, task) };
	return { kind: 'attempt_finished', task: task.id, attempt, ...work, artifacts, ...state };
}

function treeOf(session: Session, task: TaskPlan): { readonly tree?: string } {
	if (!isJudged(task)) return {};
	const tree = session.world.workspace.tree();
	return tree === null ? {} : { tree };
}

function failed(
	task: TaskPlan,
	attempt: number,
	agent: string | null,
	why: { readonly code: string; readonly reason: string; readonly output: OutputRecord | null; readonly ms: number },
): AttemptEnd {
	const { code, reason, output, ms } = why;
	return { kind: 'attempt_failed', task: task.id, attempt, agent, code, reason, output, ms };
}
