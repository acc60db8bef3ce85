import { expect, it } from 'vitest';
import { parseExpression } from '../../engine/expression.ts';
import type { AgentPlan, OverlayPlan, Plan, TaskPlan } from '../../engine/plan/plan.ts';
import { planMermaid, printPlan } from '../../engine/plan/print-plan.ts';

const AGENT: AgentPlan = {
	name: 'dev',
	adapter: 'command',
	run: null,
	model: null,
	timeoutMs: null,
	env: [],
	readOnly: false,
	persona: null,
	options: {},
};

const TASK: TaskPlan = {
	id: 'design',
	agent: 'dev',
	description: 'Write the design',
	acceptanceCriteria: [],
	dependsOn: [],
	inputs: [],
	outputs: [],
	checks: [],
	when: null,
	timeoutMs: 1_200_000,
	maxAttempts: 5,
	retry: { times: 0, backoffMs: 1000, factor: 2, maxBackoffMs: 60_000 },
	stopMarkers: [],
	overlays: [],
	constitution: 0,
	tail: 0,
};

const REVIEW: OverlayPlan = {
	name: 'agentic_review',
	use: null,
	hooks: ['after'],
	options: { reviewer_agent: 'reviewer', max_iterations: 3, exit_conditions: ['review.decision == GO'] },
	order: 30,
	timeoutMs: 30_000,
	onError: 'fail',
};

function planOf(parts: Partial<Plan>): Plan {
	return {
		workflow: 'auth',
		file: 'workflows/auth.yaml',
		agents: [AGENT],
		tasks: [TASK],
		constitutions: [{}],
		templates: {},
		...parts,
	};
}

function condition(text: string) {
	const parsed = parseExpression(text);
	if (!parsed.ok) throw new Error(parsed.message);
	return parsed.expression;
}

it('the smallest plan is printed in a few lines', () => {
	expect(printPlan(planOf({}), { maxParallel: 3 })).toBe(
		[
			'Workflow auth (workflows/auth.yaml): 1 task, at most 3 at once',
			'',
			'Agents',
			'  dev  command',
			'',
			'Tasks, in the order in which they become possible',
			'  1. design: Write the design',
			'     agent dev, timeout 20m, at most 5 attempts',
			'     judged by nobody',
		].join('\n'),
	);
});

it('everything that limits or judges a task is printed, overlays in the order in which they judge', () => {
	const reviewer: AgentPlan = {
		...AGENT,
		name: 'reviewer',
		run: ['./review.sh', '--as', 'a b'],
		model: 'm1',
		timeoutMs: 90_000,
		env: ['TOKEN', 'APP_*'],
		readOnly: true,
		persona: 'You are strict.',
	};
	const licences: OverlayPlan = {
		...REVIEW,
		name: 'licences',
		use: './.ai-sdd/overlays/licences.ts',
		hooks: ['before', 'after'],
		options: { allow: ['MIT'], strict: true, note: 'two words' },
		onError: 'warn',
	};
	const implement: TaskPlan = {
		...TASK,
		id: 'implement',
		description: 'Implement the login flow\nwith care',
		dependsOn: ['design', 'setup'],
		when: condition("tasks.design.status == 'COMPLETED'"),
		inputs: ['docs/auth.md'],
		outputs: ['src/auth.ts', 'src/login.ts'],
		checks: [
			{ name: 'tests', run: 'npm test', required: true, kind: 'tests', timeoutMs: 600_000 },
			{ name: 'lint', run: ['npx', 'lint', 'a b'], required: false, kind: 'lint', timeoutMs: 1500 },
		],
		maxAttempts: 1,
		retry: { times: 2, backoffMs: 1000, factor: 2, maxBackoffMs: 60_000 },
		overlays: [REVIEW, licences],
	};
	const plan = planOf({ agents: [AGENT, reviewer], tasks: [implement], templates: { reviewer: 'x' } });
	expect(printPlan(plan, { maxParallel: 1 }).split('\n')).toEqual([
		'Workflow auth (workflows/auth.yaml): 1 task, at most 1 at once',
		'Prompt templates replaced: reviewer',
		'',
		'Agents',
		'  dev       command',
		'  reviewer  command, model m1, read only, timeout 1m30s, with a persona, environment TOKEN APP_*: ./review.sh --as "a b"',
		'',
		'Tasks, in the order in which they become possible',
		'  1. implement: Implement the login flow …',
		'     after design, setup',
		"     only when tasks.design.status == 'COMPLETED'",
		'     agent dev, timeout 20m, at most 1 attempt, 2 retries after a crash (wait 1s, each wait 2 times the last, up to 1m)',
		'     reads docs/auth.md',
		'     writes src/auth.ts, src/login.ts',
		'     check tests (tests, required, timeout 10m): npm test',
		'     check lint (lint, advisory, timeout 1s500ms): npx lint "a b"',
		'     judge 1: agentic_review (after); reviewer_agent reviewer, max_iterations 3, exit_conditions ["review.decision == GO"], timeout 30s, on error fail',
		'     judge 2: licences from ./.ai-sdd/overlays/licences.ts (before, after); allow ["MIT"], strict true, note "two words", timeout 30s, on error warn',
	]);
});

it('one retry has no growing waits', () => {
	const task = { ...TASK, retry: { ...TASK.retry, times: 1 } };
	expect(printPlan(planOf({ tasks: [task] }), { maxParallel: 1 })).toContain(
		'attempts, 1 retry after a crash (wait 1s)\n',
	);
});

it('escape sequences in a plan do not reach the terminal', () => {
	const task = { ...TASK, description: 'red \u001b[31m text' };
	expect(printPlan(planOf({ tasks: [task] }), { maxParallel: 1 })).toContain('design: red \\u001b[31m text');
});

it('the drawing has a box a task and an arrow a dependency', () => {
	const implement = { ...TASK, id: 'implement', dependsOn: ['design'], overlays: [REVIEW] };
	expect(planMermaid(planOf({ tasks: [TASK, implement] }))).toBe(
		['flowchart TD', '  t1["design<br/>dev"]', '  t2["implement<br/>dev · agentic_review"]', '  t1 --> t2'].join('\n'),
	);
});

it('nothing in a label of the drawing can end it', () => {
	const task = { ...TASK, agent: 'a"]; click' };
	expect(planMermaid(planOf({ tasks: [task] }))).toContain('["design<br/>a#34;#93;#59; click"]');
});
