import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, test } from 'vitest';
import { CHECKS, type Report } from '../../engine/conformance/checks.ts';
import { exampleOptions } from '../../engine/conformance/example-options.ts';
import { moduleSubject } from '../../engine/conformance/module-subject.ts';
import { processSubject } from '../../engine/conformance/process-subject.ts';
import { LIMITS, runSuite } from '../../engine/conformance/suite.ts';
import type { OverlayDefinition, Verdict } from '../../engine/contract.ts';
import { loadOverlayModule } from '../../engine/hosts/load-module.ts';
import type { JsonObject } from '../../engine/json.ts';
import { builtinOverlays } from '../../overlays/index.ts';
import { blocksOf, tableBelow } from '../docs/read-docs.ts';
import { ENV, PYTHON, tempFolder } from '../hosts/processes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const FAST = { ...LIMITS, callMs: 300, graceMs: 50 };

function statuses({ checks }: Report, status: string): { readonly [check: string]: string | null } {
	return Object.fromEntries(checks.filter((one) => one.status === status).map(({ check, words }) => [check, words]));
}

const ONLY_PROCESSES = 'only for overlays in a process of their own';
const SKIPPED_FOR_MODULES = {
	version: ONLY_PROCESSES,
	one_answer: ONLY_PROCESSES,
	shutdown: ONLY_PROCESSES,
	host_gone: ONLY_PROCESSES,
};

test.each(builtinOverlays)('the built-in $name conforms', async (definition) => {
	const report = await runSuite(moduleSubject(definition, LIMITS), null);
	expect(statuses(report, 'failed')).toEqual({});
	expect(report).toMatchObject({ name: definition.name, ok: true });
	expect(statuses(report, 'skipped')).toMatchObject(SKIPPED_FOR_MODULES);
});

test.each<readonly [string, JsonObject]>([
	['hil', {}],
	['policy_gate', { tier: 'T2', coverage_threshold: 0.8 }],
	['agentic_review', { reviewer_agent: 'rev', max_iterations: 1, on_contract_violation: 'hil' }],
	['paired_workflow', { challenger_agent: 'eve', max_rounds: 1 }],
	['confidence', { evaluator_agent: 'eva', threshold: 1, on_low: 'ask' }],
])('the built-in %s conforms when it asks: %j', async (name, options) => {
	const definition = builtinOverlays.find((one) => one.name === name) as OverlayDefinition;
	const { checks } = await runSuite(moduleSubject(definition, LIMITS), options);
	expect(checks.find(({ check }) => check === 'questions')).toMatchObject({ status: 'passed' });
	expect(checks.filter(({ status }) => status === 'failed')).toEqual([]);
});

test.each(['licences.py', 'review_overlay.py'])('the Python example %s conforms', async (file) => {
	const command = [PYTHON, join(root, 'python/examples', file)];
	const options = { command, cwd: root, env: ENV, stderrPath: null };
	const report = await runSuite(processSubject(options, '0.0.0', LIMITS), null);
	expect(statuses(report, 'failed')).toEqual({});
	expect(report.ok).toBe(true);
});

test('the TypeScript example of the documentation conforms', async () => {
	const block = blocksOf('docs/overlays.md').find(({ file }) => file === '.ai-sdd/overlays/licences.ts');
	const project = tempFolder();
	writeFileSync(join(project, 'licences.ts'), block?.text ?? '');
	const loaded = await loadOverlayModule(project, './licences.ts', join(root, 'engine/contract.ts'));
	const report = await runSuite(moduleSubject(loaded as OverlayDefinition, LIMITS), null);
	expect(statuses(report, 'failed')).toEqual({});
	expect(report).toMatchObject({ name: 'licences', ok: true });
});

const pass: Verdict = { kind: 'pass' };

/** A module that judges like this, and conforms in all else. */
function moduleOf(after: NonNullable<ReturnType<OverlayDefinition['create']>['after']>): OverlayDefinition {
	return { name: 'gate', summary: '', hooks: ['after'], options: {}, create: () => ({ after }) };
}

