import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Plan, TaskPlan } from '../../engine/plan/plan.ts';
import { planFromDisk, planToDisk } from '../../engine/plan/plan-file.ts';
import type { Preparation } from '../../engine/plan/prepare.ts';
import { prepareIn, saidBy } from '../workflow/prepare-case.ts';

let folder: string;
beforeEach(() => {
	folder = realpathSync(mkdtempSync(join(tmpdir(), 'sdd-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(files: { readonly [path: string]: string }): void {
	for (const [path, text] of Object.entries(files)) {
		mkdirSync(dirname(join(folder, path)), { recursive: true });
		writeFileSync(join(folder, path), text);
	}
}

async function prepared(other: Partial<Preparation> = {}) {
	const result = await prepareIn(folder, other);
	if (!result.ok) throw new Error(saidBy(result));
	return result;
}

async function planOf(workflow: string, other: Partial<Preparation> = {}): Promise<Plan> {
	write({ 'workflow.yaml': `version: "1"\n${workflow}` });
	return (await prepared(other)).plan;
}

function task(plan: Plan, id: string): TaskPlan {
	const found = plan.tasks.find((one) => one.id === id);
	if (found === undefined) throw new Error(`no task ${id}`);
	return found;
}

const AGENTS = 'agents: { dev: { run: [./dev.sh] }, reviewer: { run: ./review.sh, read_only: true } }\n';

describe('what nobody says', () => {
	test('is settled by the built-in defaults', async () => {
		const plan = await planOf(`${AGENTS}tasks: { a: { agent: dev } }\n`);
		expect(plan.workflow).toBe('workflow');
		expect(plan.file).toBe('workflow.yaml');
		expect(plan.templates).toEqual({});
		expect(plan.constitutions).toHaveLength(1);
		expect(plan.tasks).toEqual([
			{
				id: 'a',
				agent: 'dev',
				description: '',
				acceptanceCriteria: [],
				dependsOn: [],
				inputs: [],
				outputs: [],
				checks: [],
				when: null,
				timeoutMs: 1_800_000,
				maxAttempts: 5,
				retry: { times: 0, backoffMs: 1000, factor: 2, maxBackoffMs: 60_000 },
				stopMarkers: [],
				overlays: [],
				constitution: 0,
				tail: 0,
			},
		]);
		expect((await prepared()).maxParallel).toBe(3);
	});

	test('a workflow without a name is called like its file', async () => {
		write({ 'My Flow.v2.yaml': `version: "1"\n${AGENTS}tasks: { a: { agent: dev } }\n` });
		expect((await prepared({ file: 'My Flow.v2.yaml' })).plan.workflow).toBe('my-flow-v2');
	});
});

describe('the nearer word counts: built-in < settings < workflow < task < command line', () => {
	const settings =
		'max_parallel: 5\ndefaults: { timeout: 1m, retry: { times: 1, backoff: 9s }, stop_markers: [STOP], max_attempts: 8 }\n';
	const workflow = `${AGENTS}max_parallel: 6\ndefaults: { agent: dev, timeout: 2m, retry: 2, checks: [{ name: t, run: npm test }] }\n`;

	test('for plain values, and field by field for retries', async () => {
		write({ '.ai-sdd/ai-sdd.yaml': settings });
		const plan = await planOf(
			`${workflow}tasks:\n  a: {}\n  b: { timeout: 3m, retry: { factor: 3 }, checks: [], stop_markers: [HALT], max_attempts: 2 }\n`,
		);
		expect(task(plan, 'a')).toMatchObject({
			agent: 'dev',
			timeoutMs: 120_000,
			retry: { times: 2, backoffMs: 9000, factor: 2, maxBackoffMs: 60_000 },
			stopMarkers: ['STOP'],
			maxAttempts: 8,
			checks: [{ name: 't', run: 'npm test', required: true, kind: 'tests', timeoutMs: 600_000 }],
		});
		expect(task(plan, 'b')).toMatchObject({
			timeoutMs: 180_000,
			retry: { times: 2, backoffMs: 9000, factor: 3, maxBackoffMs: 60_000 },
			stopMarkers: ['HALT'],
			maxAttempts: 2,
			checks: [],
		});
	});

	test('for how many run at once', async () => {
		write({ '.ai-sdd/ai-sdd.yaml': settings });
		await planOf(`${workflow}tasks: { a: {} }\n`);
		expect((await prepared()).maxParallel).toBe(6);
		expect((await prepared({ commandLine: { maxParallel: 7 } })).maxParallel).toBe(7);
		await planOf(`${AGENTS}tasks: { a: { agent: dev } }\n`);
		expect((await prepared()).maxParallel).toBe(5);
	});

	test('for overlays, field by field, and off unless enabled', async () => {
		write({
			'.ai-sdd/ai-sdd.yaml':
				'defaults: { overlays: { agentic_review: { reviewer_agent: reviewer, max_iterations: 9 } } }\n',
		});
		const plan = await planOf(
			`${AGENTS}defaults: { agent: dev, overlays: { agentic_review: { max_iterations: 2 }, hil: { enabled: true } } }\n` +
				'tasks:\n  a: {}\n  b: { overlays: { agentic_review: { enabled: true } } }\n  c: { overlays: { hil: { enabled: false } } }\n',
		);
		expect(task(plan, 'a').overlays.map((overlay) => overlay.name)).toEqual(['hil']);
		expect(task(plan, 'b').overlays).toMatchObject([
			{ name: 'hil', options: {} },
			{ name: 'agentic_review', options: { reviewer_agent: 'reviewer', max_iterations: 2 }, hooks: ['after'] },
		]);
		expect(task(plan, 'c').overlays).toEqual([]);
	});
});

describe('a task', () => {
	test('comes after what it depends on, with the hops to the end', async () => {
		const plan = await planOf(
			`${AGENTS}defaults: { agent: dev }\ntasks:\n  ship: { depends_on: [build, notes] }\n  build: { depends_on: [design] }\n  notes: {}\n  design: {}\n`,
		);
		expect(plan.tasks.map(({ id, tail }) => [id, tail])).toEqual([
			['design', 2],
			['build', 1],
			['notes', 1],
			['ship', 0],
		]);
	});

	test('may have enough attempts for its overlays and retries', async () => {
		const plan = await planOf(
			`${AGENTS}defaults: { agent: dev, overlays: { agentic_review: { enabled: true, reviewer_agent: reviewer, max_iterations: 9 } } }\ntasks: { a: { retry: 3 } }\n`,
		);
		expect(task(plan, 'a').maxAttempts).toBe(12);
	});

	test('that names no agent is done by the coder its overlay names', async () => {
		const plan = await planOf(
			`${AGENTS}defaults: { agent: reviewer }\ntasks: { a: { overlays: { agentic_review: { enabled: true, coder_agent: dev, reviewer_agent: reviewer } } } }\n`,
		);
		expect(task(plan, 'a').agent).toBe('dev');
	});

	test('has its paths in one spelling, its criteria as a list, its condition parsed', async () => {
		const plan = await planOf(
			`${AGENTS}defaults: { agent: dev }\ntasks:\n  a: { outputs: [./docs//a.md, src/] }\n  b: { depends_on: [a], inputs: [docs/a.md], acceptance_criteria: it works, when: tasks.a.status == COMPLETED }\n`,
		);
		expect(task(plan, 'a').outputs).toEqual(['docs/a.md', 'src']);
		expect(task(plan, 'b').acceptanceCriteria).toEqual(['it works']);
		expect(task(plan, 'b').when?.source).toBe('tasks.a.status == COMPLETED');
	});

	test('gets the constitution of its paths; equal ones are kept once', async () => {
		write({
			'constitution.md': '## Standards\n\n- Be kind.\n',
			'web/constitution.md': '## Standards\n\n- Be fast.\n',
		});
		const plan = await planOf(
			`${AGENTS}defaults: { agent: dev }\ntasks: { a: { outputs: [x.ts] }, b: { outputs: [web/y.ts] }, c: { outputs: [api/z.ts] }, d: { outputs: [web/v.ts] } }\n`,
		);
		expect(plan.tasks.map((one) => one.constitution)).toEqual([0, 1, 0, 1]);
		expect(plan.constitutions[1]!['Standards']).toContain('Be fast.');
		expect(plan.constitutions[0]!['Standards']).not.toContain('Be fast.');
	});
});

describe('an agent', () => {
	test('inherits field by field, and has its persona whole', async () => {
		write({
			'.ai-sdd/agents/base.yaml':
				'adapter: command\nrun: [./base.sh]\ntimeout: 5m\nenv: [API_*]\npersona: .ai-sdd/base.md\n',
			'.ai-sdd/base.md': '\ufeff# You are\n\ncareful.\n',
		});
		const plan = await planOf(
			'agents: { dev: { extends: base, timeout: 9m, model: large, max_output: 2MB } }\ntasks: { a: { agent: dev } }\n',
		);
		expect(plan.agents).toEqual([
			{
				name: 'dev',
				adapter: 'command',
				run: ['./base.sh'],
				model: 'large',
				timeoutMs: 540_000,
				env: ['API_*'],
				readOnly: false,
				persona: '\ufeff# You are\n\ncareful.\n',
				options: { max_output: 2_097_152 },
			},
		]);
	});

	test('of the project is planned if something names it; the workflow’s own win', async () => {
		write({
			'.ai-sdd/agents/reviewer.yaml': 'run: ./project-review.sh\n',
			'.ai-sdd/agents/dev.yaml': 'run: ./project-dev.sh\n',
			'.ai-sdd/agents/idle.yml': 'run: ./idle.sh\n',
		});
		const plan = await planOf(
			'agents: { dev: { run: ./own.sh } }\ntasks: { a: { agent: dev, overlays: { agentic_review: { enabled: true, reviewer_agent: reviewer } } } }\n',
		);
		expect(plan.agents.map(({ name, run }) => [name, run])).toEqual([
			['dev', './own.sh'],
			['reviewer', './project-review.sh'],
		]);
	});
});

describe('templates', () => {
	const workflow = `${AGENTS}tasks: { a: { agent: dev } }\n`;

	test('come from the folder, then the settings, then the command line', async () => {
		write({
			'.ai-sdd/prompts/developer.hbs': 'folder',
			'.ai-sdd/prompts/reviewer.hbs': 'folder',
			'prompts/r.hbs': 'settings',
			'here/d.hbs': 'command line {{task.id}}',
			'.ai-sdd/ai-sdd.yaml': 'prompts: { reviewer: prompts/r.hbs }\n',
		});
		expect((await planOf(workflow)).templates).toEqual({ developer: 'folder', reviewer: 'settings' });
		const other = { cwd: join(folder, 'here'), file: '../workflow.yaml', commandLine: { developerPrompt: 'd.hbs' } };
		expect((await planOf(workflow, other)).templates).toEqual({
			developer: 'command line {{task.id}}',
			reviewer: 'settings',
		});
	});

	test('that are given and missing are errors', async () => {
		write({ 'workflow.yaml': `version: "1"\n${workflow}` });
		const commandLine = { developerPrompt: 'none.hbs', reviewerPrompt: 'also/none.hbs' };
		expect(saidBy(await prepareIn(folder, { commandLine }))).toBe(
			[
				'also/none.hbs error: the template "also/none.hbs" does not exist (--reviewer-prompt) [TEMPLATE_NOT_FOUND]',
				'  remedy: check the path; without it the built-in template is used',
				'',
				'none.hbs error: the template "none.hbs" does not exist (--developer-prompt) [TEMPLATE_NOT_FOUND]',
				'  remedy: check the path; without it the built-in template is used',
				'',
			].join('\n'),
		);
	});
});

describe('the command line', () => {
	test('puts scripted replies in place of every agent, whatever it would need', async () => {
		write({ 'stubs.yaml': '"*": [done]\n' });
		const commandLine = { stubs: 'stubs.yaml' };
		const plan = await planOf('agents: { dev: { adapter: claude } }\ntasks: { a: { agent: dev } }\n', { commandLine });
		expect(plan.agents).toMatchObject([{ name: 'dev', adapter: 'scripted', options: { replies: 'stubs.yaml' } }]);
	});

	test('with stubs that are not there is refused', async () => {
		write({ 'workflow.yaml': `version: "1"\n${AGENTS}tasks: { a: { agent: dev } }\n` });
		expect(saidBy(await prepareIn(folder, { commandLine: { stubs: 'none.yaml' } }))).toBe(
			'none.yaml error: there is no such file (--stubs) [STUBS_NOT_FOUND]\n  remedy: name a file of scripted replies\n',
		);
	});

	test('with stubs that cannot be used is refused, with their place', async () => {
		write({
			'workflow.yaml': `version: "1"\n${AGENTS}tasks: { a: { agent: dev } }\n`,
			'stubs.yaml': '"*": { exit: no }\n',
		});
		expect(saidBy(await prepareIn(folder, { commandLine: { stubs: 'stubs.yaml' } }))).toMatch(
			/^stubs.yaml:1:14 error: exit must be a whole number from 0 to 255 \[SCRIPT_INVALID\]\n/,
		);
	});

	test('limits the fixes: as many reviews and one more', async () => {
		const plan = await planOf(
			`${AGENTS}tasks: { a: { agent: dev, overlays: { hil: { enabled: true }, agentic_review: { enabled: true, reviewer_agent: reviewer } } } }\n`,
			{ commandLine: { reviewMaxFixAttempts: 2 } },
		);
		const [hil, review] = task(plan, 'a').overlays;
		expect(review!.options['max_iterations']).toBe(3);
		expect(hil!.options).toEqual({});
	});
});

test('files are named relative to where the user stands', async () => {
	write({
		'flows/w.yaml': 'version: "1"\ntasks: { a: { agent: nobody } }\n',
		'.ai-sdd/ai-sdd.yaml': 'max_paralel: 1\n',
		'constitution.md': 'no section\n',
	});
	const cwd = join(folder, 'flows');
	const prepared = await prepareIn(folder, { cwd, file: 'w.yaml' });
	const files = prepared.ok ? [] : prepared.diagnostics.map((diagnostic) => diagnostic.file);
	expect(files).toEqual(['../.ai-sdd/ai-sdd.yaml', '../constitution.md', 'w.yaml']);
});

test('a plan survives the disk, and equal plans have equal bytes', async () => {
	write({ 'constitution.md': '## depends_on\n\n- stays.\n' });
	const workflow =
		`${AGENTS}defaults: { agent: dev }\ntasks:\n  a: { outputs: [x] }\n` +
		'  b: { depends_on: [a], when: tasks.a.status == COMPLETED, overlays: { agentic_review: { enabled: true, reviewer_agent: reviewer, max_iterations: 2 } } }\n';
	const plan = await planOf(workflow);
	const text = planToDisk(plan);
	expect(planFromDisk(text)).toEqual(plan);
	expect(text).not.toMatch(/"[a-z]+[A-Z][A-Za-z]*":/);
	expect(JSON.parse(text)).toMatchObject({
		tasks: [
			{},
			{ depends_on: ['a'], max_attempts: 5, overlays: [{ on_error: 'fail', options: { max_iterations: 2 } }] },
		],
	});
	expect(planToDisk(await planOf(workflow))).toBe(text);
	const copy = `${folder}-copy`;
	cpSync(folder, copy, { recursive: true });
	try {
		const other = await prepareIn(copy);
		expect(other.ok && planToDisk(other.plan)).toBe(text);
	} finally {
		rmSync(copy, { recursive: true });
	}
});
