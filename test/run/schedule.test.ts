import { afterEach, expect, test, vi } from 'vitest';
import type { Moment, Verdict } from '../../engine/contract.ts';
import { parseExpression } from '../../engine/expression.ts';
import type { TaskPlan } from '../../engine/plan/plan.ts';
import { schedule } from '../../engine/run/schedule.ts';
import { overlayPlan, planOf, taskPlan } from '../builders.ts';
import {
	type Gate,
	gate as makeGate,
	openMemory,
	runPlan,
	SCHEDULE,
	type Script,
	scriptedWorld,
} from '../scripted-world.ts';

afterEach(() => {
	vi.useRealTimers();
});

const hil = overlayPlan('hil', { hooks: ['before'] });

/** Asks a person before the task may start. */
const approval: NonNullable<Script['overlays']> = {
	hil: {
		before({ answers: { ok } }: Moment): Verdict {
			if (ok === undefined) return { kind: 'ask', questions: [{ id: 'ok', to: 'human', brief: { prompt: '?' } }] };
			return ok.value === 'accept' ? { kind: 'pass' } : { kind: 'fail', reason: 'rejected' };
		},
	},
};

function tasks(
	...entries: readonly (readonly [id: string, dependsOn?: readonly string[], parts?: Partial<TaskPlan>])[]
) {
	return entries.map(([id, dependsOn = [], parts = {}]) => taskPlan({ id, dependsOn, ...parts }));
}

/** Agents that work until the test lets them go on; says who is at work. */
function commanded() {
	const gates = new Map<string, Gate>();
	const working = new Set<string>();
	let peak = 0;
	const agent: Script['agent'] = async ({ task }) => {
		const hold = makeGate();
		gates.set(task, hold);
		working.add(task);
		peak = Math.max(peak, working.size);
		await hold.opened;
		working.delete(task);
		return '';
	};
	const finish = async (task: string): Promise<void> => {
		gates.get(task)?.open();
		await settled();
	};
	return { agent, finish, working: () => [...working].sort(), peak: () => peak };
}

/** Lets everything happen that can happen without an agent. */
async function settled(): Promise<void> {
	for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
}

function statuses(session: { task(id: string): { status: string } }, ...ids: readonly string[]): readonly string[] {
	return ids.map((id) => session.task(id).status);
}

test('a task starts as soon as what it depends on is done: there are no levels', async () => {
	const { agent, finish, working } = commanded();
	const run = runPlan(planOf(tasks(['a'], ['b'], ['c', ['a']])), scriptedWorld({ agent }));
	await settled();
	expect(working()).toEqual(['a', 'b']);
	await finish('a');
	expect(working()).toEqual(['b', 'c']);
	await finish('c');
	await finish('b');
	expect((await run).ending).toBe('all_ended');
});

test('never more tasks at once than max_parallel', async () => {
	const { agent, finish, working, peak } = commanded();
	const run = runPlan(planOf(tasks(['a'], ['b'], ['c'], ['d'])), scriptedWorld({ agent }), { maxParallel: 2 });
	await settled();
	expect(working()).toEqual(['a', 'b']);
	for (const id of ['a', 'b', 'c', 'd']) await finish(id);
	await run;
	expect(peak()).toBe(2);
});

test('the longest remaining path is started first', async () => {
	const plan = planOf(tasks(['short', [], { tail: 0 }], ['long', [], { tail: 5 }], ['middle', [], { tail: 2 }]));
	const world = scriptedWorld();
	await runPlan(plan, world, { maxParallel: 1 });
	expect(world.calls.map(({ task }) => task)).toEqual(['long', 'middle', 'short']);
});

test('a failed task skips its dependents, all the way down, while the others go on', async () => {
	const agent: Script['agent'] = ({ task }) => (task === 'a' ? { fail: { code: 'AGENT_EXIT', reason: 'exit 1' } } : '');
	const plan = planOf(tasks(['a'], ['b', ['a']], ['c', ['b', 'd']], ['d'], ['e', ['d']]));
	const { session, ending } = await runPlan(plan, scriptedWorld({ agent }));
	expect(ending).toBe('all_ended');
	expect(statuses(session, 'a', 'b', 'c', 'd', 'e')).toEqual([
		'FAILED',
		'SKIPPED',
		'SKIPPED',
		'COMPLETED',
		'COMPLETED',
	]);
	expect(session.task('b').reason).toBe('"a", which it depends on, failed');
	expect(session.task('c').reason).toBe('"b", which it depends on, did not run');
});

test('dependents of a task that was left out on purpose go on', async () => {
	const parsed = parseExpression('tasks.a.attempts > 1');
	const when = parsed.ok ? parsed.expression : null;
	const plan = planOf(tasks(['a'], ['b', ['a'], { when }], ['c', ['b']]));
	const { session } = await runPlan(plan, scriptedWorld());
	expect(statuses(session, 'a', 'b', 'c')).toEqual(['COMPLETED', 'SKIPPED', 'COMPLETED']);
});

