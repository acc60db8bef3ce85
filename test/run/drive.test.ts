import { expect, test } from 'vitest';
import type { Moment, Verdict } from '../../engine/contract.ts';
import { parseExpression } from '../../engine/expression.ts';
import type { Plan, TaskPlan } from '../../engine/plan/plan.ts';
import { driveTask } from '../../engine/run/drive.ts';
import { agentPlan, overlayPlan, planOf, taskPlan } from '../builders.ts';
import { openMemory, type Reply, runPlan, type Script, scriptedWorld } from '../scripted-world.ts';

const gate = overlayPlan('gate');
const pass: Verdict = { kind: 'pass' };

async function drive(task: TaskPlan, script: Script = {}, plan: Plan = planOf([task])) {
	const world = scriptedWorld(script);
	const session = openMemory(plan, world);
	const left = await driveTask(session, task);
	return { world, session, left, state: session.task(task.id) };
}

/** What the coder does at each attempt; the last one repeats. */
function coder(...replies: readonly Reply[]): NonNullable<Script['agent']> {
	return ({ role, attempt }) => (role === 'coder' ? replies[Math.min(attempt, replies.length) - 1] : '');
}

function when(source: string): NonNullable<TaskPlan['when']> {
	const parsed = parseExpression(source);
	if (!parsed.ok) throw new Error(parsed.message);
	return parsed.expression;
}

test('a crash is tried again after the backoff, and the task holds no slot meanwhile', async () => {
	const task = taskPlan({ retry: { times: 1, backoffMs: 5000, factor: 2, maxBackoffMs: 9000 } });
	const clock = { at: Date.parse('2026-03-01T00:00:00Z') };
	const world = scriptedWorld({
		agent: coder({ fail: { code: 'AGENT_EXIT' } }, 'done'),
		now: () => new Date(clock.at),
	});
	const session = openMemory(planOf([task]), world);
	const due = clock.at + 5000;
	expect(await driveTask(session, task)).toEqual({ kind: 'sleeping', due });
	clock.at = due - 1;
	expect(await driveTask(session, task)).toEqual({ kind: 'sleeping', due });
	clock.at = due;
	expect(await driveTask(session, task)).toEqual({ kind: 'ended' });
	expect(session.task('implement')).toMatchObject({ status: 'COMPLETED', attempt: 2, crashes: 0 });
	expect(world.calls.map(({ key }) => key)).toEqual(['implement#1', 'implement#2']);
});

test('crashes in a row use up the retries; work that finishes gives them back', async () => {
	const crash = { fail: { code: 'AGENT_TIMEOUT', reason: 'too slow' } };
	const task = taskPlan({
		maxAttempts: 9,
		overlays: [gate],
		retry: { times: 1, backoffMs: 0, factor: 1, maxBackoffMs: 0 },
	});
	const judge = ({ attempt }: Moment): Verdict => (attempt < 4 ? { kind: 'rework', feedback: 'again' } : pass);
	const again = await drive(task, { agent: coder(crash, 'one', crash, 'two'), overlays: { gate: { after: judge } } });
	expect(again.state).toMatchObject({ status: 'COMPLETED', attempt: 4 });
	const { state } = await drive(task, { agent: coder(crash, crash), overlays: { gate: { after: judge } } });
	expect(state).toMatchObject({ status: 'FAILED', attempt: 2, reason: 'too slow' });
});

test('a retry after rework still carries the feedback and the checks that failed', async () => {
	const check = { name: 'tests', run: 'npm test', required: true, kind: 'tests', timeoutMs: 1 };
	const retry = { times: 1, backoffMs: 0, factor: 1, maxBackoffMs: 0 };
	const task = taskPlan({ overlays: [gate], checks: [check], retry });
	const judge = ({ attempt }: Moment): Verdict => (attempt === 1 ? { kind: 'rework', feedback: 'use bcrypt' } : pass);
	const { world } = await drive(task, {
		agent: coder('one', { fail: { code: 'AGENT_EXIT' } }, 'two'),
		overlays: { gate: { after: judge } },
		check: (_task, attempt) => attempt > 1,
	});
	expect(world.calls.at(-1)).toMatchObject({ attempt: 3, iteration: 2, prompt: 'implement#3: use bcrypt' });
	expect(world.briefs.get('implement#3')).toMatchObject({ failedChecks: [{ name: 'tests' }] });
});

