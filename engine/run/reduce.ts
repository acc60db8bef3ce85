/** `reduce(state, event)`: the only place where a run's state changes. Pure for a task; the run keeps a map of tasks. */
import { type Answer, type Past, verdictText } from '../contract.ts';
import type { JournalRecord, RunEvent } from '../events.ts';
import {
	type Consultation,
	type Feedback,
	type Judging,
	PENDING_TASK,
	type RunState,
	type TaskState,
	unanswered,
	type Work,
} from './state.ts';

type EventOf<K extends RunEvent['kind']> = Extract<RunEvent, { kind: K }>;

/** The state before the first event. */
export function emptyState(): RunState {
	return {
		run: '',
		workflow: '',
		file: '',
		project: '',
		plan: '',
		startedAt: '',
		status: 'running',
		outcome: null,
		pausedFor: null,
		genesis: '',
		tasks: new Map(),
		items: new Map(),
		warnings: 0,
	};
}

/** The state after one more record. The maps are carried over and updated in place: copying them would make a run quadratic. */
export function reduce(state: RunState, record: JournalRecord): RunState {
	switch (record.kind) {
		case 'run_started':
			return started(state, record);
		case 'run_resumed':
			return { ...state, status: 'running', pausedFor: null };
		case 'run_paused':
			return { ...state, status: 'paused', pausedFor: record.reason };
		case 'run_finished':
			return { ...state, status: 'finished', outcome: record.outcome };
		case 'warning':
			return { ...state, warnings: state.warnings + 1 };
		default: {
			noteItem(state, record);
			const task = state.tasks.get(record.task) ?? PENDING_TASK;
			state.tasks.set(record.task, reduceTask(task, record, record.at));
			return state;
		}
	}
}

function started(
	state: RunState,
	record: EventOf<'run_started'> & { readonly at: string; readonly hash: string },
): RunState {
	const { run, workflow, file, project, plan } = record;
	return { ...state, run, workflow, file, project, plan, startedAt: record.at, genesis: record.hash };
}

type TaskEvent = Exclude<RunEvent, { kind: 'run_started' | 'run_resumed' | 'run_paused' | 'run_finished' | 'warning' }>;

function noteItem(state: RunState, event: TaskEvent): void {
	if (event.kind === 'hil_opened') {
		const { task, hook, attempt, overlay, question } = event;
		state.items.set(event.item.id, { task, hook, attempt, overlay, question, item: event.item, resolution: null });
	}
	if (event.kind === 'hil_resolved') {
		const item = state.items.get(event.item);
		if (item !== undefined) state.items.set(event.item, { ...item, item: null, resolution: event.resolution });
	}
}

/** One task's state after one more event. Pure. */
export function reduceTask(task: TaskState, event: TaskEvent, at: string): TaskState {
	switch (event.kind) {
		case 'task_started':
			return { ...task, status: 'RUNNING', startedAt: at };
		case 'task_skipped':
			return { ...task, status: 'SKIPPED', endedAt: at, reason: event.reason, omitted: event.upstream === undefined };
		case 'task_completed':
			return completed(task, at);
		case 'task_failed':
			return failed(task, event, at);
		case 'task_reopened':
			return reopened(task);
		case 'task_cancelled':
			return ended({ ...task, status: 'CANCELLED', endedAt: at, reason: event.reason });
		case 'attempt_started':
			return attemptStarted(task, event);
		case 'attempt_finished':
			return { ...task, crashes: 0, phase: { kind: 'worked' }, work: workOf(task, event), judging: null };
		case 'attempt_failed':
			return attemptFailed(task, event);
		case 'attempt_checked':
			return task.work === null ? task : { ...task, work: { ...task.work, checks: event.checks } };
		case 'retry_scheduled':
			return { ...task, phase: { kind: 'retrying', due: event.due } };
		case 'verdict':
			return judged(task, event);
		case 'answered':
			return answered(task, event.overlay, event.question, event.answer);
		case 'hil_opened':
			return opened(task, event);
		case 'hil_resolved':
			return task;
		case 'approval_voided':
			return { ...task, status: 'NEEDS_REWORK', endedAt: null, phase: { kind: 'voided' } };
	}
}

/** What an overlay's breakdown has ended may be gone on with: then all that is known of it is needed. */
function failed(task: TaskState, { reason, fault }: EventOf<'task_failed'>, at: string): TaskState {
	const end = { ...task, status: 'FAILED', endedAt: at, reason, fault: fault ?? null } as const;
	return fault === undefined ? ended(end) : end;
}

/** What was skipped is to be done; what was not judged is asked about again, and only of the overlay that broke down. */
function reopened(task: TaskState): TaskState {
	const again = { ...task, endedAt: null, reason: null, fault: null };
	if (task.fault === null || task.judging === null) return { ...again, status: 'PENDING' };
	const { [task.fault]: broken, ...others } = task.judging.by;
	const by = broken === undefined || broken.rounds === 1 ? others : { ...others, [task.fault]: asBefore(broken) };
	// Should the files have changed meanwhile, judging them takes another attempt: not one of those that machines are held to.
	const machineAttempts = Math.max(0, task.machineAttempts - 1);
	return { ...again, status: 'RUNNING', machineAttempts, judging: { ...task.judging, by } };
}

/** The consultation before the one that broke down: it had asked, and has its answers. */
function asBefore({ rounds, answers, items }: Consultation): Consultation {
	return { rounds: rounds - 1, verdict: { kind: 'ask', questions: [] }, isFault: false, answers, items };
}

/** A finished task keeps what later steps can need and drops the rest: ten thousand of them must stay small. */
function ended(task: TaskState): TaskState {
	const { amendments, failedChecks } = PENDING_TASK;
	return { ...task, work: null, judging: null, feedback: null, amendments, failedChecks };
}