test('a task that waits for a person holds no slot; the run ends waiting when nothing else is left', async () => {
	const plan = planOf(tasks(['asks', [], { overlays: [hil], tail: 9 }], ['b'], ['c'], ['after', ['asks']]));
	const { session, ending } = await runPlan(plan, scriptedWorld({ overlays: approval }), { maxParallel: 1 });
	expect(ending).toBe('waiting');
	expect(statuses(session, 'asks', 'b', 'c', 'after')).toEqual(['HIL_PENDING', 'COMPLETED', 'COMPLETED', 'PENDING']);
});

test('run again, it goes on with the answer', async () => {
	const plan = planOf(tasks(['asks', [], { overlays: [hil] }], ['after', ['asks']]));
	const first = await runPlan(plan, scriptedWorld({ overlays: approval }));
	const world = scriptedWorld({ overlays: approval, person: () => ({ choice: 'accept' }) });
	const { session, ending } = await runPlan(plan, world, { records: first.session.records });
	expect(ending).toBe('all_ended');
	expect(statuses(session, 'asks', 'after')).toEqual(['COMPLETED', 'COMPLETED']);
});

test('--wait stays until people have answered', async () => {
	vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
	let decided = false;
	const person: Script['person'] = () => (decided ? { choice: 'accept' } : null);
	const plan = planOf(tasks(['asks', [], { overlays: [hil] }]));
	let over = false;
	const run = runPlan(plan, scriptedWorld({ overlays: approval, person }), { wait: true }).finally(() => {
		over = true;
	});
	await settled();
	vi.advanceTimersByTime(5000);
	await settled();
	expect(over).toBe(false);
	decided = true;
	vi.advanceTimersByTime(500);
	const { ending, session } = await run;
	expect(ending).toBe('all_ended');
	expect(session.task('asks').status).toBe('COMPLETED');
});

test('an answer that comes while others work is taken up without waiting for them', async () => {
	vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
	const { agent, finish, working } = commanded();
	let decided = false;
	const person: Script['person'] = () => (decided ? { choice: 'accept' } : null);
	const plan = planOf(tasks(['asks', [], { overlays: [hil] }], ['slow']));
	const run = runPlan(plan, scriptedWorld({ agent, overlays: approval, person }));
	await settled();
	expect(working()).toEqual(['slow']);
	decided = true;
	vi.advanceTimersByTime(500);
	await settled();
	expect(working()).toEqual(['asks', 'slow']);
	await finish('asks');
	await finish('slow');
	expect((await run).ending).toBe('all_ended');
});

test('a task that waits for its next try holds no slot, and wakes when it is due', async () => {
	vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: Date.parse('2026-03-01T00:00:00Z') });
	const retry = { times: 1, backoffMs: 60_000, factor: 1, maxBackoffMs: 60_000 };
	const agent: Script['agent'] = ({ key }) => (key === 'flaky#1' ? { fail: { code: 'AGENT_EXIT' } } : '');
	const world = scriptedWorld({ agent, now: () => new Date() });
	const run = runPlan(planOf(tasks(['flaky', [], { retry, tail: 9 }], ['b'])), world, { maxParallel: 1 });
	await settled();
	expect(world.calls.map(({ key }) => key)).toEqual(['flaky#1', 'b#1']);
	vi.advanceTimersByTime(59_999);
	await settled();
	expect(world.calls).toHaveLength(2);
	vi.advanceTimersByTime(1);
	expect((await run).ending).toBe('all_ended');
	expect(world.calls.map(({ key }) => key)).toEqual(['flaky#1', 'b#1', 'flaky#2']);
});

test('a clock that is put back does not hold a task that waits for its next try', async () => {
	vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: Date.parse('2026-03-01T12:00:00Z') });
	const retry = { times: 1, backoffMs: 1000, factor: 1, maxBackoffMs: 60_000 };
	const agent: Script['agent'] = ({ key }) => (key === 'flaky#1' ? { fail: { code: 'AGENT_EXIT' } } : '');
	const world = scriptedWorld({ agent, now: () => new Date() });
	const run = runPlan(planOf(tasks(['flaky', [], { retry }])), world);
	await settled();
	vi.setSystemTime(Date.parse('2026-03-01T11:00:00Z'));
	vi.advanceTimersByTime(1000);
	expect((await run).ending).toBe('all_ended');
	expect(world.calls.map(({ key }) => key)).toEqual(['flaky#1', 'flaky#2']);
});