test('feedback reaches the coder, with the checks that failed', async () => {
	const check = { name: 'tests', run: 'npm test', required: true, kind: 'tests', timeoutMs: 1 };
	const task = taskPlan({ overlays: [gate], checks: [check] });
	const judge = ({ checks }: Moment): Verdict => (checks[0]?.ok ? pass : { kind: 'rework', feedback: 'tests fail' });
	const script: Script = { overlays: { gate: { after: judge } }, check: (_task, attempt) => attempt > 1 };
	const { world, state } = await drive(task, script);
	expect(state.status).toBe('COMPLETED');
	expect(world.checked).toEqual(['implement#1', 'implement#2']);
	expect(world.calls.map(({ attempt, iteration }) => [attempt, iteration])).toEqual([
		[1, 1],
		[2, 2],
	]);
	expect(world.briefs.get('implement#1')).toMatchObject({ feedback: null, failedChecks: [] });
	expect(world.briefs.get('implement#2')).toMatchObject({
		feedback: { overlay: 'gate', text: 'tests fail', attempt: 1 },
		failedChecks: [{ name: 'tests', ok: false }],
	});
});

test('fixers work in place of the task’s agent, each on its own files', async () => {
	const task = taskPlan({ overlays: [gate] });
	const fixers = [
		{ agent: 'fixer', files: ['a.ts'], feedback: 'fix a' },
		{ agent: 'second', files: ['b.ts'], feedback: 'fix b' },
	];
	const judge = ({ attempt }: Moment): Verdict =>
		attempt === 1 ? { kind: 'rework', feedback: 'two things', fixers } : pass;
	const workers: (string | null)[] = [];
	const watching = (moment: Moment): Verdict => {
		workers.push(moment.worker);
		return judge(moment);
	};
	const { world, session, state } = await drive(task, { overlays: { gate: { after: watching } } });
	const begun = session.records.flatMap((one) => (one.kind === 'attempt_started' ? [one.agent] : []));
	expect(begun).toEqual(['dev', 'fixer, second']);
	expect(workers).toEqual(['dev', 'second']);
	expect(world.calls.map(({ key, role, agent }) => [key, role, agent.name])).toEqual([
		['implement#1', 'coder', 'dev'],
		['implement#2/fixer/1', 'fixer', 'fixer'],
		['implement#2/fixer/2', 'fixer', 'second'],
	]);
	expect(world.calls.slice(1).map(({ prompt }) => prompt)).toEqual(['implement#2: fix a', 'implement#2: fix b']);
	expect(world.briefs.get('implement#2:a.ts')?.files).toEqual(['a.ts']);
	expect(state.status).toBe('COMPLETED');
});

test('a fixer that crashes ends the attempt: the next one is not started', async () => {
	const fixers = ['fixer', 'second'].map((agent) => ({ agent, feedback: 'fix it' }));
	const judge = (): Verdict => ({ kind: 'rework', feedback: 'no', fixers });
	const agent: Script['agent'] = ({ role }) => (role === 'fixer' ? { fail: { code: 'AGENT_EXIT' } } : '');
	const { world, state } = await drive(taskPlan({ overlays: [gate] }), { agent, overlays: { gate: { after: judge } } });
	expect(world.calls.map(({ key }) => key)).toEqual(['implement#1', 'implement#2/fixer/1']);
	expect(state.status).toBe('FAILED');
});

test('an overlay may add to the brief before, and change the output after', async () => {
	const seen: string[] = [];
	const task = taskPlan({ overlays: [overlayPlan('first', { hooks: ['before', 'after'] }), gate] });
	const overlays: Script['overlays'] = {
		first: {
			before: () => ({ kind: 'pass', amend: { brief: 'Mind the budget.' } }),
			after: () => ({ kind: 'pass', amend: { output: 'shortened' } }),
		},
		gate: {
			after({ output }) {
				seen.push(output.text);
				return pass;
			},
		},
	};
	const { world } = await drive(task, { agent: coder('a long story'), overlays });
	expect(world.briefs.get('implement#1')?.amendments).toEqual(['Mind the budget.']);
	expect(seen).toEqual(['shortened']);
});

