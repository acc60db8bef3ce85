/** The built-in overlays together: which combinations there are, in which order they judge, and that none undoes another's no. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import type { OverlayDefinition } from '../../engine/contract.ts';
import { planOverlays } from '../../engine/plan/plan-overlays.ts';
import { builtinOverlays } from '../../overlays/index.ts';
import { overlayPlan, planOf, taskPlan } from '../builders.ts';
import { runPlan, type Script, scriptedWorld } from '../scripted-world.ts';
import { prepareIn, saidBy } from '../workflow/prepare-case.ts';

const OVERLAYS = {
	hil: { name: 'hil', options: '' },
	gate: { name: 'policy_gate', options: '' },
	review: { name: 'agentic_review', options: ', reviewer_agent: rev' },
	pair: { name: 'paired_workflow', options: ', challenger_agent: eve' },
	confidence: { name: 'confidence', options: ', evaluator_agent: rev' },
} as const;
type Word = keyof typeof OVERLAYS;
const WORDS = Object.keys(OVERLAYS) as readonly Word[];

const ALL = Array.from({ length: 2 ** WORDS.length - 1 }, (_, bits) =>
	WORDS.filter((_word, index) => (bits + 1) & (1 << index)),
);
const isValid = (words: readonly Word[]): boolean => !(words.includes('review') && words.includes('pair'));

const project = mkdtempSync(join(tmpdir(), 'sdd-'));
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Loads a workflow with these overlays on one task, written in reverse: their place in the file must not matter. */
function load(words: readonly Word[]) {
	const overlays = [...words].reverse().map((word) => {
		const { name, options } = OVERLAYS[word];
		return `      ${name}: { enabled: true${options} }\n`;
	});
	const agents = ['dev', 'rev', 'eve'].map((name) => `  ${name}: { run: ["true"] }\n`);
	const checks = ['acceptance', 'tests', 'lint'].map(
		(kind) => `      - { name: ${kind}, run: "true", kind: ${kind} }\n`,
	);
	const work = `    agent: dev\n    description: Write it\n    checks:\n${checks.join('')}`;
	const task = `  write:\n${work}    overlays:\n${overlays.join('')}`;
	writeFileSync(join(project, 'workflow.yaml'), `version: "1"\nname: demo\nagents:\n${agents.join('')}tasks:\n${task}`);
	return prepareIn(project);
}

it('there are 23 valid combinations, and 8 that are not', () => {
	expect(ALL.filter(isValid)).toHaveLength(23);
	expect(ALL.filter((words) => !isValid(words))).toHaveLength(8);
});

it.each(ALL.filter(isValid).map((words) => words.join('-')))(
	'%s loads, judges in the one order, and has a golden trace',
	async (name) => {
		const words = name.split('-') as readonly Word[];
		const prepared = await load(words);
		expect(saidBy(prepared)).toBe('');
		const planned = prepared.ok ? prepared.plan.tasks[0]?.overlays.map((overlay) => overlay.name) : [];
		expect(planned).toEqual(words.map((word) => OVERLAYS[word].name));
		expect(existsSync(fileURLToPath(new URL(`../cases/compose-${name}/expected.txt`, import.meta.url)))).toBe(true);
	},
);

it.each(ALL.filter((words) => !isValid(words)).map((words) => words.join('-')))(
	'%s is refused at load',
	async (name) => {
		const prepared = await load(name.split('-') as readonly Word[]);
		expect(prepared.ok).toBe(false);
		expect(saidBy(prepared)).toContain('"agentic_review" exclude each other on task "write" [OVERLAY_CONFLICT]');
	},
);

const definitions = Object.fromEntries(builtinOverlays.map((definition) => [definition.name, definition]));

/** Runs a task with a gate and the score behind it. */
async function run(
	script: Script,
	options: { readonly [name: string]: object } = {},
	kinds = ['acceptance', 'tests', 'lint'],
) {
	const names = ['policy_gate', 'confidence'];
	const overlays = names.map((name) => overlayPlan(name, { options: (options[name] ?? {}) as never }));
	const checks = kinds.map((kind) => ({ name: kind, kind, run: 'true', required: false, timeoutMs: 1000 }));
	const task = taskPlan({ overlays, checks: checks as never, maxAttempts: 2 });
	const world = scriptedWorld({ ...script, overlays: definitions as { readonly [name: string]: OverlayDefinition } });
	return { world, ...(await runPlan(planOf([task]), world)) };
}

it('a score of 1 never turns a failed gate into a pass: what the gate sends back is not even scored', async () => {
	const weights = { test_coverage: 0, security_score: 0, checklist_completion: 1, lint_score: 1 };
	// Lint and acceptance pass, which alone make the score; the gate misses the tests.
	const { world, session } = await run(
		{ check: (_task, _attempt, name) => name !== 'tests' },
		{ confidence: { weights } },
	);
	expect(world.consulted).toEqual(['implement#1/after/policy_gate', 'implement#2/after/policy_gate']);
	expect(session.task('implement')).toMatchObject({
		status: 'FAILED',
		reason: expect.stringContaining('all 2 attempts are used up'),
	});
});

it('behind a gate that passes the score is taken, and is 1', async () => {
	const { world, session } = await run({});
	expect(world.consulted).toEqual(['implement#1/after/policy_gate', 'implement#1/after/confidence']);
	expect(session.task('implement')).toMatchObject({
		status: 'COMPLETED',
		past: { confidence: [{ record: { score: 1 } }] },
	});
});

it('a gate that fails the task is final, whatever the score would have been', async () => {
	const { session } = await run({}, { policy_gate: { evidence: ['coverage'] } }, [
		'acceptance',
		'tests',
		'lint',
		'coverage',
	]);
	expect(session.task('implement').status).toBe('FAILED');
	expect(session.task('implement').past['confidence']).toBeUndefined();
});

it('attempts that the gate needs do not use up those of a review', () => {
	const enabled = ['policy_gate', 'agentic_review'].map((name) => ({
		enabled: true,
		definition: definitions[name],
		options: {},
		use: null,
		merged: { name, entry: {} },
	}));
	expect(planOverlays({ overlays: enabled } as never, undefined).attempts).toBe(8);
});
