import { expect, test } from 'vitest';
import type { Verdict } from '../../engine/contract.ts';
import type { RunEvent } from '../../engine/events.ts';
import { reduceTask } from '../../engine/run/reduce.ts';
import { attemptsJudged, PENDING_TASK, recordsOf, type TaskState } from '../../engine/run/state.ts';
import {
	AT,
	answerBy,
	check,
	consultation,
	digest,
	hilItem,
	RUN_STARTED,
	stateAfter,
	taskState,
	work,
	workedState,
} from '../builders.ts';

type TaskEvent = Parameters<typeof reduceTask>[1];
const task = 'implement';
const output = { text: 'done', bytes: 4, sha256: 'o' };

function after(state: TaskState, ...events: readonly TaskEvent[]): TaskState {
	return events.reduce((current, event) => reduceTask(current, event, AT), state);
}

function started(attempt: number, by: 'agent' | 'human' | 'outside' = 'agent', tree?: string): TaskEvent {
	return { kind: 'attempt_started', task, attempt, by, agent: 'dev', ...(tree === undefined ? {} : { tree }) };
}

function finished(attempt: number, artifacts = [digest('a', '1')]): TaskEvent {
	return { kind: 'attempt_finished', task, attempt, agent: 'dev', output, artifacts, ms: 1 };
}

function said(verdict: Verdict, attempt = 1, parts: { overlay?: string; round?: number } = {}): TaskEvent {
	return { kind: 'verdict', task, attempt, hook: 'after', overlay: 'gate', round: 1, verdict, content: 'c', ...parts };
}

test('a run begins with its first event, whose hash is where every log’s chain begins', () => {
	const state = stateAfter(RUN_STARTED);
	expect(state).toMatchObject({
		run: 'run-1',
		workflow: 'demo',
		file: 'workflow.yaml',
		project: '/project',
		status: 'running',
	});
	expect(state.genesis).toMatch(/^[0-9a-f]{64}$/);
});

test('a run is paused, goes on, and is finished', () => {
	const paused: RunEvent = { kind: 'run_paused', reason: 'waiting' };
	expect(stateAfter(RUN_STARTED, paused)).toMatchObject({ status: 'paused', pausedFor: 'waiting' });
	const resumed: RunEvent = { kind: 'run_resumed', by: 'ann', version: '0' };
	expect(stateAfter(RUN_STARTED, paused, resumed)).toMatchObject({ status: 'running', pausedFor: null });
	const over: RunEvent = { kind: 'run_finished', outcome: 'failed' };
	expect(stateAfter(RUN_STARTED, over)).toMatchObject({ status: 'finished', outcome: 'failed' });
});

test('warnings are counted and change nothing else', () => {
	const state = stateAfter(RUN_STARTED, { kind: 'warning', code: 'X', message: 'x', task });
	expect(state.warnings).toBe(1);
	expect(state.tasks.size).toBe(0);
});

test('a task goes from PENDING over RUNNING to COMPLETED', () => {
	const running = after(PENDING_TASK, { kind: 'task_started', task });
	expect(running).toMatchObject({ status: 'RUNNING', startedAt: AT });
	const done = after(running, started(1), finished(1), { kind: 'task_completed', task });
	expect(done).toMatchObject({ status: 'COMPLETED', endedAt: AT, artifacts: [digest('a', '1')] });
});

test('a task that has ended keeps what later steps need and drops the rest', () => {
	const rework = said({ kind: 'rework', feedback: 'no', record: { iteration: 1 } });
	const done = after(taskState(), started(1), finished(1), rework, {
		kind: 'task_failed',
		task,
		code: 'X',
		reason: 'why',
	});
	expect(done).toMatchObject({ status: 'FAILED', reason: 'why', work: null, judging: null, feedback: null });
	expect(recordsOf(done, 'gate')).toEqual([{ iteration: 1 }]);
});

