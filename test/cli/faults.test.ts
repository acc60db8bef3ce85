/** Agents, disks and clocks that misbehave: a clear failure, bounded memory, never a torn file, nothing left running. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { coder, commanded, type Data, makeRig, openItems, type Rig, reviewed, reviewerGoingAt, shell } from '../rig.ts';

const plain = (more: Data = {}): Data => ({ agent: 'dev', description: 'x', ...more });

async function projectOf(dev: Data, more: Data = {}): Promise<Rig> {
	const rig = await makeRig();
	rig.workflow({ agents: { dev, ok: coder }, tasks: { a: plain(more), other: plain({ agent: 'ok' }) } });
	return rig;
}

/** The task fails with this code and words, the other one is done, and nothing is left. */
async function failsWith(rig: Rig, code: string, words: string): Promise<void> {
	const end = await rig.sdd('run', 'w.yaml');
	expect(end.code).toBe(1);
	const failure = rig.events().find(({ kind }) => kind === 'task_failed');
	expect(failure).toMatchObject({ task: 'a', code });
	expect(failure?.['reason']).toContain(words);
	expect(end.stdout).toContain('1 failed');
	expect(end.stdout).toContain('1 done');
	expect(end.stdout + end.stderr).not.toContain('    at ');
	expect(rig.leftovers()).toEqual([]);
	expect((await rig.sdd('audit', 'verify')).code).toBe(0);
}

describe('an agent', () => {
	test('that is not there', async () => {
		await failsWith(
			await projectOf({ adapter: 'command', run: ['./absent'] }),
			'AGENT_NOT_FOUND',
			'agent "dev" was not found',
		);
	});

	test('that is not there, for the shell', async () => {
		await failsWith(await projectOf({ adapter: 'command', run: 'no-such-program --x' }), 'AGENT_EXIT', 'not');
	});

	test('that is not executable', async () => {
		const rig = await projectOf({ adapter: 'command', run: ['./plain.txt'] });
		rig.write('plain.txt', 'no program');
		await failsWith(rig, 'AGENT_NOT_EXECUTABLE', 'agent "dev" cannot be executed');
	});

	test('that exits with an error: its last words are in the reason', async () => {
		await failsWith(
			await projectOf(shell('echo "no key" >&2', 'exit 4')),
			'AGENT_EXIT',
			'exited with code 4; the last it wrote to stderr:\nno key',
		);
	});

	test('that kills itself', async () => {
		await failsWith(await projectOf(shell('kill -9 $$')), 'AGENT_KILLED', 'was killed by SIGKILL');
	});

	test('that hangs is ended after its time', async () => {
		await failsWith(
			await projectOf(shell('sleep 1000'), { timeout: '200ms' }),
			'AGENT_TIMEOUT',
			'was still running after 200ms',
		);
	});

	test('that floods stdout with 200 MB is stopped, and memory stays bounded', async () => {
		const rig = await projectOf(shell('head -c 209715200 /dev/zero | tr "\\0" y'));
		const limited = { wrap: ['/bin/sh', '-c', 'exec "$@"', 'sh'], env: { NODE_OPTIONS: '--max-old-space-size=64' } };
		const { code } = await rig.sddWith(limited, 'run', 'w.yaml');
		expect(code).toBe(1);
		const failure = rig.events().find(({ kind }) => kind === 'task_failed');
		expect(failure).toMatchObject({ code: 'AGENT_FLOOD' });
		expect(failure?.['reason']).toContain('wrote more than 67,108,864 bytes');
		expect(rig.leftovers()).toEqual([]);
	});

	test('that prints invalid UTF-8 is understood as far as it goes', async () => {
		const rig = await projectOf(shell('printf "a\\377\\376b\\n"'));
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		const finished = rig.events().find(({ kind, task }) => kind === 'attempt_finished' && task === 'a');
		expect(finished).toMatchObject({
			output: { text: expect.stringMatching(/^\[sdd: this output is not valid UTF-8.*\]\na\ufffd\ufffdb\n$/) },
		});
		expect((await rig.sdd('audit', 'verify')).code).toBe(0);
		expect((await rig.sdd('logs', 'a')).code).toBe(0);
	});

	test('that leaves children and a daemon behind: nothing is left running', async () => {
		const rig = await projectOf(shell('sleep 1000 &', 'setsid sleep 1001 > /dev/null 2>&1 &', 'echo done'));
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		expect(rig.leftovers()).toEqual([]);
	});

	test('that leaves out a declared output, or puts it elsewhere by a link', async () => {
		await failsWith(
			await projectOf(shell('true'), { outputs: ['never.txt'] }),
			'OUTPUT_MISSING',
			'declared outputs that are not there: never.txt',
		);
		const rig = await projectOf(shell('ln -s ../home/x out.txt', 'echo y > ../home/x'), { outputs: ['out.txt'] });
		await failsWith(rig, 'OUTPUT_REFUSED', 'out.txt: leads out of the project');
	});

	test('that removes the state of its own run', async () => {
		const rig = await projectOf(shell('rm -rf .ai-sdd/state/runs'));
		const { code, stderr } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(1);
		expect(stderr).toContain('error: ');
		expect(stderr).not.toContain('    at ');
	});
});

