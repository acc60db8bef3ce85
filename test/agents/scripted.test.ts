import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createScriptedAdapter } from '../../agents/scripted.ts';
import type { AgentOutcome, AgentRequest } from '../../engine/agent.ts';
import { sha256 } from '../../engine/store/hash.ts';
import { anAgent, aRequest } from './request.ts';

let dir = '';
beforeEach(() => {
	dir = mkdtempSync(join(tmpdir(), 'sdd-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const agent = anAgent({ adapter: 'scripted', options: { replies: 'replies.yaml' } });

function run(replies: string, more: Partial<AgentRequest> = {}): Promise<AgentOutcome> {
	writeFileSync(join(dir, 'replies.yaml'), replies);
	return createScriptedAdapter({ project: dir }).run(aRequest(dir, agent, more));
}

describe('which reply is given', () => {
	const replies = [
		'implement: [first, second]',
		'implement/reviewer: [NO_GO, GO]',
		'critic: [from the critic]',
		'dev: [from dev]',
		'"*": [from anyone]',
	].join('\n');
	const text = async (more: Partial<AgentRequest>) => (await run(replies, more)).output?.text;

	it('follows the attempt of those who work, and the last one repeats', async () => {
		expect(await text({})).toBe('first');
		expect(await text({ attempt: 2, iteration: 7 })).toBe('second');
		expect(await text({ attempt: 9 })).toBe('second');
		expect(await text({ attempt: 2, role: 'fixer' })).toBe('second');
	});

	it('follows the iteration of those who judge', async () => {
		expect(await text({ role: 'reviewer', attempt: 4 })).toBe('NO_GO');
		expect(await text({ role: 'reviewer', attempt: 4, iteration: 2 })).toBe('GO');
	});

	it('does not depend on the order of calls', async () => {
		writeFileSync(join(dir, 'replies.yaml'), replies);
		const adapter = createScriptedAdapter({ project: dir });
		const texts: unknown[] = [];
		for (const attempt of [2, 1, 1]) texts.push((await adapter.run(aRequest(dir, agent, { attempt }))).output?.text);
		expect(texts).toEqual(['second', 'first', 'first']);
	});

	it('is that of the agent where the task has none, and that of * where neither has', async () => {
		expect(await text({ task: 'other' })).toBe('from dev');
		expect(await text({ task: 'other', agent: { ...agent, name: 'else' } })).toBe('from anyone');
	});

	it('is never the worker’s for one who judges', async () => {
		expect(await text({ role: 'critic', agent: { ...agent, name: 'critic' } })).toBe('from the critic');
	});

	it('may be a single one, without a list', async () => {
		expect((await run('implement: hello')).output?.text).toBe('hello');
	});

	it('a key that is missing fails, and says what was looked for', async () => {
		expect(await run('other: x')).toMatchObject({
			ok: false,
			code: 'AGENT_SCRIPT',
			reason: 'replies.yaml has no reply for implement#1: looked for "implement/coder", "implement", "dev", "*"',
		});
		expect(await run('implement: x', { role: 'reviewer', agent: { ...agent, name: 'critic' } })).toMatchObject({
			reason: 'replies.yaml has no reply for implement#1: looked for "implement/reviewer", "critic", "*"',
		});
	});

	it('an agent that names no file fails', async () => {
		const outcome = await createScriptedAdapter({ project: dir }).run(aRequest(dir, anAgent()));
		expect(outcome).toMatchObject({
			code: 'AGENT_SCRIPT',
			reason: 'agent "dev" is scripted, but names no file of replies (replies: …)',
		});
	});
});

describe('a reply', () => {
	it('has a digest, and leaves no file behind', async () => {
		const output = { text: 'hé', bytes: 3, sha256: sha256('hé') };
		expect(await run('implement: hé')).toEqual({ ok: true, output, usage: null, ms: 0 });
		expect(readdirSync(dir)).toEqual(['replies.yaml']);
	});

	it('that is too long is cut', async () => {
		const { output } = await run('implement: abcdef', { keep: 4 });
		expect(output).toMatchObject({ text: 'abcd\n[... 2 characters cut by sdd; 6 in all]', bytes: 6 });
	});

	it('may report its usage; what it leaves out is unknown', async () => {
		const outcome = await run('implement: { text: x, usage: { input_tokens: 10, cost_usd: 0.5 } }');
		expect(outcome).toMatchObject({ usage: { inputTokens: 10, outputTokens: null, costUsd: 0.5 } });
	});

	it('may exit as a program would', async () => {
		expect(await run('implement: { text: partial, exit: 3 }')).toMatchObject({
			ok: false,
			code: 'AGENT_EXIT',
			reason: 'agent "dev" exited with code 3',
			output: { text: 'partial' },
		});
	});

	it('may write files into the workspace', async () => {
		await run('implement: { files: { a.txt: one, deep/er/b.txt: two } }');
		expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe('one');
		expect(readFileSync(join(dir, 'deep/er/b.txt'), 'utf8')).toBe('two');
	});

	it.each(['../out.txt', '/tmp/sdd-never/out.txt', 'link/new/out.txt', 'dangling', '.'])(
		'may not write to %s',
		async (path) => {
			const cwd = join(dir, 'work');
			mkdirSync(cwd);
			symlinkSync(dir, join(cwd, 'link'));
			symlinkSync(join(dir, 'out.txt'), join(cwd, 'dangling'));
			expect(await run(`implement: { files: { "${path}": x } }`, { cwd })).toMatchObject({
				code: 'AGENT_SCRIPT',
				reason: `agent "dev": the file "${path}" of its reply lies outside its working directory`,
			});
			expect(existsSync(join(dir, 'out.txt'))).toBe(false);
			expect(existsSync(join(dir, 'new'))).toBe(false);
		},
	);

	it('whose file cannot be written fails', async () => {
		expect(await run('implement: { files: { replies.yaml/x: y } }')).toMatchObject({
			code: 'AGENT_SCRIPT',
			reason: expect.stringMatching(
				/^agent "dev": the file "replies.yaml\/x" of its reply cannot be written \(E\w+\)$/,
			),
		});
	});

	it('may take its time', async () => {
		const outcome = await run('implement: { text: late, delay: 5 }');
		expect(outcome).toMatchObject({ ok: true, output: { text: 'late' } });
		expect(outcome.ms).toBeGreaterThan(0);
	});

	it('that hangs, or is slower than the limit, ends at the limit', async () => {
		const reason = 'agent "dev" was still running after 10ms and was ended';
		for (const reply of ['{ hang: true }', '{ delay: 60000 }']) {
			expect(await run(`implement: ${reply}`, { timeoutMs: 10 })).toMatchObject({ code: 'AGENT_TIMEOUT', reason });
		}
	});

	it('that hangs ends when it is cancelled', async () => {
		const stop = new AbortController();
		const ending = run('implement: { hang: true }', { signal: stop.signal });
		setImmediate(() => stop.abort());
		expect(await ending).toMatchObject({ code: 'AGENT_CANCELLED', reason: 'agent "dev" was cancelled' });
	});

	it('may expect something of its brief', async () => {
		expect((await run('implement: { text: x, expect: "Do it." }')).ok).toBe(true);
		expect(await run('implement: { text: x, expect: "Do that." }')).toMatchObject({
			code: 'AGENT_SCRIPT',
			reason: 'replies.yaml: the brief of implement#1 does not hold the expected text: "Do that."',
		});
	});
});

describe('a file of replies that cannot be used', () => {
	it.each([
		['- a', '1:1: the file must map tasks, agents or "*" to replies'],
		['implement: []', '1:12: a list of replies needs at least one'],
		['implement:\n  - 7', '2:5: a reply must be a text or a map'],
		[
			'implement:\n  - tekst: x',
			'2:5: a reply has no "tekst"; it may have text, exit, files, delay, usage, hang, expect',
		],
		['implement: { text: 7 }', '1:20: "text" must be a text'],
		['implement: { exit: 300 }', '1:20: exit must be a whole number from 0 to 255'],
		['implement: { hang: 1 }', '1:20: "hang" must be true or false'],
		['implement: { delay: -1 }', '1:21: "delay" must be a number, 0 or more'],
		['implement: { files: x }', '1:21: files must map paths to contents'],
		['implement: { files: { a: 1 } }', '1:26: "a" must be a text'],
		['implement: { usage: { cost: 1 } }', '1:21: usage must be a map with input_tokens, output_tokens, cost_usd'],
		['implement: [', '2:1: not valid YAML: '],
	])('%j is refused with its place', async (text, message) => {
		const error = await run(`${text}\n`).catch((thrown: unknown) => thrown);
		expect(error).toMatchObject({ code: 'SCRIPT_INVALID' });
		expect((error as Error).message).toContain(`scripted replies, replies.yaml:${message}`);
	});

	it('as it is not there', async () => {
		const adapter = createScriptedAdapter({ project: dir });
		await expect(adapter.run(aRequest(dir, agent))).rejects.toMatchObject({
			code: 'SCRIPT_INVALID',
			message: 'scripted replies, replies.yaml: there is no such file',
		});
	});
});
