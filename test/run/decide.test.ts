import { expect, test } from 'vitest';
import type { Verdict } from '../../engine/contract.ts';
import type { CheckPlan } from '../../engine/plan/plan.ts';
import { decide, retryDelay } from '../../engine/run/decide.ts';
import type { Judging, TaskState } from '../../engine/run/state.ts';
import { answerBy, check, consultation, overlayPlan, taskPlan, taskState, work, workedState } from '../builders.ts';

const gate = overlayPlan('gate');
const tests: CheckPlan = { name: 'tests', run: 'npm test', required: true, kind: 'tests', timeoutMs: 1000 };

function said(verdict: Verdict, attempt = 1): Judging {
	return { hook: 'after', attempt, by: { gate: consultation(verdict) } };
}

function crashed(code: string, parts: Partial<TaskState> = {}): TaskState {
	const phase = { kind: 'crashed', code, reason: 'it broke' } as const;
	return taskState({ attempt: 1, machineAttempts: 1, crashes: 1, phase, ...parts });
}

test('a task that has not started is started', () => {
	expect(decide(taskPlan(), taskState({ status: 'PENDING' }))).toEqual({ do: 'start' });
});

test.each(['COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'] as const)(
	'nothing more is done about a task that is %s',
	(status) => {
		expect(decide(taskPlan(), taskState({ status }))).toEqual({ do: 'nothing' });
	},
);

test('without overlays the agent works at once, and the work completes the task', () => {
	expect(decide(taskPlan(), taskState())).toEqual({ do: 'work', attempt: 1, by: 'agent' });
	expect(decide(taskPlan(), workedState())).toEqual({ do: 'complete' });
});

test('an attempt that was under way when the process died is begun again, by the same worker', () => {
	const state = taskState({ attempt: 3, phase: { kind: 'working', by: 'human' } });
	expect(decide(taskPlan(), state)).toEqual({ do: 'work', attempt: 3, by: 'human' });
});

test('overlays with the hook before are consulted before the first attempt', () => {
	const overlay = overlayPlan('gate', { hooks: ['before'] });
	const step = decide(taskPlan({ overlays: [overlay] }), taskState());
	expect(step).toEqual({ do: 'consult', hook: 'before', overlay, round: 1 });
});

test('checks run once per attempt, before anybody judges it', () => {
	const task = taskPlan({ checks: [tests], overlays: [gate] });
	expect(decide(task, workedState())).toEqual({ do: 'check' });
	const checked = workedState({ work: work({ checks: [check('tests')] }) });
	expect(decide(task, checked)).toMatchObject({ do: 'consult', hook: 'after' });
});

test('a required check that failed stands against completion', () => {
	const state = workedState({ work: work({ checks: [check('lint'), check('tests', { ok: false })] }) });
	expect(decide(taskPlan({ checks: [tests] }), state)).toEqual({
		do: 'fail',
		code: 'CHECK_FAILED',
		reason: 'required checks failed: tests',
	});
});

test('a check that is not required stands against nothing', () => {
	const state = workedState({ work: work({ checks: [check('tests', { ok: false, required: false })] }) });
	expect(decide(taskPlan({ checks: [tests] }), state)).toEqual({ do: 'complete' });
});

test('an overlay cannot overrule a required check', () => {
	const state = workedState({
		work: work({ checks: [check('tests', { ok: false })] }),
		judging: said({ kind: 'pass' }),
	});
	expect(decide(taskPlan({ checks: [tests], overlays: [gate] }), state)).toMatchObject({ code: 'CHECK_FAILED' });
});

test('a person who was asked may overrule a required check', () => {
	const answers = { decide: answerBy('ann', 'accept', { item: 'hil-1' }) };
	const judging: Judging = { hook: 'after', attempt: 1, by: { gate: consultation({ kind: 'pass' }, { answers }) } };
	const state = workedState({ work: work({ checks: [check('tests', { ok: false })] }), judging });
	expect(decide(taskPlan({ checks: [tests], overlays: [gate] }), state)).toEqual({ do: 'complete' });
});

test.each(['reject', 'rework', 'MIT'])('a person who answers %j has not overruled a required check', (choice) => {
	const answers = { q: answerBy('ann', choice, { item: 'hil-1' }) };
	const judging: Judging = { hook: 'after', attempt: 1, by: { gate: consultation({ kind: 'pass' }, { answers }) } };
	const state = workedState({ work: work({ checks: [check('tests', { ok: false })] }), judging });
	expect(decide(taskPlan({ checks: [tests], overlays: [gate] }), state)).toMatchObject({ code: 'CHECK_FAILED' });
});

test('an agent that was asked cannot overrule a required check', () => {
	const answers = { review: answerBy('reviewer', 'fine') };
	const judging: Judging = { hook: 'after', attempt: 1, by: { gate: consultation({ kind: 'pass' }, { answers }) } };
	const state = workedState({ work: work({ checks: [check('tests', { ok: false })] }), judging });
	expect(decide(taskPlan({ checks: [tests], overlays: [gate] }), state)).toMatchObject({ code: 'CHECK_FAILED' });
});

test('rework leads to the next attempt, by the agent unless a person takes it', () => {
	const task = taskPlan({ overlays: [gate] });
	const byAgent = workedState({ judging: said({ kind: 'rework', feedback: 'no' }) });
	expect(decide(task, byAgent)).toEqual({ do: 'work', attempt: 2, by: 'agent' });
	const byPerson = workedState({ judging: said({ kind: 'rework', feedback: 'mine', by: 'human' }) });
	expect(decide(task, byPerson)).toEqual({ do: 'work', attempt: 2, by: 'human' });
});