test('skipped by a condition is on purpose; skipped by an upstream failure is not', () => {
	expect(after(PENDING_TASK, { kind: 'task_skipped', task, reason: 'when' })).toMatchObject({
		status: 'SKIPPED',
		omitted: true,
	});
	const lost = after(PENDING_TASK, { kind: 'task_skipped', task, reason: 'a failed', upstream: 'a' });
	expect(lost).toMatchObject({ status: 'SKIPPED', omitted: false, reason: 'a failed' });
});

test('a cancelled task has ended', () => {
	expect(after(taskState(), { kind: 'task_cancelled', task, reason: 'fresh' })).toMatchObject({
		status: 'CANCELLED',
		endedAt: AT,
	});
});

test('the same attempt begun again after a crash of the process is counted once', () => {
	const state = after(taskState(), started(1), started(1));
	expect(state).toMatchObject({ attempt: 1, machineAttempts: 1, phase: { kind: 'working', by: 'agent' } });
});

test('a person’s attempt is an attempt, but not one that max_attempts counts', () => {
	const state = after(taskState(), started(1), finished(1), started(2, 'human'), finished(2), started(3, 'outside'));
	expect(state).toMatchObject({ attempt: 3, machineAttempts: 2 });
});

test('the tree before the first attempt is kept through all that follow', () => {
	const state = after(taskState(), started(1, 'agent', 'tree-0'), finished(1), started(2), finished(2));
	expect(state.work).toMatchObject({ baseTree: 'tree-0', tree: null });
});

test('the checks that failed are what the next attempt is told', () => {
	const checked: TaskEvent = {
		kind: 'attempt_checked',
		task,
		attempt: 1,
		checks: [check('a'), check('b', { ok: false })],
	};
	const state = after(taskState(), started(1), finished(1), checked, started(2));
	expect(state.failedChecks.map(({ name }) => name)).toEqual(['b']);
	expect(after(state, started(2)).failedChecks).toHaveLength(1);
});

test('crashes in a row are counted, and forgotten when work finishes', () => {
	const crash = (attempt: number): TaskEvent => ({
		kind: 'attempt_failed',
		task,
		attempt,
		agent: 'dev',
		code: 'X',
		reason: 'x',
		output: null,
		ms: 1,
	});
	const twice = after(taskState(), started(1), crash(1), started(2), crash(2));
	expect(twice).toMatchObject({ crashes: 2, phase: { kind: 'crashed', code: 'X', reason: 'x' } });
	expect(after(twice, started(3), finished(3)).crashes).toBe(0);
});

test('a scheduled retry is due at its time', () => {
	const state = after(taskState(), { kind: 'retry_scheduled', task, attempt: 2, due: AT });
	expect(state.phase).toEqual({ kind: 'retrying', due: AT });
});

test('rework sets the status, the feedback and who repairs it', () => {
	const fixers = [{ agent: 'fixer', feedback: 'fix it' }];
	const findings = [{ severity: 'blocker', issue: 'no salt' }];
	const state = after(workedState(), said({ kind: 'rework', feedback: 'no', findings, fixers }));
	expect(state.status).toBe('NEEDS_REWORK');
	expect(state.feedback).toEqual({ overlay: 'gate', text: 'no', attempt: 1, findings, fixers, guidance: [] });
});

test('only what people noted is guidance', () => {
	const answers = {
		agent: answerBy('reviewer', 'NO_GO', { notes: 'an agent cannot guide' }),
		person: answerBy('ann', 'rework', { item: 'hil-1', notes: 'use argon2' }),
		silent: answerBy('bob', 'rework', { item: 'hil-2', notes: '' }),
	};
	const judging = {
		hook: 'after',
		attempt: 1,
		by: { gate: consultation({ kind: 'ask', questions: [] }, { answers }) },
	} as const;
	const state = after(workedState({ judging }), said({ kind: 'rework', feedback: 'no' }, 1, { round: 2 }));
	expect(state.feedback?.guidance).toEqual([{ from: 'ann', text: 'use argon2' }]);
});

test('a pass may add to the brief and change the output', () => {
	const state = after(workedState(), said({ kind: 'pass', amend: { brief: 'mind', output: 'short' } }));
	expect(state.amendments).toEqual(['mind']);
	expect(state.work?.text).toBe('short');
});

