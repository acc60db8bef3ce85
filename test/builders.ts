/** Builders for tests of the run core: ordinary plans, states and records, of which a test names only what it is about. */
import type { Answer, CheckResult, Verdict } from '../engine/contract.ts';
import type { Digest, HilItem, JournalRecord, RunEvent } from '../engine/events.ts';
import type { AgentPlan, OverlayPlan, Plan, TaskPlan } from '../engine/plan/plan.ts';
import { emptyState, reduce } from '../engine/run/reduce.ts';
import { type Consultation, PENDING_TASK, type RunState, type TaskState, type Work } from '../engine/run/state.ts';
import { sha256 } from '../engine/store/hash.ts';

export const AT = '2026-02-27T11:30:00.000Z';

/** A task that `dev` does, with nothing else to say. */
export function taskPlan(parts: Partial<TaskPlan> = {}): TaskPlan {
	return {
		id: 'implement',
		agent: 'dev',
		description: 'Implement the login flow',
		acceptanceCriteria: [],
		dependsOn: [],
		inputs: [],
		outputs: [],
		checks: [],
		when: null,
		timeoutMs: 60_000,
		maxAttempts: 5,
		retry: { times: 0, backoffMs: 1000, factor: 2, maxBackoffMs: 60_000 },
		stopMarkers: [],
		overlays: [],
		constitution: 0,
		tail: 0,
		...parts,
	};
}

/** An overlay that judges after each attempt. */
export function overlayPlan(name: string, parts: Partial<OverlayPlan> = {}): OverlayPlan {
	return { name, use: null, hooks: ['after'], options: {}, order: 50, timeoutMs: 5000, onError: 'fail', ...parts };
}

export function agentPlan(name: string, parts: Partial<AgentPlan> = {}): AgentPlan {
	return {
		name,
		adapter: 'scripted',
		run: null,
		model: null,
		timeoutMs: null,
		env: [],
		readOnly: false,
		persona: null,
		options: {},
		...parts,
	};
}

/** A plan of these tasks, with the agents dev, reviewer, second and fixer. */
export function planOf(tasks: readonly TaskPlan[], parts: Partial<Plan> = {}): Plan {
	const agents = ['dev', 'reviewer', 'second', 'fixer'].map((name) => agentPlan(name));
	return {
		workflow: 'demo',
		file: 'workflow.yaml',
		agents,
		tasks,
		constitutions: [{ Standards: 'Be kind.' }],
		templates: {},
		...parts,
	};
}

/** A running task before its first attempt. */
export function taskState(parts: Partial<TaskState> = {}): TaskState {
	return { ...PENDING_TASK, status: 'RUNNING', startedAt: AT, ...parts };
}

/** A task whose first attempt is finished and has yet to be judged. */
export function workedState(parts: Partial<TaskState> = {}): TaskState {
	return taskState({ attempt: 1, machineAttempts: 1, phase: { kind: 'worked' }, work: work(), ...parts });
}

const UNWATCHED = { baseWatched: null, watched: null };

export function work(parts: Partial<Work> = {}): Work {
	return {
		agent: 'dev',
		text: 'I wrote it.',
		artifacts: [],
		checks: null,
		baseTree: null,
		tree: null,
		...UNWATCHED,
		...parts,
	};
}

/** What an overlay said, and how its questions were answered. */
export function consultation(verdict: Verdict, parts: Partial<Consultation> = {}): Consultation {
	return { rounds: 1, verdict, isFault: false, answers: {}, items: {}, ...parts };
}

export function check(name: string, parts: Partial<CheckResult> = {}): CheckResult {
	return { name, kind: 'tests', required: true, ok: true, exit: 0, output: '', ms: 1, ...parts };
}

export function digest(path: string, content: string): Digest {
	return { path, sha256: sha256(content), bytes: Buffer.byteLength(content) };
}

export function answerBy(by: string, value: string, parts: Partial<Answer> = {}): Answer {
	return { by, value, at: AT, ...parts };
}

export function hilItem(id: string, parts: Partial<HilItem> = {}): HilItem {
	return {
		id,
		run_id: 'run-1',
		workflow: 'demo',
		task_id: 'implement',
		overlay: 'gate',
		trigger: 'overlay',
		status: 'PENDING',
		question: 'May it pass?',
		choices: ['accept', 'reject'],
		context: {},
		created_at: AT,
		resolution: null,
		...parts,
	};
}

/** An event as the journal would hold it, continuing from the record before it. */
export function record(event: RunEvent, before?: JournalRecord, at: string = AT): JournalRecord {
	const seq = (before?.seq ?? 0) + 1;
	const prev = before?.hash ?? '0'.repeat(64);
	return { ...event, seq, prev, at, hash: sha256(JSON.stringify([event, seq, prev, at])) };
}

/** The records of a journal that holds these events. */
export function recordsFrom(events: readonly RunEvent[]): readonly JournalRecord[] {
	const records: JournalRecord[] = [];
	for (const event of events) records.push(record(event, records.at(-1)));
	return records;
}

/** The state that these events come to. */
export function stateAfter(...events: readonly RunEvent[]): RunState {
	return recordsFrom(events).reduce(reduce, emptyState());
}

/** How every run begins. */
export const RUN_STARTED: RunEvent = {
	kind: 'run_started',
	run: 'run-1',
	workflow: 'demo',
	file: 'workflow.yaml',
	project: '/project',
	plan: 'p',
	by: 'ann',
	version: '0.0.0',
};