describe('the state folder', () => {
	test('.ai-sdd as a file is said, and left alone', async () => {
		const rig = await makeRig();
		rmSync(join(rig.dir, '.ai-sdd'), { recursive: true });
		rig.write('.ai-sdd', 'mine');
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain() } });
		const { code, stderr } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(2);
		expect(stderr).toMatch(/a file is in the way of a folder .*\[STORE_NOT_A_FOLDER\]/);
		expect(rig.read('.ai-sdd')).toBe('mine');
	});

	test('state, runs or hil as a file is said, without a trace', async () => {
		for (const [path, said] of [
			['state', 'STORE_NOT_A_FOLDER'],
			['state/runs', 'STORE_'],
			['state/hil', 'STORE_'],
		] as const) {
			const rig = await makeRig();
			rig.write(`.ai-sdd/${path}`, 'in the way');
			rig.workflow({ agents: { dev: coder }, tasks: { a: plain({ overlays: { hil: { enabled: true } } }) } });
			const { code, stderr } = await rig.sdd('run', 'w.yaml');
			expect([1, 2]).toContain(code);
			expect(stderr).toContain(said);
			expect(stderr).not.toContain('    at ');
		}
	});

	test('a state folder that cannot be written is said (where the system holds us to it)', async ({ skip }) => {
		if (process.getuid?.() === 0) skip('root may write anywhere');
		const rig = await makeRig();
		mkdirSync(join(rig.dir, '.ai-sdd/state'), { mode: 0o500 });
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain() } });
		const { code, stderr } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(1);
		expect(stderr).toContain('STORE_READ_ONLY');
	});

	test('files that may not grow: no torn file, and the run goes on when there is room again', async () => {
		const rig = await makeRig();
		const dev = shell('echo "attempt $SDD_ATTEMPT" > "$SDD_TASK_ID.txt"', 'head -c 3000 /dev/zero | tr "\\0" x');
		const tasks = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((id) => [id, reviewed(id)]));
		rig.workflow({ agents: { dev, rev: reviewerGoingAt(2) }, tasks, max_parallel: 1 });
		// 24 KiB a file; with SIGXFSZ caught a write fails with EFBIG, as one to a full disk does.
		const wrap = ['bash', '-c', 'ulimit -f 24; exec "$@"', 'bash'];
		writeFileSync(join(rig.outer, 'catch.cjs'), "process.on('SIGXFSZ', () => {});");
		const env = { NODE_OPTIONS: `--require ${join(rig.outer, 'catch.cjs')}` };
		const full = await rig.sddWith({ wrap, env }, 'run', 'w.yaml');
		expect(full.code).toBe(1);
		expect(full.stderr).toMatch(/error: .*\[STORE_(DISK_FULL|IO)\]/);
		expect(full.stderr).not.toContain('    at ');
		expect(rig.leftovers()).toEqual([]);
		expect((await rig.sdd('audit', 'verify')).code).toBe(0);
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		for (const id of Object.keys(tasks))
			expect(rig.json(`.ai-sdd/state/review-logs/${id}.json`)).toMatchObject({ final_decision: 'GO' });
		expect((await rig.sdd('audit', 'verify')).code).toBe(0);
	});

	test('too many open files: the agents are ended, and the run goes on with fewer at once', async () => {
		const rig = await makeRig();
		const tasks = Object.fromEntries([...Array(40).keys()].map((n) => [`t${n}`, plain()]));
		rig.workflow({ agents: { dev: shell('trap "" TERM', 'sleep 0.3') }, tasks });
		const wrap = ['bash', '-c', 'ulimit -n 64; exec "$@"', 'bash'];
		const few = await rig.sddWith({ wrap }, 'run', 'w.yaml', '--max-parallel', '40');
		expect(few.code).toBe(1);
		expect(few.stderr).toContain('too many files are open (EMFILE) [STORE_IO]');
		expect(few.stderr).not.toContain('PromiseRejection');
		expect(rig.leftovers()).toEqual([]);
		expect((await rig.sddWith({ wrap }, 'run', 'w.yaml', '--max-parallel', '8')).code).toBe(0);
		expect((await rig.sdd('audit', 'verify')).code).toBe(0);
	});

	test('a second sdd run says who is at work, and touches nothing', async () => {
		const rig = await makeRig();
		rig.workflow({ agents: { dev: commanded() }, tasks: { a: plain() } });
		const first = rig.start(['run', 'w.yaml']);
		const work = await rig.call('a/coder', first);
		for (const more of [[], ['--fresh']]) {
			const { code, stderr } = await rig.sdd('run', 'w.yaml', ...more);
			expect(code).toBe(1);
			expect(stderr).toContain(`another sdd run is at work in this project: process ${first.pid} on `);
			expect(stderr).toContain('[RUN_LOCKED]');
			expect(stderr).toContain(`kill ${first.pid}`);
		}
		work.answer();
		expect((await first.ended).code).toBe(0);
		expect(rig.runs()).toHaveLength(1);
		expect((await rig.sdd('audit', 'verify')).code).toBe(0);
	});
});

