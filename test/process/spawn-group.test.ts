import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isGone } from '../../engine/process/groups.ts';
import { type ProcessEnd, type ProcessRequest, runProcess } from '../../engine/process/spawn-group.ts';

let dir = '';
beforeEach(() => {
	dir = mkdtempSync(join(tmpdir(), 'sdd-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const modulePath = join(import.meta.dirname, '../../engine/process/spawn-group.ts');
const env = { PATH: process.env['PATH'] ?? '' };

function run(command: readonly string[] | string, more: Partial<ProcessRequest> = {}): Promise<ProcessEnd> {
	const files = { stdoutPath: join(dir, 'out'), stderrPath: join(dir, 'err') };
	return runProcess({ command, cwd: dir, env, stdin: null, timeoutMs: 30_000, graceMs: 300, ...files, ...more });
}

const out = () => readFileSync(join(dir, 'out'), 'utf8');

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
	} catch {
		return false;
	}
}

/** Waits for a file that a child writes when it is ready. */
async function contentOf(name: string): Promise<string> {
	const file = join(dir, name);
	await isGone(() => !existsSync(file) || statSync(file).size === 0, 10_000);
	return readFileSync(file, 'utf8').trim();
}

describe('a process that ends by itself', () => {
	it('gives its exit code and the size of what it wrote', async () => {
		const end = await run(['sh', '-c', 'echo hello; echo oops >&2; exit 3']);
		expect(end).toMatchObject({ exit: 3, signal: null, ended: 'exit', reason: null, stdoutBytes: 6, stderrBytes: 5 });
		expect(end.ms).toBeGreaterThan(0);
		expect(out()).toBe('hello\n');
	});

	it('that is killed by a signal names the signal', async () => {
		expect(await run(['sh', '-c', 'kill -9 $$'])).toMatchObject({ exit: null, signal: 'SIGKILL', ended: 'exit' });
	});

	it('reads 5 MB of input from a file', async () => {
		writeFileSync(join(dir, 'in'), 'x'.repeat(5_000_000));
		await run(['wc', '-c'], { stdin: join(dir, 'in') });
		expect(out().trim()).toBe('5000000');
	});

	it('has no input when it is given none', async () => {
		expect(await run(['cat'])).toMatchObject({ exit: 0, stdoutBytes: 0 });
	});

	it('may send both outputs into one file', async () => {
		const end = await run('echo a; echo b >&2; echo c', { stderrPath: join(dir, 'out') });
		expect(out()).toBe('a\nb\nc\n');
		expect(end).toMatchObject({ stdoutBytes: 6, stderrBytes: 0 });
	});

	it('gets only the environment it is given, and the mark by which its strays are found', async () => {
		await run(['env'], { env: { ...env, ONLY: 'this' } });
		const others = out()
			.trim()
			.split('\n')
			.filter((line) => !line.startsWith('PATH='));
		expect(others).toEqual(['ONLY=this', expect.stringMatching(/^SDD_PROCESS=[0-9a-f-]{36}-\d+$/)]);
	});

	it('takes arguments literally, whatever is in them', async () => {
		await run(['printf', '%s', '$(touch hacked); `touch hacked`']);
		expect(out()).toBe('$(touch hacked); `touch hacked`');
		expect(existsSync(join(dir, 'hacked'))).toBe(false);
	});

	it('is run by the shell when the command is a string', async () => {
		await run('echo one | tr a-z A-Z');
		expect(out()).toBe('ONE\n');
	});
});

describe('a process that cannot be started', () => {
	it.each<[string, readonly string[], string, string]>([
		['a bare name', ['no-such-agent'], 'not_found', '"no-such-agent" was not found on the PATH'],
		['a relative path', ['./no-such.sh'], 'not_found', '"./no-such.sh" does not exist in DIR'],
		['a folder', ['./folder'], 'not_executable', '"./folder" is a folder'],
		['a file without the bit', ['./plain.sh'], 'not_executable', '"./plain.sh" is not executable (chmod +x)'],
		[
			'an interpreter that is missing',
			['./odd.sh'],
			'not_found',
			'"./odd.sh" names an interpreter that does not exist: /no/such/interpreter',
		],
		[
			'an interpreter that is no program',
			['./worse.sh'],
			'not_executable',
			'"./worse.sh" or the interpreter in its first line may not be executed',
		],
	])('%s: says why', async (_, command, ended, reason) => {
		mkdirSync(join(dir, 'folder'));
		writeFileSync(join(dir, 'plain.sh'), '#!/bin/sh\n');
		writeFileSync(join(dir, 'odd.sh'), '#!/no/such/interpreter\n');
		writeFileSync(join(dir, 'worse.sh'), `#!${dir}/plain.sh\n`);
		chmodSync(join(dir, 'odd.sh'), 0o755);
		chmodSync(join(dir, 'worse.sh'), 0o755);
		expect(await run(command)).toMatchObject({ exit: null, ended, reason: reason.replace('DIR', dir) });
	});

	it('says that the working directory does not exist', async () => {
		const end = await run(['true'], { cwd: join(dir, 'gone') });
		expect(end).toMatchObject({ ended: 'spawn_failed', reason: `the working directory ${dir}/gone does not exist` });
	});

	it('says that the working directory is not a folder', async () => {
		writeFileSync(join(dir, 'file'), '');
		const end = await run(['true'], { cwd: join(dir, 'file') });
		expect(end).toMatchObject({ ended: 'spawn_failed', reason: `the working directory ${dir}/file is not a folder` });
	});

	it('says that its files could not be opened', async () => {
		const end = await run(['true'], { stdin: join(dir, 'no-brief') });
		expect(end.ended).toBe('spawn_failed');
		expect(end.reason).toMatch(/^its files could not be opened: ENOENT/);
	});

	it('says what node said of an argument that no process can take', async () => {
		const end = await run(['echo', 'a\0b']);
		expect(end.ended).toBe('spawn_failed');
		expect(end.reason).toMatch(/^"echo" could not be started: /);
	});

	it('by the shell: 127 and 126 are explained', async () => {
		writeFileSync(join(dir, 'plain.sh'), '');
		expect(await run('no-such-agent')).toMatchObject({
			exit: 127,
			ended: 'exit',
			reason: 'the shell found no such command (exit 127)',
		});
		expect((await run('./plain.sh')).reason).toBe('the shell found the command but may not run it (exit 126)');
	});
});

describe('a process that does not end', () => {
	it('is ended by SIGTERM at its time limit', async () => {
		expect(await run(['sleep', '60'], { timeoutMs: 50 })).toMatchObject({ ended: 'timeout', signal: 'SIGTERM' });
	});

	it('is killed when it ignores SIGTERM for longer than the grace', async () => {
		const end = await run(`trap '' TERM; while :; do sleep 0.05; done`, { timeoutMs: 100, graceMs: 100 });
		expect(end).toMatchObject({ ended: 'timeout', signal: 'SIGKILL' });
	});

	it('is ended when it is cancelled', async () => {
		const stop = new AbortController();
		const ending = run('echo ready > ready; exec sleep 60', { signal: stop.signal });
		await contentOf('ready');
		stop.abort();
		expect(await ending).toMatchObject({ ended: 'cancelled', signal: 'SIGTERM' });
	});

	it('is not started at all when it is already cancelled', async () => {
		const end = await run('touch started', { signal: AbortSignal.abort() });
		expect(end).toMatchObject({ ended: 'cancelled', exit: null, reason: 'cancelled before it was started' });
		expect(existsSync(join(dir, 'started'))).toBe(false);
	});
});

describe('nothing is left running', () => {
	it('a child in the background ends with the process that started it', async () => {
		const end = await run('sleep 60 & echo $! > pid');
		expect(end).toMatchObject({ exit: 0, ended: 'exit' });
		expect(isAlive(Number(await contentOf('pid')))).toBe(false);
	});

	it('a child that ignores SIGTERM is killed after the grace', async () => {
		await run(
			`sh -c "trap '' TERM; echo \\$\\$ > pid; while :; do sleep 0.05; done" & while ! test -s pid; do :; done`,
			{
				graceMs: 50,
			},
		);
		expect(isAlive(Number(await contentOf('pid')))).toBe(false);
	});

	it('the children of a process that ran out of time end with it', async () => {
		await run('sleep 60 & echo $! > pid; wait', { timeoutMs: 100 });
		expect(isAlive(Number(await contentOf('pid')))).toBe(false);
	});

	it.runIf(process.platform === 'linux')(
		'a daemon that left the group ends with the process it came from',
		async () => {
			const end = await run(`setsid sh -c 'echo $$ > pid; exec sleep 60' & while ! test -s pid; do :; done`);
			expect(end).toMatchObject({ exit: 0, ended: 'exit' });
			expect(isAlive(Number(await contentOf('pid')))).toBe(false);
		},
	);

	it.runIf(process.platform === 'linux')('what other processes started is left alone', async () => {
		const other = run(`setsid sh -c 'echo $$ > other; exec sleep 60' & while ! test -e go; do sleep 0.02; done`, {
			stdoutPath: join(dir, 'out2'),
			stderrPath: join(dir, 'err2'),
		});
		const daemon = Number(await contentOf('other'));
		await run('setsid sleep 60 & true');
		expect(isAlive(daemon)).toBe(true);
		writeFileSync(join(dir, 'go'), '');
		await other;
		expect(isAlive(daemon)).toBe(false);
	});

	it('when the process that started it all exits in the middle', async () => {
		const parent = `
			import { createJiti } from ${JSON.stringify(import.meta.resolve('jiti'))};
			import { existsSync } from 'node:fs';
			const { runProcess } = await createJiti(import.meta.url).import(${JSON.stringify(modulePath)});
			const files = { stdin: null, stdoutPath: 'o', stderrPath: 'e' };
			runProcess({ command: 'echo $$ > pid; exec sleep 60', cwd: '.', env: process.env, timeoutMs: 60000, ...files });
			setInterval(() => existsSync('pid') && process.exit(7), 5);
		`;
		writeFileSync(join(dir, 'parent.mjs'), parent);
		expect(await run([process.execPath, 'parent.mjs'])).toMatchObject({ exit: 7 });
		const pid = Number(await contentOf('pid'));
		expect(await isGone(() => isAlive(pid), 5000)).toBe(true);
	});
});

describe('a flood', () => {
	it('of 200 MB is stopped at the limit without passing through our memory', async () => {
		const before = process.memoryUsage.rss();
		const end = await run('yes | head -c 200000000; sleep 60', { maxOutputBytes: 4_000_000 });
		expect(end.ended).toBe('flooded');
		expect(end.stdoutBytes).toBeGreaterThan(4_000_000);
		expect(statSync(join(dir, 'out')).size).toBe(4_000_000);
		expect(process.memoryUsage.rss() - before).toBeLessThan(50_000_000);
	});

	it.runIf(process.platform === 'linux')('by a daemon does not go on after the process has ended', async () => {
		const end = await run('setsid yes & while ! test -s out; do :; done', { maxOutputBytes: 4_000_000 });
		const size = statSync(join(dir, 'out')).size;
		expect(size).toBeLessThanOrEqual(4_000_000);
		expect(end.stdoutBytes).toBeGreaterThanOrEqual(size);
		await new Promise((resolve) => setImmediate(resolve));
		expect(statSync(join(dir, 'out')).size).toBe(size);
	});

	it('that is over before anyone looks is noticed at the end', async () => {
		const end = await run('head -c 2000 /dev/zero; head -c 2000 /dev/zero >&2', { maxOutputBytes: 3999 });
		expect(end).toMatchObject({ ended: 'flooded', exit: 0, stdoutBytes: 2000, stderrBytes: 2000 });
	});
});

it('forty processes at once share one signal, keep apart, and warn of no leak', async () => {
	const warnings: Error[] = [];
	const note = (warning: Error) => warnings.push(warning);
	process.on('warning', note);
	const { signal } = new AbortController();
	const ends = await Promise.all(
		Array.from({ length: 40 }, (_, n) =>
			run(['sh', '-c', `echo ${n}; exit ${n}`], {
				signal,
				stdoutPath: join(dir, `out${n}`),
				stderrPath: join(dir, `err${n}`),
			}),
		),
	);
	await new Promise((resolve) => setImmediate(resolve));
	process.off('warning', note);
	expect(ends.map((end) => end.exit)).toEqual(Array.from({ length: 40 }, (_, n) => n));
	expect(readFileSync(join(dir, 'out39'), 'utf8')).toBe('39\n');
	expect(warnings).toEqual([]);
});
