/** `sdd run`: what runs when, and every option of it. */
import { describe, expect, test } from 'vitest';
import {
	coder,
	commanded,
	type Data,
	makeRig,
	ndjson,
	openItems,
	type Rig,
	reviewed,
	reviewerGoingAt,
	shell,
} from '../rig.ts';

const plain = (more: Data = {}): Data => ({ agent: 'dev', description: 'x', ...more });

async function withTasks(tasks: Data, more: Data = {}, agents: Data = {}): Promise<Rig> {
	const rig = await makeRig();
	rig.workflow({ agents: { dev: coder, ...agents }, tasks, ...more });
	return rig;
}

const statuses = (rig: Rig): Data =>
	Object.fromEntries(
		Object.entries(rig.json('.ai-sdd/state/workflow-state.json')['tasks'] as { [id: string]: Data }).map(
			([id, task]) => [id, task['status']],
		),
	);

describe('order', () => {
	const gated = async (max: number): Promise<Rig> => {
		const tasks = { a: plain(), b: plain(), c: plain() };
		return withTasks(tasks, { max_parallel: max }, { dev: commanded() });
	};

	test('as many tasks run at once as max_parallel says, and not one more', async () => {
		const rig = await gated(2);
		const run = rig.start(['run', 'w.yaml']);
		const [a, b] = [await rig.call('a/coder', run), await rig.call('b/coder', run)];
		expect(rig.waitingCalls()).toEqual([]);
		b.answer();
		const c = await rig.call('c/coder', run);
		expect(rig.events().filter(({ kind }) => kind === 'task_completed')).toMatchObject([{ task: 'b' }]);
		a.answer();
		c.answer();
		expect((await run.ended).code).toBe(0);
	});

	test('--max-parallel beats the file', async () => {
		const rig = await gated(1);
		const run = rig.start(['run', 'w.yaml', '--max-parallel', '3']);
		for (const call of await Promise.all(['a', 'b', 'c'].map((id) => rig.call(`${id}/coder`, run)))) call.answer();
		expect((await run.ended).code).toBe(0);
	});

	test('without a limit in the file three run at once', async () => {
		const tasks = Object.fromEntries(['a', 'b', 'c', 'd'].map((id) => [id, plain()]));
		const rig = await withTasks(tasks, {}, { dev: commanded() });
		const run = rig.start(['run', 'w.yaml']);
		const three = await Promise.all(['a', 'b', 'c'].map((id) => rig.call(`${id}/coder`, run)));
		expect(rig.events().filter(({ kind }) => kind === 'task_started')).toHaveLength(3);
		for (const call of three) call.answer();
		(await rig.call('d/coder', run)).answer();
		expect((await run.ended).code).toBe(0);
	});

	test('a task starts as soon as what it needs is done, not when a level is', async () => {
		const rig = await withTasks(
			{ slow: plain(), quick: plain(), next: plain({ depends_on: ['quick'] }) },
			{},
			{ dev: commanded() },
		);
		const run = rig.start(['run', 'w.yaml']);
		const slow = await rig.call('slow/coder', run);
		(await rig.call('quick/coder', run)).answer();
		(await rig.call('next/coder', run)).answer();
		slow.answer();
		expect((await run.ended).code).toBe(0);
	});

	test('a task that waits for a person holds no slot: independent tasks are finished', async () => {
		const tasks = {
			asks: plain({ overlays: { hil: { enabled: true } } }),
			one: plain(),
			two: plain({ depends_on: ['one'] }),
			later: plain({ depends_on: ['asks'] }),
		};
		const rig = await withTasks(tasks, { max_parallel: 1 });
		const { code, stdout } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(3);
		expect(statuses(rig)).toEqual({ asks: 'HIL_PENDING', one: 'COMPLETED', two: 'COMPLETED', later: 'PENDING' });
		expect(stdout).toContain('2 done');
		expect(stdout).toContain('1 waiting for a person');
	});

	test('when a task failed and another waits, the exit code is 1 and the summary says both', async () => {
		const tasks = {
			asks: plain({ overlays: { hil: { enabled: true } } }),
			bad: plain({ agent: 'no' }),
			next: plain({ depends_on: ['bad'] }),
			ok: plain(),
		};
		const rig = await withTasks(tasks, {}, { no: shell('exit 1') });
		const { code, stdout } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(1);
		expect(stdout).toContain('bad failed: agent "no" exited with code 1');
		expect(stdout).toContain('asks waits for a person');
		expect(statuses(rig)).toMatchObject({ bad: 'FAILED', next: 'SKIPPED', ok: 'COMPLETED' });
	});

	test('a condition that does not hold leaves its task out, and what depends on it goes on', async () => {
		const rig = await withTasks({
			a: plain(),
			no: plain({ depends_on: ['a'], when: 'tasks.a.status == FAILED' }),
			yes: plain({ depends_on: ['no'] }),
		});
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		expect(statuses(rig)).toEqual({ a: 'COMPLETED', no: 'SKIPPED', yes: 'COMPLETED' });
	});

	test('a crash is tried again as often as retry says, a verdict never is', async () => {
		const dev = shell('test "$SDD_ATTEMPT" -ge 3 || exit 9');
		const rig = await withTasks({ a: plain({ retry: { times: 2, backoff: '1ms' } }) }, {}, { dev });
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		expect(rig.events().filter(({ kind }) => kind === 'attempt_failed')).toHaveLength(2);
	});
});