describe('a module is caught by name that', () => {
	const failuresOf = async (definition: OverlayDefinition, options: JsonObject | null = null) =>
		statuses(await runSuite(moduleSubject(definition, FAST), options), 'failed');

	it('throws', async () => {
		const failed = await failuresOf(
			moduleOf(() => {
				throw new Error('no table');
			}),
		);
		expect(failed['verdicts']).toBe('at after (an ordinary one): it threw at after: no table');
	});

	it('changes the moment', async () => {
		const failed = await failuresOf(
			moduleOf((moment) => {
				(moment.task as { id: string }).id = 'other';
				return pass;
			}),
		);
		expect(failed['verdicts']).toMatch(/Cannot assign to read only property 'id'/);
	});

	it('never answers, and does not heed its signal', async () => {
		const failed = await failuresOf(moduleOf(() => new Promise(() => {})));
		expect(failed['verdicts']).toBe('at after (an ordinary one): no verdict at after within 300ms');
		expect(failed['cancellation']).toBe(
			'at after: it was still at work 50ms after the signal that it is given was aborted',
		);
	});

	it('has a function for a hook that it does not declare', async () => {
		const definition = { ...moduleOf(() => pass), create: () => ({ after: () => pass, failed: () => pass }) };
		expect(await failuresOf(definition)).toEqual({
			unknown_hook:
				'create() returns a function for "failed", which "hooks" does not declare: it would never be called',
		});
	});

	it('lacks a function for one that it declares', async () => {
		const failed = await failuresOf({ ...moduleOf(() => pass), create: () => ({}) });
		expect(failed['verdicts']).toContain('it declares the hook after, but create() returned no function for it');
	});

	it('prints to stdout', async () => {
		const failed = await failuresOf(
			moduleOf(() => {
				process.stdout.write('checking\n');
				return pass;
			}),
		);
		expect(failed).toEqual({ clean_stdout: 'it wrote to stdout: "checking"; console.error goes to stderr' });
	});

	it('asks for ever', async () => {
		const failed = await failuresOf(
			moduleOf(({ answers }) => {
				const id = `q${Object.keys(answers).length}`;
				return { kind: 'ask', questions: [{ id, to: 'human', brief: { prompt: '?' } }] };
			}),
		);
		expect(failed).toEqual({
			questions: 'at after (attempt 1, agreeing answers): it still asks after 20 rounds of answers',
		});
	});

	it('gives two questions one id', async () => {
		const question = { id: 'q', to: 'human' as const, brief: { prompt: '?' } };
		const failed = await failuresOf(moduleOf(() => ({ kind: 'ask', questions: [question, question] })));
		expect(failed['verdicts']).toBe('at after (an ordinary one): two of its questions have the id "q"');
	});

	it('cannot be given the options that were named, or for which none can be made up', async () => {
		const options = {
			type: 'object',
			required: ['word'],
			properties: { word: { type: 'string', pattern: '^[0-9]+$' } },
		};
		const definition = { ...moduleOf(() => pass), options };
		expect((await failuresOf(definition, { word: 1 }))['options_schema']).toMatch(
			/^the options that were given do not fit its schema: .*\(\{"word":1\}\)$/,
		);
		expect((await failuresOf(definition))['options_schema']).toMatch(
			/^no options could be made up that fit its schema; give some with --options: .*\(\{"word":"example"\}\)$/,
		);
		expect(await failuresOf(definition, { word: '7' })).toEqual({});
	});
});

test('the options that are made up are the least a schema asks for', () => {
	const schema = {
		type: 'object',
		required: ['tier', 'limit', 'names', 'deep', 'on', 'either', 'usual', 'nothing', 'fixed', 'shown', 'free'],
		properties: {
			tier: { enum: ['T0', 'T1'] },
			limit: { type: 'integer', minimum: 3 },
			names: { type: 'array', minItems: 2, items: { type: 'string' } },
			deep: { type: 'object', required: ['n'], properties: { n: { type: 'number' }, m: {} } },
			on: { type: ['boolean', 'null'] },
			either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
			usual: { type: 'string', default: 'as ever' },
			nothing: { type: 'null' },
			fixed: { const: 7 },
			shown: { type: 'string', examples: ['like this'] },
			optional: { type: 'string' },
		},
	};
	expect(exampleOptions(schema)).toEqual({
		tier: 'T0',
		limit: 3,
		names: ['example', 'example'],
		deep: { n: 1 },
		on: true,
		either: 'example',
		usual: 'as ever',
		nothing: null,
		fixed: 7,
		shown: 'like this',
		free: 'example',
	});
	expect(exampleOptions({})).toEqual({});
});

test('docs/overlays.md lists the checks as they are', () => {
	const rows = tableBelow(readFileSync(join(root, 'docs/overlays.md'), 'utf8'), '<!-- conformance checks -->');
	expect(Object.fromEntries(rows.map(([check = '', about]) => [check.replaceAll('`', ''), about]))).toEqual(CHECKS);
});