test('rework beyond max_attempts fails the task and says what the last feedback was', () => {
	const feedback = { overlay: 'gate', text: 'still wrong', attempt: 2, findings: [], fixers: [], guidance: [] };
	const judging = said({ kind: 'rework', feedback: 'still wrong' }, 2);
	const state = workedState({ attempt: 2, machineAttempts: 2, feedback, judging });
	expect(decide(taskPlan({ maxAttempts: 2, overlays: [gate] }), state)).toEqual({
		do: 'fail',
		code: 'TASK_ATTEMPTS_USED_UP',
		reason: 'all 2 attempts are used up; the last feedback was: still wrong',
	});
});

test("a person's own work is not counted against max_attempts", () => {
	const judging = said({ kind: 'rework', feedback: 'mine', by: 'human' });
	const state = workedState({ machineAttempts: 1, judging });
	expect(decide(taskPlan({ maxAttempts: 1, overlays: [gate] }), state)).toMatchObject({ do: 'work', by: 'human' });
});

test('a verdict of fail fails the task with the overlay’s code, or a general one', () => {
	const task = taskPlan({ overlays: [gate] });
	expect(decide(task, workedState({ judging: said({ kind: 'fail', reason: 'forbidden' }) }))).toEqual({
		do: 'fail',
		code: 'OVERLAY_FAILED_TASK',
		reason: 'gate: forbidden',
	});
	const coded = workedState({ judging: said({ kind: 'fail', reason: 'no', code: 'HIL_REJECTED' }) });
	expect(decide(task, coded)).toMatchObject({ code: 'HIL_REJECTED' });
});

test('content that changed after it was judged becomes an attempt of its own', () => {
	const state = workedState({ status: 'NEEDS_REWORK', phase: { kind: 'voided' } });
	expect(decide(taskPlan(), state)).toEqual({ do: 'work', attempt: 2, by: 'outside' });
});

test('content that changes for ever is bounded by max_attempts as well', () => {
	const state = workedState({ machineAttempts: 5, attempt: 5, phase: { kind: 'voided' } });
	expect(decide(taskPlan(), state)).toEqual({
		do: 'fail',
		code: 'TASK_ATTEMPTS_USED_UP',
		reason: 'all 5 attempts are used up; its content changed once more after it was judged',
	});
});

test('a crash is tried again as often as retry says, later each time', () => {
	const task = taskPlan({ retry: { times: 2, backoffMs: 100, factor: 3, maxBackoffMs: 1000 } });
	expect(decide(task, crashed('AGENT_EXIT'))).toEqual({ do: 'retry', attempt: 2, delayMs: 100 });
	const again = crashed('AGENT_TIMEOUT', { attempt: 2, machineAttempts: 2, crashes: 2 });
	expect(decide(task, again)).toEqual({ do: 'retry', attempt: 3, delayMs: 300 });
	const third = crashed('AGENT_EXIT', { attempt: 3, machineAttempts: 3, crashes: 3 });
	expect(decide(task, third)).toEqual({ do: 'fail', code: 'AGENT_EXIT', reason: 'it broke' });
});

test('a retry never goes past max_attempts', () => {
	const task = taskPlan({ maxAttempts: 1, retry: { times: 5, backoffMs: 1, factor: 1, maxBackoffMs: 1 } });
	expect(decide(task, crashed('AGENT_EXIT'))).toMatchObject({ do: 'fail', code: 'AGENT_EXIT' });
});

test.each(['OUTPUT_MISSING', 'AGENT_NOT_FOUND', 'DISK_LOW', 'TASK_STOPPED'])(
	'%s does not pass by itself and is never retried',
	(code) => {
		const task = taskPlan({ retry: { times: 5, backoffMs: 1, factor: 1, maxBackoffMs: 1 } });
		expect(decide(task, crashed(code))).toMatchObject({ do: 'fail', code });
	},
);

test('overlays with the hook failed are asked before a crash is retried', () => {
	const overlay = overlayPlan('gate', { hooks: ['failed'] });
	const task = taskPlan({ overlays: [overlay], retry: { times: 1, backoffMs: 5, factor: 1, maxBackoffMs: 5 } });
	expect(decide(task, crashed('AGENT_EXIT'))).toMatchObject({ do: 'consult', hook: 'failed' });
	const judging: Judging = { hook: 'failed', attempt: 1, by: { gate: consultation({ kind: 'pass' }) } };
	expect(decide(task, crashed('AGENT_EXIT', { judging }))).toEqual({ do: 'retry', attempt: 2, delayMs: 5 });
	const rework: Judging = { hook: 'failed', attempt: 1, by: { gate: consultation({ kind: 'rework', feedback: 'x' }) } };
	expect(decide(task, crashed('AGENT_NOT_FOUND', { judging: rework }))).toMatchObject({ do: 'work', attempt: 2 });
});

test('a coder that stopped of itself is not put before any overlay', () => {
	const overlay = overlayPlan('gate', { hooks: ['failed'] });
	expect(decide(taskPlan({ overlays: [overlay] }), crashed('TASK_STOPPED'))).toMatchObject({ do: 'fail' });
});

test('a task that waits for its next try sleeps until it is due', () => {
	const state = taskState({ attempt: 1, phase: { kind: 'retrying', due: '2026-01-01T00:00:00.000Z' } });
	expect(decide(taskPlan(), state)).toEqual({ do: 'sleep', due: '2026-01-01T00:00:00.000Z' });
});

test('the wait grows by the factor and never beyond its limit', () => {
	const retry = { times: 9, backoffMs: 1000, factor: 2, maxBackoffMs: 5000 };
	expect([1, 2, 3, 4, 5].map((crashes) => retryDelay(retry, crashes))).toEqual([1000, 2000, 4000, 5000, 5000]);
});