test('a task whose condition does not hold is left out on purpose', async () => {
	const task = taskPlan({ when: when('tasks.design.status == COMPLETED') });
	const { state, world } = await drive(task);
	expect(state).toMatchObject({
		status: 'SKIPPED',
		omitted: true,
		reason: 'its condition does not hold: tasks.design.status == COMPLETED',
	});
	expect(world.calls).toEqual([]);
});

test('a condition sees how upstream tasks ended and how many attempts they took', async () => {
	const design = taskPlan({ id: 'design' });
	const task = taskPlan({
		dependsOn: ['design'],
		when: when('tasks.design.status == COMPLETED and tasks.design.attempts == 1'),
	});
	const { session } = await runPlan(planOf([design, task]), scriptedWorld());
	expect(session.task('implement').status).toBe('COMPLETED');
});

test('a stop marker on a line of its own ends the task; written about, it does not', async () => {
	const task = taskPlan({ stopMarkers: ['BLOCKED'], retry: { times: 3, backoffMs: 0, factor: 1, maxBackoffMs: 0 } });
	const stopped = await drive(task, { agent: coder('I cannot go on.\n  BLOCKED  \n') });
	expect(stopped.state).toMatchObject({
		status: 'FAILED',
		attempt: 1,
		reason: 'the agent "dev" stopped with "BLOCKED"',
	});
	const { state } = await drive(task, { agent: coder('I would have said BLOCKED, but went on.') });
	expect(state.status).toBe('COMPLETED');
});

test('a reviewer may quote the stop marker', async () => {
	const task = taskPlan({ stopMarkers: ['BLOCKED'], overlays: [gate] });
	const agent: Script['agent'] = ({ role }) => (role === 'reviewer' ? 'The coder did not say\nBLOCKED\nGO' : 'done');
	const ask: Verdict = { kind: 'ask', questions: [{ id: 'r', to: 'agent:reviewer', brief: { prompt: '?' } }] };
	const after = ({ answers }: Moment): Verdict => (answers['r'] === undefined ? ask : pass);
	const { state } = await drive(task, { agent, overlays: { gate: { after } } });
	expect(state.status).toBe('COMPLETED');
});

test('an attempt that leaves out a declared output has failed', async () => {
	const { state, world } = await drive(taskPlan({ outputs: ['a.ts', 'b.ts'], overlays: [gate] }), {
		agent: coder({ files: { 'a.ts': 'x' } }),
		overlays: { gate: { after: () => pass } },
	});
	expect(state).toMatchObject({ status: 'FAILED', reason: 'declared outputs that are not there: b.ts' });
	expect(world.consulted).toEqual([]);
});

test('a disk that is nearly full stops the run before an agent is started', async () => {
	await expect(drive(taskPlan(), { space: () => 'only 3 MiB left' })).rejects.toMatchObject({
		code: 'DISK_LOW',
		message: 'only 3 MiB left',
		remedy: 'make room, then `sdd run` goes on',
	});
});

test('a disk that is nearly full stops the run before a reviewer is started, too', async () => {
	let free = true;
	const ask: Verdict = { kind: 'ask', questions: [{ id: 'r', to: 'agent:reviewer', brief: { prompt: '?' } }] };
	let calls = 0;
	const agent: Script['agent'] = () => {
		calls++;
		free = false;
		return '';
	};
	const overlays: Script['overlays'] = { gate: { after: () => ask } };
	const script: Script = { agent, overlays, space: () => (free ? null : 'only 3 MiB left') };
	await expect(drive(taskPlan({ overlays: [gate] }), script)).rejects.toMatchObject({ code: 'DISK_LOW' });
	expect(calls).toBe(1);
});

test('the hook failed is shown what went wrong, and may send the work back', async () => {
	const failures: unknown[] = [];
	const overlays: Script['overlays'] = {
		gate: {
			failed({ failure }) {
				failures.push(failure);
				return { kind: 'rework', feedback: 'write the file this time' };
			},
		},
	};
	const task = taskPlan({ outputs: ['a.ts'], overlays: [overlayPlan('gate', { hooks: ['failed'] })] });
	const { state, world } = await drive(task, { agent: coder('', { files: { 'a.ts': 'x' } }), overlays });
	expect(failures).toEqual([{ code: 'OUTPUT_MISSING', reason: 'declared outputs that are not there: a.ts' }]);
	expect(world.briefs.get('implement#2')?.feedback?.text).toBe('write the file this time');
	expect(state.status).toBe('COMPLETED');
});