describe('a user who is only a number, as in a container', () => {
	test('runs and decides, and is recorded by that number', async () => {
		const rig = await makeRig();
		writeFileSync(join(rig.outer, 'nobody.cjs'), NOBODY);
		const env = { NODE_OPTIONS: `--require ${join(rig.outer, 'nobody.cjs')}`, HOME: '', USER: '' };
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain({ overlays: { hil: { enabled: true } } }) } });
		expect((await rig.sddWith({ env }, 'run', 'w.yaml')).code).toBe(3);
		const [id = ''] = await openItems(rig);
		expect((await rig.sddWith({ env }, 'hil', 'ack', id)).code).toBe(0);
		const uid = `uid ${process.getuid?.()}`;
		expect((await rig.sddWith({ env }, 'hil', 'accept', id)).stdout).toContain(`accept by ${uid}.`);
		expect((await rig.sddWith({ env }, 'run', 'w.yaml')).code).toBe(0);
		expect(rig.events().find(({ kind }) => kind === 'run_started')).toMatchObject({ by: uid });
		expect((await rig.sddWith({ env }, 'constitution')).code).toBe(0);
	});
});

/** What Node does where the user id has no entry in the list of users. */
const NOBODY = `const os = require('node:os');
for (const name of ['userInfo', 'homedir']) os[name] = () => { throw new Error('ENOENT'); };
`;

describe('the clock', () => {
	test('going back an hour between two processes: the run goes on, and the audit is sound', async () => {
		const rig = await makeRig();
		writeFileSync(join(rig.outer, 'back.cjs'), CLOCK);
		rig.workflow({
			agents: { dev: coder, rev: reviewerGoingAt(2) },
			tasks: { a: reviewed('a'), b: reviewed('b', {}, { depends_on: ['a'] }) },
		});
		expect((await rig.sdd('run', 'w.yaml', '--step')).code).toBe(4);
		const back = { env: { NODE_OPTIONS: `--require ${join(rig.outer, 'back.cjs')}` } };
		expect((await rig.sddWith(back, 'run', 'w.yaml')).code).toBe(0);
		expect(rig.json('.ai-sdd/state/review-logs/b.json')).toMatchObject({ final_decision: 'GO' });
		expect((await rig.sdd('audit', 'verify')).code).toBe(0);
		const times = rig.events().map(({ at }) => String(at));
		expect([...times].sort()).toEqual(times);
	});

	test('a run that begins in the past of the last one is still the newest', async () => {
		const rig = await makeRig();
		writeFileSync(join(rig.outer, 'back.cjs'), CLOCK);
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain(), b: plain({ depends_on: ['a'] }) } });
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		const back = { env: { NODE_OPTIONS: `--require ${join(rig.outer, 'back.cjs')}` } };
		expect((await rig.sddWith(back, 'run', 'w.yaml', '--step')).code).toBe(4);
		expect((await rig.sddWith(back, 'run', 'w.yaml')).code).toBe(0);
		expect(rig.runs()).toHaveLength(2);
	});
});

/** Puts the clock of a process back by an hour. */
const CLOCK = `const Real = Date;
const HOUR = 3_600_000;
globalThis.Date = class extends Real {
	constructor(...args) { args.length === 0 ? super(Real.now() - HOUR) : super(...args); }
	static now() { return Real.now() - HOUR; }
};
`;