test('an open question puts the task to wait, and the last answer wakes it', () => {
	const ask: Verdict = {
		kind: 'ask',
		questions: ['p', 'q'].map((id) => ({ id, to: 'human', brief: { prompt: '?' } })),
	};
	const open = (question: string): TaskEvent => ({
		kind: 'hil_opened',
		task,
		attempt: 1,
		hook: 'after',
		overlay: 'gate',
		question,
		item: hilItem(`hil-${question}`),
	});
	const answer = (question: string): TaskEvent => ({
		kind: 'answered',
		task,
		attempt: 1,
		hook: 'after',
		overlay: 'gate',
		question,
		answer: answerBy('ann', 'accept'),
	});
	const waiting = after(workedState(), said(ask), open('p'), open('q'));
	expect(waiting.status).toBe('HIL_PENDING');
	expect(waiting.judging?.by['gate']?.items).toEqual({ p: 'hil-p', q: 'hil-q' });
	expect(after(waiting, answer('p')).status).toBe('HIL_PENDING');
	expect(after(waiting, answer('p'), answer('q')).status).toBe('RUNNING');
});

test('an item is known by its id until it is decided, and its decision after that', () => {
	const opened: RunEvent = {
		kind: 'hil_opened',
		task,
		attempt: 1,
		hook: 'after',
		overlay: 'gate',
		question: 'q',
		item: hilItem('hil-1'),
	};
	expect(stateAfter(RUN_STARTED, opened).items.get('hil-1')).toMatchObject({
		task,
		question: 'q',
		item: { id: 'hil-1' },
		resolution: null,
	});
	const resolution = { choice: 'accept', by: 'ann', via: 'cli', notes: null, at: AT } as const;
	const state = stateAfter(RUN_STARTED, opened, { kind: 'hil_resolved', task, item: 'hil-1', resolution });
	expect(state.items.get('hil-1')).toMatchObject({ item: null, resolution });
});

test('what was said of one attempt is gone with the next, but not from the overlay’s past', () => {
	const state = after(workedState(), said({ kind: 'rework', feedback: 'no' }), started(2), finished(2));
	expect(state.judging).toBeNull();
	expect(state.past['gate']).toEqual([{ hook: 'after', attempt: 1, verdict: 'rework', text: 'no', record: null }]);
});

test('a question without a record leaves no trace in the past; one with a record does', () => {
	const ask = (record?: { iteration: number }): Verdict => ({
		kind: 'ask',
		questions: [],
		...(record === undefined ? {} : { record }),
	});
	expect(after(workedState(), said(ask())).past).toEqual({});
	expect(after(workedState(), said(ask({ iteration: 1 }))).past['gate']).toHaveLength(1);
});

test('approved content that changed makes the task open again', () => {
	const done = after(workedState({ work: work({ artifacts: [digest('a', '1')] }) }), { kind: 'task_completed', task });
	const state = after(done, { kind: 'approval_voided', task, changed: [] });
	expect(state).toMatchObject({ status: 'NEEDS_REWORK', endedAt: null, phase: { kind: 'voided' } });
});

test('iterations are attempts that an overlay has judged, not verdicts', () => {
	const twice = after(
		workedState(),
		said({ kind: 'ask', questions: [], record: { iteration: 1 } }),
		said({ kind: 'rework', feedback: 'x' }, 1, { round: 2 }),
	);
	expect(attemptsJudged(twice, 'after', 2, 'gate')).toBe(1);
	expect(attemptsJudged(twice, 'after', 1, 'gate')).toBe(0);
	expect(attemptsJudged(twice, 'before', 2, 'gate')).toBe(0);
	expect(attemptsJudged(after(twice, said({ kind: 'pass' }, 2, { overlay: 'other' })), 'after', 3)).toBe(1);
});

test('reduceTask changes nothing in the state it is given', () => {
	const state = Object.freeze(workedState());
	const copy = structuredClone(state);
	after(state, said({ kind: 'rework', feedback: 'no' }), started(2), finished(2), { kind: 'task_completed', task });
	expect(state).toEqual(copy);
});