test('a stopped run leaves the attempt as it was begun, and it is begun again under the same key', async () => {
	const task = taskPlan();
	const plan = planOf([task]);
	const world = scriptedWorld({
		agent() {
			session.stop();
			return { fail: { code: 'AGENT_CANCELLED' } };
		},
	});
	const session = openMemory(plan, world);
	expect(await driveTask(session, task)).toEqual({ kind: 'stopped' });
	expect(session.kinds().at(-1)).toBe('attempt_started');
	const later = scriptedWorld();
	const resumed = await runPlan(plan, later, { records: session.records });
	expect(later.calls.map(({ key }) => key)).toEqual(['implement#1']);
	expect(resumed.session.task('implement')).toMatchObject({ status: 'COMPLETED', attempt: 1, machineAttempts: 1 });
});

test('an overlay that is interrupted by a stop has said nothing: on resume it is consulted again', async () => {
	const task = taskPlan({ overlays: [gate] });
	const plan = planOf([task]);
	const world = scriptedWorld({
		overlays: {
			gate: {
				after() {
					session.stop();
					return new Promise<never>(() => {});
				},
			},
		},
	});
	const session = openMemory(plan, world);
	expect(await driveTask(session, task)).toEqual({ kind: 'stopped' });
	expect(session.kinds().at(-1)).toBe('attempt_finished');
	const later = scriptedWorld({ overlays: { gate: { after: () => ({ kind: 'fail', reason: 'no' }) } } });
	const resumed = await runPlan(plan, later, { records: session.records });
	expect(resumed.session.task('implement').status).toBe('FAILED');
});

test('checks and reviewers that are interrupted by a stop have shown nothing', async () => {
	const check = { name: 'tests', run: 'npm test', required: true, kind: 'tests', timeoutMs: 1 };
	const ask: Verdict = { kind: 'ask', questions: [{ id: 'r', to: 'agent:reviewer', brief: { prompt: '?' } }] };
	for (const interrupted of ['check', 'reviewer']) {
		const task = taskPlan({ checks: interrupted === 'check' ? [check] : [], overlays: [gate] });
		const world = scriptedWorld({
			overlays: { gate: { after: () => ask } },
			check() {
				session.stop();
				return false;
			},
			agent({ role }) {
				if (role === 'reviewer') session.stop();
				return 'GO';
			},
		});
		const session = openMemory(planOf([task]), world);
		expect(await driveTask(session, task)).toEqual({ kind: 'stopped' });
		expect(session.kinds().at(-1)).toBe(interrupted === 'check' ? 'attempt_finished' : 'verdict');
	}
});

test('the shorter of the agent’s and the task’s time limit holds for work', async () => {
	const agents = [agentPlan('dev', { timeoutMs: 10 }), agentPlan('reviewer')];
	const quick = taskPlan({ timeoutMs: 99 });
	const { world } = await drive(quick, {}, planOf([quick], { agents }));
	expect(world.calls[0]?.timeoutMs).toBe(10);
	const strict = taskPlan({ timeoutMs: 5 });
	expect((await drive(strict, {}, planOf([strict], { agents }))).world.calls[0]?.timeoutMs).toBe(5);
});

test('an overlay sees frozen facts: no overlay can change what the next one sees', async () => {
	const overlays: Script['overlays'] = {
		gate: {
			after(moment) {
				(moment.task.outputs as string[]).push('evil');
				return pass;
			},
		},
	};
	const { state } = await drive(taskPlan({ overlays: [gate] }), { overlays });
	expect(state.reason).toMatch(/^gate: it threw at after: Cannot add property/);
});

test('an overlay is shown the diff between the trees before the first attempt and after this one', async () => {
	const diffs: string[] = [];
	const overlays: Script['overlays'] = {
		gate: {
			after({ diff, attempt }) {
				diffs.push(diff);
				return attempt === 1 ? { kind: 'rework', feedback: 'again' } : pass;
			},
		},
	};
	const agent = coder({ files: { a: '1' } }, { files: { a: '2' } });
	await drive(taskPlan({ outputs: ['a'], overlays: [gate] }), { agent, overlays, git: true, files: {} });
	const [before, one] = (diffs[0] ?? '').split('..');
	const [same, two] = (diffs[1] ?? '').split('..');
	expect(same).toBe(before);
	expect(new Set([before, one, two]).size).toBe(3);
});
