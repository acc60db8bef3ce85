import { createHash } from 'node:crypto';
import {
	chmodSync,
	existsSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fileNameFor } from '../../agents/agent-files.ts';
import { type CommandSettings, createCommandAdapter } from '../../agents/command.ts';
import type { AgentOutcome, AgentRequest } from '../../engine/agent.ts';
import { isGone, statOf } from '../../engine/process/groups.ts';
import { maskFile } from '../../engine/store/mask-file.ts';
import { anAgent, aRequest } from './request.ts';

let dir = '';
beforeEach(() => {
	dir = mkdtempSync(join(tmpdir(), 'sdd-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function run(
	command: readonly string[] | string | null,
	more: Partial<AgentRequest> = {},
	settings: CommandSettings = {},
): Promise<AgentOutcome> {
	const adapter = createCommandAdapter({ graceMs: 200, ...settings });
	return adapter.run(aRequest(dir, anAgent({ run: command }), more));
}

function textOf(outcome: AgentOutcome): string | undefined {
	return outcome.output?.text;
}

describe('an agent that succeeds', () => {
	it('gets its brief on stdin, and its stdout is its output', async () => {
		const outcome = await run(['tr', 'a-z', 'A-Z']);
		const sha256 = createHash('sha256').update('DO IT.\n').digest('hex');
		const output = { text: 'DO IT.\n', bytes: 7, sha256, file: 'agents/implement@1.stdout.txt' };
		expect(outcome).toEqual({ ok: true, output, usage: null, ms: expect.any(Number) });
		expect(readFileSync(join(dir, 'agents/briefs.ndjson'), 'utf8')).toBe(
			'{"key":"implement#1","prompt":"Do it.\\n"}\n',
		);
		expect(readFileSync(join(dir, 'agents/implement@1.stdout.txt'), 'utf8')).toBe('DO IT.\n');
	});

	it('reads a brief of 5 MB', async () => {
		expect(textOf(await run(['wc', '-c'], { prompt: 'x'.repeat(5_000_000) }))?.trim()).toBe('5000000');
	});

	it('may ignore its brief', async () => {
		expect((await run(['true'], { prompt: 'x'.repeat(5_000_000) })).ok).toBe(true);
	});

	it('is found relative to its working directory, not to ours', async () => {
		writeFileSync(join(dir, 'agent.sh'), '#!/bin/sh\npwd\n');
		chmodSync(join(dir, 'agent.sh'), 0o755);
		expect(textOf(await run(['./agent.sh']))?.trim()).toBe(dir);
	});

	it('never has data in a shell string: the brief is only ever input', async () => {
		expect(textOf(await run('cat', { prompt: '$(touch hacked)' }))).toBe('$(touch hacked)');
		expect(existsSync(join(dir, 'hacked'))).toBe(false);
	});

	it('that is run again under the same key replaces what the first run left', async () => {
		await run(['echo', 'a long first output']);
		expect(textOf(await run(['echo', 'second'], { prompt: 'new' }))).toBe('second\n');
		expect(readFileSync(join(dir, 'agents/implement@1.stdout.txt'), 'utf8')).toBe('second\n');
	});

	it('is kept apart from twenty others that run at the same time', async () => {
		const all = Array.from({ length: 20 }, (_, n) => run('cat; sleep 0.01', { key: `t${n}#1`, prompt: `brief ${n}` }));
		expect((await Promise.all(all)).map(textOf)).toEqual(Array.from({ length: 20 }, (_, n) => `brief ${n}`));
	});
});

describe('output', () => {
	it('beyond what is kept is cut, with a line that says so; its digest is of the whole', async () => {
		const { output } = await run(`head -c 60000 /dev/zero | tr '\\0' x`);
		expect(output?.text).toBe(`${'x'.repeat(50_000)}\n[... 10,000 characters cut by sdd; 60,000 in all]`);
		expect(output?.bytes).toBe(60_000);
		expect(output?.sha256).toBe(createHash('sha256').update('x'.repeat(60_000)).digest('hex'));
	});

	it('that is not UTF-8 is readable where it can be, and says so', async () => {
		const { ok, output } = await run(`printf 'a\\377b'`);
		expect(ok).toBe(true);
		expect(output?.text).toBe(
			'[sdd: this output is not valid UTF-8; what could not be read stands as \uFFFD]\na\uFFFDb',
		);
		expect(output?.bytes).toBe(3);
	});

	it('whose kept part ends in the middle of a character is not taken for broken', async () => {
		const { output } = await run([process.execPath, '-e', 'process.stdout.write("é".repeat(100))'], { keep: 10 });
		expect(output?.text).toBe(`${'é'.repeat(10)}\n[... the rest cut by sdd; 200 bytes in all]`);
	});

	it('of 40 MB does not stay in memory', async () => {
		const before = process.memoryUsage.rss();
		const { ok, output } = await run('head -c 40000000 /dev/zero');
		expect(ok).toBe(true);
		expect(output?.bytes).toBe(40_000_000);
		expect(process.memoryUsage.rss() - before).toBeLessThan(30_000_000);
	});

	it('is masked before anything reads it, and the digest is of what lies there', async () => {
		const mask = (path: string) => maskFile(path, ['s3cret-value']);
		const outcome = await run('echo "key s3cret-value"; echo "oh s3cret-value" >&2; exit 2', {}, { mask });
		expect(outcome.output?.text).toBe('key ************\n');
		expect(outcome.output?.sha256).toBe(createHash('sha256').update('key ************\n').digest('hex'));
		expect(outcome).toMatchObject({ reason: expect.stringContaining('oh ************') });
		const files = readdirSync(join(dir, 'agents')).map((name) => readFileSync(join(dir, 'agents', name), 'utf8'));
		expect(files.join()).not.toContain('s3cret-value');
	});
});

describe('an agent that fails', () => {
	it('by its exit code is a failure whatever it printed, with the end of its stderr', async () => {
		const outcome = await run(`echo '{"decision": "GO"}'; echo first >&2; echo boom >&2; exit 3`);
		expect(outcome).toMatchObject({
			ok: false,
			code: 'AGENT_EXIT',
			reason: 'agent "dev" exited with code 3; the last it wrote to stderr:\nfirst\nboom',
			output: { text: '{"decision": "GO"}\n' },
		});
	});

	it('and says much on stderr is quoted with its last lines only', async () => {
		const outcome = await run('seq 1 5000 >&2; exit 1');
		const lines = Array.from({ length: 15 }, (_, n) => 4986 + n).join('\n');
		expect(outcome).toMatchObject({
			reason: `agent "dev" exited with code 1; the last it wrote to stderr:\n${lines}`,
		});
	});

	it('and says nothing has a reason all the same', async () => {
		expect(await run(['false'])).toMatchObject({ code: 'AGENT_EXIT', reason: 'agent "dev" exited with code 1' });
	});

	it('as the shell did not find its command', async () => {
		const outcome = await run('no-such-agent 2>/dev/null');
		expect(outcome).toMatchObject({
			code: 'AGENT_EXIT',
			reason: 'agent "dev" failed: the shell found no such command (exit 127)',
		});
	});

	it('by a signal', async () => {
		expect(await run('kill -9 $$')).toMatchObject({
			code: 'AGENT_KILLED',
			reason: 'agent "dev" was killed by SIGKILL',
		});
	});

	it('by hanging: it is ended at its time limit, with its children', async () => {
		const outcome = await run('sleep 60 & echo $! > pid; echo stuck >&2; wait', { timeoutMs: 200 });
		expect(outcome).toMatchObject({
			code: 'AGENT_TIMEOUT',
			reason: 'agent "dev" was still running after 200ms and was ended; the last it wrote to stderr:\nstuck',
		});
		const pid = Number(readFileSync(join(dir, 'pid'), 'utf8'));
		// A zombie has ended too: who reaps it is not our business.
		expect([undefined, 'Z', 'X']).toContain(statOf(pid)?.state);
	});

	it('by a flood: what is kept is no more than it may write', async () => {
		const outcome = await run('yes | head -c 200000000', {}, { maxOutputBytes: 1_000_000 });
		expect(outcome).toMatchObject({ code: 'AGENT_FLOOD', reason: 'agent "dev" wrote more than 1,000,000 bytes' });
		expect(statSync(join(dir, 'agents/implement@1.stdout.txt')).size).toBe(1_000_000);
	});

	it('by a flood as its own max_output says, whatever else is set', async () => {
		const agent = anAgent({ run: 'yes | head -c 5000000', options: { max_output: 2000 } });
		const outcome = await createCommandAdapter({ maxOutputBytes: 1_000_000 }).run(aRequest(dir, agent));
		expect(outcome).toMatchObject({ code: 'AGENT_FLOOD', reason: 'agent "dev" wrote more than 2,000 bytes' });
	});

	it('as it was cancelled', async () => {
		const stop = new AbortController();
		const ending = run('echo > ready; exec sleep 60', { signal: stop.signal });
		await isGone(() => !existsSync(join(dir, 'ready')), 10_000);
		stop.abort();
		expect(await ending).toMatchObject({ code: 'AGENT_CANCELLED', reason: 'agent "dev" was cancelled' });
	});

	it('as it was cancelled before it was started', async () => {
		const outcome = await run(['true'], { signal: AbortSignal.abort() });
		expect(outcome).toMatchObject({ code: 'AGENT_CANCELLED', output: null });
	});

	it('as it is not there', async () => {
		expect(await run(['no-such-agent'])).toMatchObject({
			code: 'AGENT_NOT_FOUND',
			reason: 'agent "dev" was not found: "no-such-agent" was not found on the PATH',
			output: null,
		});
	});

	it('as it is not executable', async () => {
		writeFileSync(join(dir, 'agent.sh'), '#!/bin/sh\n');
		expect(await run(['./agent.sh'])).toMatchObject({
			code: 'AGENT_NOT_EXECUTABLE',
			reason: 'agent "dev" cannot be executed: "./agent.sh" is not executable (chmod +x)',
		});
	});

	it('as its working directory is gone', async () => {
		expect(await run(['true'], { cwd: join(dir, 'gone') })).toMatchObject({
			code: 'AGENT_NOT_STARTED',
			reason: `agent "dev" could not be started: the working directory ${dir}/gone does not exist`,
		});
	});

	it('as there is nothing to run', async () => {
		expect(await run(null)).toMatchObject({
			code: 'AGENT_NOT_STARTED',
			reason: 'agent "dev" has no "run": there is nothing to start',
		});
	});
});

it('a folder that cannot be made is an error of the store, with a remedy', async () => {
	writeFileSync(join(dir, 'agents'), 'in the way');
	await expect(run(['true'])).rejects.toMatchObject({
		code: 'STORE_NOT_A_FOLDER',
		message: `cannot make the folder ${dir}/agents: a file is in the way of a folder (EEXIST)`,
	});
});

it('a brief that cannot be written is an error of the store', async () => {
	await run(['true']);
	rmSync(join(dir, 'agents'), { recursive: true });
	await expect(run(['true'])).rejects.toMatchObject({
		code: 'STORE_IO',
		message: expect.stringMatching(
			/^cannot write the brief .*\.brief\.md: there is no such file or folder \(ENOENT\)$/,
		),
	});
});

it('an agent that removes its own output is an error of the store, not a bug', async () => {
	await expect(run('rm -r agents')).rejects.toMatchObject({
		code: 'STORE_IO',
		message: `cannot read what the agent wrote to ${dir}/agents/implement@1.stdout.txt: there is no such file or folder (ENOENT)`,
	});
});

it('agents that run one after another share what they leave empty, and keep what they wrote', async () => {
	for (const n of [1, 2, 3]) await run(n === 2 ? 'echo oops >&2' : 'echo fine', { key: `t#${n}` });
	const files = readdirSync(join(dir, 'agents')).map((name) => name.replace(String(process.pid), 'PID'));
	expect(files.sort()).toEqual([
		'briefs.ndjson',
		'slot-PID-0.brief.md',
		'slot-PID-0.stderr.txt',
		't@1.stdout.txt',
		't@2.stderr.txt',
		't@2.stdout.txt',
		't@3.stdout.txt',
	]);
	expect(readFileSync(join(dir, 'agents/t@2.stderr.txt'), 'utf8')).toBe('oops\n');
});

it('a short brief after a long one is not followed by the rest of that', async () => {
	expect(textOf(await run(['cat'], { key: 't#1', prompt: 'a long brief' }))).toBe('a long brief');
	expect(textOf(await run(['cat'], { key: 't#2', prompt: 'ß' }))).toBe('ß');
	expect(textOf(await run(['cat'], { key: 't#3', prompt: '' }))).toBe('');
});

it('an agent sees its own environment and nothing of ours but the basics', async () => {
	const env = {
		PATH: process.env['PATH'],
		HOME: '/home/x',
		LC_ALL: 'C',
		API_KEY: 'k',
		OTHER: 'o',
		SDD_RUN_ID: 'outer',
	};
	const adapter = createCommandAdapter({ env });
	const { output } = await adapter.run(aRequest(dir, anAgent({ run: ['env'], env: ['API_*'] })));
	const names = output?.text
		.trim()
		.split('\n')
		.filter((line) => !line.startsWith('PATH='));
	expect(names?.sort()).toEqual([
		'API_KEY=k',
		'HOME=/home/x',
		'LC_ALL=C',
		'SDD_AGENT=1',
		expect.stringMatching(/^SDD_PROCESS=/),
		'SDD_RUN_ID=run-1',
		'SDD_TASK_ID=implement',
	]);
});

describe('the file name for a key', () => {
	it('is readable, and never a path', () => {
		expect(fileNameFor('implement#2/after/agentic_review/review')).toBe('implement@2+after+agentic_review+review');
		expect(fileNameFor('../..')).toBe('%2e.%2e.+%2e.%2e.');
	});

	it('differs for keys that differ, also only in case or at the end of a long one', () => {
		const long = 'x'.repeat(500);
		const keys = ['a/b', 'a#b', 'a+b', 'a@b', 'A/b', 'a%2fb', `${long}1`, `${long}2`, long];
		expect(new Set(keys.map(fileNameFor)).size).toBe(keys.length);
		expect(Math.max(...keys.map((key) => fileNameFor(key).length))).toBeLessThan(200);
	});
});