test('--task runs only what it names, and the rest is left for later', async () => {
	const plan = planOf(tasks(['a'], ['b', ['a']], ['c']));
	const world = scriptedWorld();
	const { session, ending } = await runPlan(plan, world, { only: new Set(['a', 'b']) });
	expect(ending).toBe('partial');
	expect(statuses(session, 'a', 'b', 'c')).toEqual(['COMPLETED', 'COMPLETED', 'PENDING']);
	const rest = await runPlan(plan, scriptedWorld(), { records: session.records });
	expect(rest.ending).toBe('all_ended');
	expect(statuses(rest.session, 'a', 'b', 'c')).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED']);
});

test('--task that does all there was left finishes the run', async () => {
	const plan = planOf(tasks(['a'], ['b']));
	const { session } = await runPlan(plan, scriptedWorld(), { only: new Set(['a']) });
	const rest = await runPlan(plan, scriptedWorld(), { records: session.records, only: new Set(['b']) });
	expect(rest.ending).toBe('all_ended');
});

test('--step runs one task at a time and asks before each but the first', async () => {
	const asked: string[] = [];
	const step = async (task: string): Promise<boolean> => {
		asked.push(task);
		return task !== 'c';
	};
	const world = scriptedWorld();
	const plan = planOf(tasks(['a'], ['b'], ['c']));
	const { ending, session } = await runPlan(plan, world, { step });
	expect(ending).toBe('step');
	expect(asked).toEqual(['b', 'c']);
	expect(statuses(session, 'a', 'b', 'c')).toEqual(['COMPLETED', 'COMPLETED', 'PENDING']);
	const rest = await runPlan(plan, scriptedWorld(), { records: session.records, step: async () => false });
	expect(rest.ending).toBe('all_ended');
});

test('a stopped run waits for what is under way and then ends', async () => {
	const { agent, finish, working } = commanded();
	const plan = planOf(tasks(['a'], ['b', ['a']]));
	const session = openMemory(plan, scriptedWorld({ agent }));
	let over = false;
	const run = schedule(session, SCHEDULE).finally(() => {
		over = true;
	});
	await settled();
	session.stop();
	await settled();
	expect([working(), over]).toEqual([['a'], false]);
	await finish('a');
	expect(await run).toBe('stopped');
	expect(statuses(session, 'a', 'b')).toEqual(['RUNNING', 'PENDING']);
});

test('a stopped run does not wait for people or for the next try', async () => {
	const plan = planOf(tasks(['asks', [], { overlays: [hil] }]));
	const session = openMemory(plan, scriptedWorld({ overlays: approval }));
	const run = schedule(session, { ...SCHEDULE, wait: true });
	await settled();
	session.stop();
	expect(await run).toBe('stopped');
});

test('a fault stops everything, and is what the run rejects with', async () => {
	const { agent, finish } = commanded();
	const broken: Script['agent'] = (call) => {
		if (call.task === 'bad') throw new Error('the adapter is broken');
		return agent?.(call);
	};
	const session = openMemory(planOf(tasks(['good'], ['bad'], ['next', ['good']])), scriptedWorld({ agent: broken }));
	const run = schedule(session, SCHEDULE);
	run.catch(() => {});
	await settled();
	expect(session.signal.aborted).toBe(true);
	await finish('good');
	await expect(run).rejects.toThrow('the adapter is broken');
	expect(session.task('next').status).toBe('PENDING');
});

test('resumed, dependents of a task that failed before are skipped', async () => {
	const plan = planOf(tasks(['a'], ['b', ['a']]));
	const agent: Script['agent'] = () => ({ fail: { code: 'AGENT_EXIT' } });
	const { session } = await runPlan(plan, scriptedWorld({ agent }));
	const cut = session.records.findIndex(({ kind }) => kind === 'task_failed') + 1;
	const rest = await runPlan(plan, scriptedWorld(), { records: session.records.slice(0, cut) });
	expect(statuses(rest.session, 'a', 'b')).toEqual(['FAILED', 'SKIPPED']);
});

test('a disk that refuses to be read ends the run with that fault and leaves no timer behind', async () => {
	vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
	const plan = planOf(tasks(['a', [], { outputs: ['a.txt'], overlays: [overlayPlan('gate')] }]));
	const script: Script = {
		agent: () => ({ files: { 'a.txt': 'x' } }),
		overlays: { gate: { after: () => ({ kind: 'pass' }) } },
	};
	const { session } = await runPlan(plan, scriptedWorld(script));
	const broken = scriptedWorld(script);
	broken.workspace.inspect = () => {
		throw new Error('input/output error');
	};
	const resumed = openMemory(plan, broken, { records: session.records.slice(0, -1) });
	await expect(schedule(resumed, SCHEDULE)).rejects.toThrow('input/output error');
	expect(vi.getTimerCount()).toBe(0);
});

test('an empty plan is done at once', async () => {
	expect((await runPlan(planOf([]), scriptedWorld())).ending).toBe('all_ended');
});
