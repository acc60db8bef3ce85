import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { AgentAdapter, AgentRequest } from '../../engine/agent.ts';
import { createLocalWorld } from '../../engine/run/local-world.ts';
import { readItem, resolveItem } from '../../engine/store/hil-store.ts';
import { runDir } from '../../engine/store/layout.ts';
import { REDACTED, redactor } from '../../engine/store/redact.ts';
import { AT, agentPlan, hilItem, planOf, taskPlan } from '../builders.ts';
import { temporaryFolders } from '../store/rig.ts';

const temporary = temporaryFolders();
const task = taskPlan({
	checks: [
		{ name: 'env', run: 'echo "$SDD_ROLE $SDD_TASK_ID $SDD_ATTEMPT"', required: true, kind: 'tests', timeoutMs: 5000 },
	],
});

async function world() {
	const project = temporary();
	mkdirSync(runDir(project, 'run-1'), { recursive: true });
	const requests: AgentRequest[] = [];
	const adapter: AgentAdapter = {
		name: 'scripted',
		async run(request) {
			requests.push(request);
			return { ok: true, output: { text: '', bytes: 0, sha256: '' }, usage: null, ms: 0 };
		},
	};
	const host = { consult: () => Promise.reject(new Error('unused')), logOf: () => null };
	const made = await createLocalWorld({
		project,
		run: 'run-1',
		plan: planOf([task]),
		adapters: new Map([['scripted', adapter]]),
		host,
		redactor: redactor(['hunter2-secret']),
		mask: () => {},
	});
	return { project, requests, world: made };
}

const call = {
	key: 'implement#2',
	agent: agentPlan('dev'),
	task: 'implement',
	attempt: 2,
	iteration: 3,
	role: 'reviewer',
	prompt: 'Look',
	timeoutMs: 1000,
	signal: new AbortController().signal,
	keep: 100,
};

test('an agent is told by its environment what it works on, and works in the project', async () => {
	const { world: local, requests, project } = await world();
	await local.startAgent({ ...call, reviewId: 'run-1/implement/3' });
	await local.startAgent(call);
	expect(requests[0]).toMatchObject({ cwd: project, runDir: runDir(project, 'run-1') });
	expect(requests.map(({ env }) => env)).toEqual([
		{
			SDD_RUN_ID: 'run-1',
			SDD_TASK_ID: 'implement',
			SDD_ATTEMPT: '2',
			SDD_ITERATION: '3',
			SDD_ROLE: 'reviewer',
			SDD_PROJECT_DIR: project,
			SDD_REVIEW_ID: 'run-1/implement/3',
		},
		expect.not.objectContaining({ SDD_REVIEW_ID: expect.anything() }),
	]);
});

test('an adapter that nobody registered is a bug, and said to be missing', async () => {
	const { world: local } = await world();
	expect(() => local.startAgent({ ...call, agent: agentPlan('dev', { adapter: 'claude' }) })).toThrow(
		'no adapter "claude" is registered',
	);
});

test('checks know what they check', async () => {
	const { world: local } = await world();
	const results = await local.runChecks(task, 2, new AbortController().signal);
	expect(results).toMatchObject([{ name: 'env', ok: true, output: expect.stringContaining('check implement 2') }]);
});

test('a question reaches the queue, and the decision comes back', async () => {
	const { world: local, project } = await world();
	const item = hilItem('hil-0123456789ab');
	local.people.publish(item);
	expect(local.people.resolution(item)).toBeNull();
	expect(readItem(project, item.id).question).toBe('May it pass?');
	resolveItem(project, item.id, { choice: 'accept', by: 'ann', via: 'cli', notes: null, at: AT });
	expect(local.people.resolution(item)).toMatchObject({ choice: 'accept', by: 'ann' });
});

test('a decision on another question than the one that was asked does not count', async () => {
	const { world: local, project } = await world();
	const item = hilItem('hil-0123456789ab');
	local.people.publish({ ...item, question: 'May I have a biscuit?' });
	resolveItem(project, item.id, { choice: 'accept', by: 'ann', via: 'cli', notes: null, at: AT });
	expect(() => local.people.resolution(item)).toThrow('it was made for another question than this item asks');
});

test('prompts are kept by their content', async () => {
	const { world: local } = await world();
	const digest = local.keepPrompt('Look at it');
	expect(local.readPrompt(digest)).toBe('Look at it');
	expect(local.keepPrompt('Look at it')).toBe(digest);
});

test('secrets are taken out of texts and values alike', async () => {
	const { world: local } = await world();
	expect(local.redact('the key is hunter2-secret')).toBe(`the key is ${REDACTED}`);
	expect(local.redact({ kind: 'warning', code: 'X', message: 'hunter2-secret' })).toMatchObject({ message: REDACTED });
});

test("the coder's brief holds the feedback and, beside it, what people said and who they are", async () => {
	const { world: local } = await world();
	const feedback = {
		overlay: 'gate',
		text: 'weak hashing',
		attempt: 1,
		findings: [{ severity: 'blocker', issue: 'no salt', file: 'src/auth.ts', line: 3 }],
		fixers: [],
		guidance: [{ from: 'ann', text: 'use argon2' }],
	};
	const facts = { attempt: 2, amendments: ['Mind the budget.'], feedback, failedChecks: [], agent: agentPlan('dev') };
	const brief = local.briefFor(task, facts);
	for (const part of [
		'Implement the login flow',
		'weak hashing',
		'src/auth.ts:3: no salt',
		'use argon2',
		'(ann)',
		'Mind the budget.',
	])
		expect(brief).toContain(part);
});

test('there is room on this disk', async () => {
	const { world: local } = await world();
	expect(local.spaceProblem()).toBeNull();
});