function completed(task: TaskState, at: string): TaskState {
	const artifacts = task.work?.artifacts ?? task.artifacts;
	return ended({ ...task, status: 'COMPLETED', endedAt: at, artifacts });
}

function attemptStarted(task: TaskState, event: EventOf<'attempt_started'>): TaskState {
	const baseTree = task.work?.baseTree ?? event.tree ?? null;
	const baseWatched = task.work?.baseWatched ?? event.watched ?? null;
	const again = event.attempt === task.attempt;
	return {
		...task,
		status: 'RUNNING',
		attempt: event.attempt,
		machineAttempts: task.machineAttempts + (event.by === 'human' || again ? 0 : 1),
		phase: { kind: 'working', by: event.by },
		failedChecks: again ? task.failedChecks : failedBefore(task),
		work: baseTree === null && baseWatched === null ? null : { ...NO_WORK, baseTree, baseWatched },
		judging: null,
	};
}

/** A crashed attempt was never checked: what failed before it still holds. */
function failedBefore({ work, failedChecks }: TaskState): TaskState['failedChecks'] {
	return work?.checks == null ? failedChecks : work.checks.filter((check) => !check.ok);
}

const NO_WORK: Work = {
	agent: null,
	text: '',
	artifacts: [],
	checks: null,
	baseTree: null,
	tree: null,
	baseWatched: null,
	watched: null,
};

function workOf(task: TaskState, event: EventOf<'attempt_finished'>): Work {
	return {
		agent: event.agent,
		text: event.output.text,
		artifacts: event.artifacts,
		checks: null,
		baseTree: task.work?.baseTree ?? null,
		tree: event.tree ?? null,
		baseWatched: task.work?.baseWatched ?? null,
		watched: event.watched ?? null,
	};
}

function attemptFailed(task: TaskState, event: EventOf<'attempt_failed'>): TaskState {
	const { code, reason } = event;
	return { ...task, crashes: task.crashes + 1, phase: { kind: 'crashed', code, reason }, judging: null };
}

function judged(task: TaskState, event: EventOf<'verdict'>): TaskState {
	const { verdict, overlay } = event;
	const judging = sameJudgement(task.judging, event)
		? task.judging
		: { hook: event.hook, attempt: event.attempt, by: {} };
	const before = judging.by[overlay];
	const consultation: Consultation = {
		rounds: event.round,
		verdict,
		isFault: event.fault === true,
		answers: before?.answers ?? {},
		items: before?.items ?? {},
	};
	const next: TaskState = { ...task, judging: { ...judging, by: { ...judging.by, [overlay]: consultation } } };
	return applyVerdict(remember(next, event), event);
}

function sameJudgement(judging: Judging | null, event: EventOf<'verdict'>): judging is Judging {
	return judging !== null && judging.hook === event.hook && judging.attempt === event.attempt;
}

/** Every judgement, and every question that carries a record, becomes part of the overlay's past. */
function remember(task: TaskState, event: EventOf<'verdict'>): TaskState {
	const { verdict, overlay } = event;
	const record = verdict.record ?? null;
	if (event.fault === true || (verdict.kind === 'ask' && record === null)) return task;
	const entry: Past = {
		hook: event.hook,
		attempt: event.attempt,
		verdict: verdict.kind,
		text: verdictText(verdict),
		record,
	};
	return { ...task, past: { ...task.past, [overlay]: [...(task.past[overlay] ?? []), entry] } };
}

function applyVerdict(task: TaskState, event: EventOf<'verdict'>): TaskState {
	const { verdict, overlay } = event;
	if (verdict.kind === 'rework') {
		const { attempt } = event;
		const guidance = guidanceIn(task.judging?.by[overlay]);
		const { feedback: text, findings = [], fixers = [] } = verdict;
		const feedback = { overlay, text, attempt, findings, fixers, guidance };
		return { ...task, status: 'NEEDS_REWORK', feedback };
	}
	if (verdict.kind !== 'pass' || verdict.amend === undefined) return task;
	const { brief, output } = verdict.amend;
	const amendments = brief === undefined ? task.amendments : [...task.amendments, brief];
	const work = output === undefined || task.work === null ? task.work : { ...task.work, text: output };
	return { ...task, amendments, work };
}

function guidanceIn(consultation: Consultation | undefined): Feedback['guidance'] {
	return Object.values(consultation?.answers ?? {}).flatMap(({ by, item, notes }) =>
		item === undefined || notes === undefined || notes === '' ? [] : [{ from: by, text: notes }],
	);
}

function answered(task: TaskState, overlay: string, question: string, answer: Answer): TaskState {
	const next = withConsultation(task, overlay, (c) => ({ ...c, answers: { ...c.answers, [question]: answer } }));
	const waiting = next.judging?.by[overlay];
	const settled = waiting !== undefined && unanswered(waiting).length === 0;
	return next.status === 'HIL_PENDING' && settled ? { ...next, status: 'RUNNING' } : next;
}

function opened(task: TaskState, event: EventOf<'hil_opened'>): TaskState {
	const waiting: TaskState = { ...task, status: 'HIL_PENDING' };
	return withConsultation(waiting, event.overlay, (c) => ({
		...c,
		items: { ...c.items, [event.question]: event.item.id },
	}));
}

function withConsultation(task: TaskState, overlay: string, change: (c: Consultation) => Consultation): TaskState {
	const consultation = task.judging?.by[overlay];
	if (task.judging === null || consultation === undefined) return task;
	return { ...task, judging: { ...task.judging, by: { ...task.judging.by, [overlay]: change(consultation) } } };
}