describe('options', () => {
	test('--task runs that task and what it depends on; the rest is done later', async () => {
		const rig = await withTasks({ a: plain(), b: plain({ depends_on: ['a'] }), c: plain() });
		const { code, stdout } = await rig.sdd('run', 'w.yaml', '--task', 'b');
		expect(code).toBe(0);
		expect(stdout).toContain('sdd run does the rest');
		expect(statuses(rig)).toEqual({ a: 'COMPLETED', b: 'COMPLETED', c: 'PENDING' });
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		expect(rig.runs()).toHaveLength(1);
		expect(statuses(rig)).toMatchObject({ c: 'COMPLETED' });
	});

	test('--task with an unknown id says what was meant', async () => {
		const rig = await withTasks({ build: plain() });
		const { code, stderr } = await rig.sdd('run', 'w.yaml', '--task', 'biuld');
		expect(code).toBe(2);
		expect(stderr).toContain('w.yaml has no task "biuld" [TASK_UNKNOWN]');
		expect(stderr).toContain('did you mean "build"?');
	});

	test('--step stops after each task with exit code 4', async () => {
		const rig = await withTasks({ a: plain(), b: plain(), c: plain() });
		const codes = [];
		for (let i = 0; i < 3; i++) codes.push((await rig.sdd('run', 'w.yaml', '--step')).code);
		expect(codes).toEqual([4, 4, 0]);
		expect(rig.runs()).toHaveLength(1);
	});

	test('4.17 --dry-run says what would happen, starts nobody and writes nothing', async () => {
		const rig = await withTasks({ a: reviewed('a'), b: plain({ depends_on: ['a'] }) }, {}, { rev: reviewerGoingAt(1) });
		const before = rig.tree();
		const { code, stdout } = await rig.sdd('run', 'w.yaml', '--dry-run');
		expect(code).toBe(0);
		expect(stdout).toContain('dry run: would begin a new run; still to do: a, b');
		const json = await rig.sdd('run', 'w.yaml', '--dry-run', '--json');
		expect(JSON.parse(json.stdout)).toMatchObject({ dry_run: true, run: null, tasks: ['a', 'b'] });
		expect(rig.tree()).toEqual(before);
		expect(() => rig.seen('a.coder.1')).toThrow();
	});

	test('4.17 a dry run of an unfinished run changes nothing of it', async () => {
		const rig = await withTasks({ a: plain(), b: plain({ depends_on: ['a'] }) });
		await rig.sdd('run', 'w.yaml', '--step');
		const before = rig.tree();
		for (const more of [[], ['--fresh'], ['--frozen']]) {
			const { code, stdout } = await rig.sdd('run', 'w.yaml', '--dry-run', ...more);
			expect(code).toBe(0);
			expect(stdout).toContain(
				more[0] === '--fresh' ? 'would begin a new run' : `would go on with run ${rig.runs()[0]}; still to do: b`,
			);
		}
		expect(rig.tree()).toEqual(before);
	});

	test('--fresh begins anew and cancels what was unfinished', async () => {
		const rig = await withTasks({ a: plain({ overlays: { hil: { enabled: true } } }) });
		await rig.sdd('run', 'w.yaml');
		const { code, stderr } = await rig.sdd('run', 'w.yaml', '--fresh');
		expect(code).toBe(3);
		const [old] = rig.runs();
		expect(stderr).toContain(`the unfinished run ${old} is cancelled`);
		expect(rig.events(old).slice(-2)).toMatchObject([
			{ kind: 'task_cancelled', task: 'a' },
			{ kind: 'run_finished', outcome: 'cancelled' },
		]);
		expect(await openItems(rig)).toHaveLength(1);
		expect((await rig.sdd('audit', 'verify')).code).toBe(0);
	});

	test('a changed workflow under an unfinished run is said clearly; --frozen and --yes go on, --fresh begins anew', async () => {
		const rig = await withTasks({ a: plain(), b: plain({ depends_on: ['a'] }), c: plain({ depends_on: ['b'] }) });
		await rig.sdd('run', 'w.yaml', '--step');
		const [run] = rig.runs();
		rig.workflow({ agents: { dev: coder }, tasks: { other: plain() } });
		const refused = await rig.sdd('run', 'w.yaml');
		expect(refused.code).toBe(2);
		expect(refused.stderr).toContain(
			`w.yaml (or what it is run with) changed since run ${run} began, and that run is unfinished [RUN_CHANGED]`,
		);
		expect(refused.stderr).toContain('--frozen');
		expect((await rig.sdd('run', 'w.yaml', '--frozen', '--step')).code).toBe(4);
		expect(rig.has('b.txt')).toBe(true);
		expect((await rig.sdd('run', 'w.yaml', '--yes')).code).toBe(0);
		expect(rig.has('c.txt')).toBe(true);
		expect(rig.runs()).toEqual([run]);
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		expect(rig.has('other.txt')).toBe(true);
	});

	test.each(['--frozen', '--yes'])('%s runs as many tasks at once as when the run began', async (how) => {
		const rig = await makeRig();
		const agents = { dev: commanded(), quick: coder };
		const tasks = { a: plain({ agent: 'quick' }), b: plain({ depends_on: ['a'] }), c: plain({ depends_on: ['a'] }) };
		rig.workflow({ agents, tasks, max_parallel: 1 });
		expect((await rig.sdd('run', 'w.yaml', '--step')).code).toBe(4);
		rig.workflow({ agents, tasks: { a: plain({ agent: 'quick' }) }, max_parallel: 7 });
		const run = rig.start(['run', 'w.yaml', how]);
		(await rig.call('b/coder', run)).answer();
		const last = await rig.call('c/coder', run);
		const kinds = rig.events().map(({ kind, task }) => `${kind} ${task}`);
		expect(kinds.indexOf('task_completed b')).toBeLessThan(kinds.indexOf('task_started c'));
		expect(kinds).toContain('task_completed b');
		last.answer();
		expect((await run.ended).code).toBe(0);
	});

	test('a finished run is over: the next one is new, and the logs of the old one are put aside', async () => {
		const rig = await withTasks({ a: reviewed('a') }, {}, { rev: reviewerGoingAt(1) });
		await rig.sdd('run', 'w.yaml');
		await rig.sdd('run', 'w.yaml');
		const [first, second] = rig.runs();
		expect(rig.json('.ai-sdd/state/review-logs/a.json')).toMatchObject({ run_id: second });
		expect(rig.json(`.ai-sdd/state/review-logs/archive/${first}/a.json`)).toMatchObject({
			run_id: first,
			final_decision: 'GO',
		});
		expect((await rig.sdd('audit', 'verify')).code).toBe(0);
	});

	test('--json prints one event a line, and the result last', async () => {
		const rig = await withTasks({ a: reviewed('a') }, {}, { rev: reviewerGoingAt(2) });
		const { stdout, stderr } = await rig.sdd('run', 'w.yaml', '--json');
		const lines = ndjson(stdout);
		expect(lines[0]).toMatchObject({ kind: 'run_started' });
		expect(lines.at(-1)).toEqual({
			kind: 'result',
			run: rig.runs()[0],
			ending: 'completed',
			exit: 0,
			head: rig.events().at(-1)?.['hash'],
		});
		expect(lines.filter(({ kind }) => kind === 'verdict')).toHaveLength(4);
		expect(stderr).toBe('');
	});

	test('--quiet says only which tasks failed, and why', async () => {
		const rig = await withTasks({ a: plain(), b: plain() }, {}, { dev: shell('[ $SDD_TASK_ID = a ] || exit 3') });
		const { code, stdout, stderr } = await rig.sdd('run', 'w.yaml', '--quiet');
		expect([code, stdout]).toEqual([1, '']);
		expect(stderr).toBe('error: b failed: agent "dev" exited with code 3\n');
	});

	test('--quiet says nothing, --plain says it in plain lines', async () => {
		const rig = await withTasks({ a: plain() });
		expect(await rig.sdd('run', 'w.yaml', '--quiet')).toMatchObject({ code: 0, stdout: '', stderr: '' });
		const { stdout } = await rig.sdd('run', 'w.yaml', '--plain');
		expect(stdout).toContain('attempt 1: dev works');
		expect(stdout).toMatch(/run \S+, journal head [0-9a-f]{64}/);
		expect(stdout).not.toContain('\u001b');
	});

	test('--stubs puts scripted replies in the place of every agent', async () => {
		const rig = await withTasks({ a: reviewed('a') }, {}, { dev: shell('exit 1'), rev: shell('exit 1') });
		const replies = {
			'a/coder': { text: 'did it', files: { 'a.txt': 'stubbed' } },
			rev: '{"decision": "GO", "feedback": "x"}',
		};
		rig.write('stubs.yaml', JSON.stringify(replies));
		const { code, stdout } = await rig.sdd('run', 'w.yaml', '--stubs', 'stubs.yaml');
		expect(stdout).toContain('agentic_review: GO x');
		expect(code).toBe(0);
		expect(rig.read('a.txt')).toBe('stubbed');
		expect((await rig.sdd('run', 'w.yaml', '--stubs', 'absent.yaml')).stderr).toContain('STUBS_NOT_FOUND');
	});

	test('--stubs with a file that cannot be used begins no run', async () => {
		const rig = await withTasks({ a: plain() });
		rig.write('stubs.yaml', 'a: { exit: no }\n');
		const { code, stderr } = await rig.sdd('run', 'w.yaml', '--stubs', 'stubs.yaml');
		expect(code).toBe(2);
		expect(stderr).toContain('stubs.yaml:1:12 error: exit must be a whole number from 0 to 255 [SCRIPT_INVALID]');
		expect(rig.has('.ai-sdd/state')).toBe(false);
	});

	test('--developer-prompt and --reviewer-prompt replace the briefs; a missing one is an error at the start', async () => {
		const rig = await withTasks({ a: reviewed('a') }, {}, { rev: reviewerGoingAt(1) });
		rig.write('dev.hbs', 'DEV {{task.id}}');
		rig.write('rev.hbs', 'REV {{task.id}}\n\n{{contract}}');
		expect((await rig.sdd('run', 'w.yaml', '--developer-prompt', 'dev.hbs', '--reviewer-prompt=rev.hbs')).code).toBe(0);
		expect(rig.seen('a.coder.1')).toContain('DEV a');
		expect(rig.seen('a.reviewer.1')).toContain('REV a');
		for (const option of ['--developer-prompt', '--reviewer-prompt']) {
			const { code, stderr } = await rig.sdd('run', 'w.yaml', option, 'absent.hbs');
			expect(code).toBe(2);
			expect(stderr).toContain('absent.hbs');
		}
		expect(rig.runs()).toHaveLength(1);
	});

	test('--review-max-fix-attempts n means n fixes and n + 1 reviews', async () => {
		const rig = await withTasks({ a: reviewed('a', { max_iterations: 1 }) }, {}, { rev: reviewerGoingAt(9) });
		expect((await rig.sdd('run', 'w.yaml', '--review-max-fix-attempts', '2')).code).toBe(3);
		expect(rig.json('.ai-sdd/state/review-logs/a.json')['iterations']).toHaveLength(3);
	});
});

test('a reader that goes away does not stop the run', async () => {
	const rig = await withTasks({ a: plain(), b: plain({ depends_on: ['a'] }) });
	const wrap = ['bash', '-c', '"$@" | head -n 1; exit $PIPESTATUS', 'bash'];
	const { code, stderr } = await rig.sddWith({ wrap }, 'run', 'w.yaml');
	expect([code, stderr]).toEqual([0, '']);
	expect(statuses(rig)).toEqual({ a: 'COMPLETED', b: 'COMPLETED' });
});
