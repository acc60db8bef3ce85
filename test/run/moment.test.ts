import { expect, test } from 'vitest';
import type { RunEvent } from '../../engine/events.ts';
import { momentFor } from '../../engine/run/moment.ts';
import { check, digest, overlayPlan, planOf, taskPlan } from '../builders.ts';
import { openMemory, scriptedWorld } from '../scripted-world.ts';

const gate = overlayPlan('gate', { hooks: ['before', 'after', 'failed'] });
const task = taskPlan({ outputs: ['a.ts'], acceptanceCriteria: ['it works'], inputs: ['in.md'], overlays: [gate] });
const output = { text: 'I wrote it.', bytes: 11, sha256: 'o' };

function after(...events: readonly RunEvent[]) {
	const session = openMemory(planOf([task]), scriptedWorld({ files: { 'a.ts': 'code' } }));
	session.record({ kind: 'task_started', task: task.id }, ...events);
	return session;
}

function attempt(n: number): readonly RunEvent[] {
	return [
		{ kind: 'attempt_started', task: task.id, attempt: n, by: 'agent', agent: 'dev', tree: 'aaaa' },
		{
			kind: 'attempt_finished',
			task: task.id,
			attempt: n,
			agent: 'dev',
			output,
			artifacts: [digest('a.ts', 'code')],
			tree: 'bbbb',
			ms: 1,
		},
		{ kind: 'attempt_checked', task: task.id, attempt: n, checks: [check('tests')] },
	];
}

test('before the first attempt there is a task and a brief, and no work yet', () => {
	expect(momentFor(after(), task, 'before', gate)).toEqual({
		run: 'run-1',
		workflow: 'demo',
		hook: 'before',
		at: expect.stringMatching(/^2026-/),
		task: {
			id: 'implement',
			agent: 'dev',
			description: 'Implement the login flow',
			acceptanceCriteria: ['it works'],
			inputs: ['in.md'],
			outputs: ['a.ts'],
		},
		attempt: 1,
		worker: null,
		iteration: 1,
		brief: { prompt: 'Implement the login flow' },
		output: { text: '' },
		artifacts: [],
		diff: '',
		touched: [],
		checks: [],
		constitution: { Standards: 'Be kind.' },
		history: [],
		answers: {},
		failure: null,
	});
});

test('after an attempt there are its output, its files with their content, its diff and its checks', () => {
	expect(momentFor(after(...attempt(1)), task, 'after', gate)).toMatchObject({
		hook: 'after',
		worker: 'dev',
		output: { text: 'I wrote it.' },
		artifacts: [{ ...digest('a.ts', 'code'), content: 'code' }],
		diff: 'aaaa..bbbb',
		checks: [{ name: 'tests', ok: true }],
	});
});

test('the iteration counts what this overlay judged at this hook; the history is its own', () => {
	const said = (overlay: string): RunEvent => ({
		kind: 'verdict',
		task: task.id,
		attempt: 1,
		hook: 'after',
		overlay,
		round: 1,
		verdict: { kind: 'rework', feedback: `${overlay}: no` },
		content: '',
	});
	const session = after(...attempt(1), said('gate'), said('other'), ...attempt(2));
	expect(momentFor(session, task, 'after', gate)).toMatchObject({
		attempt: 2,
		iteration: 2,
		history: [{ text: 'gate: no' }],
	});
	expect(momentFor(session, task, 'failed', gate).iteration).toBe(1);
	expect(momentFor(session, task, 'after', overlayPlan('new')).iteration).toBe(1);
});

test('at failed there is what went wrong', () => {
	const failed: RunEvent = {
		kind: 'attempt_failed',
		task: task.id,
		attempt: 1,
		agent: 'dev',
		code: 'AGENT_EXIT',
		reason: 'exit 1',
		output: null,
		ms: 1,
	};
	expect(momentFor(after(...attempt(1).slice(0, 1), failed), task, 'failed', gate).failure).toEqual({
		code: 'AGENT_EXIT',
		reason: 'exit 1',
	});
});

test('files are shown up to a mebi of characters each, and once there are 16 of them by their beginning', () => {
	const caps: number[] = [];
	const world = scriptedWorld();
	const read = (_path: string, cap: number) => {
		caps.push(cap);
		return 'x'.repeat(cap);
	};
	const session = openMemory(planOf([task]), { ...world, workspace: { ...world.workspace, read } });
	const artifacts = Array.from({ length: 18 }, (_, n) => digest(`${n}.ts`, ''));
	const [started, finished] = attempt(1);
	session.record({ kind: 'task_started', task: task.id }, started!, { ...finished!, artifacts } as RunEvent);
	expect(momentFor(session, task, 'after', gate).artifacts).toHaveLength(18);
	expect(caps).toEqual([...Array.from({ length: 16 }, () => 1024 * 1024), 50_000, 50_000]);
});

test('a moment is frozen through and through', () => {
	const moment = momentFor(after(...attempt(1)), task, 'after', gate);
	const parts = [
		moment,
		moment.task,
		moment.task.outputs,
		moment.artifacts,
		moment.artifacts[0],
		moment.checks,
		moment.constitution,
		moment.answers,
	];
	expect(parts.map((part) => Object.isFrozen(part))).toEqual(parts.map(() => true));
});
