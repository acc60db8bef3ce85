/** The project's own overlays: loaded by the caller, checked here. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OverlayDefinition } from '../../engine/contract.ts';
import type { Preparation } from '../../engine/plan/prepare.ts';
import { prepareIn, saidBy } from './prepare-case.ts';

let folder: string;
beforeEach(() => {
	folder = realpathSync(mkdtempSync(join(tmpdir(), 'sdd-')));
	mkdirSync(join(folder, '.ai-sdd'));
	writeFileSync(join(folder, '.ai-sdd', 'licences.ts'), '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const licences: OverlayDefinition = {
	name: 'licences',
	summary: 'Refuses packages under other licences.',
	hooks: ['after'],
	options: {
		type: 'object',
		additionalProperties: false,
		required: ['allow'],
		properties: {
			allow: { type: 'array', items: { type: 'string' }, description: 'Licences that may be used.' },
			auditor: { type: 'string' },
			mode: { const: 'strict' },
		},
	},
	agents: ({ options }) => (typeof options['auditor'] === 'string' ? [options['auditor']] : []),
	attempts: () => 7,
	create: () => ({}),
};

const HEAD = 'version: "1"\nagents: { dev: { run: [./dev.sh] } }\ndefaults: { agent: dev }\ntasks:\n';
const USE = 'use: ./.ai-sdd/licences.ts';

function prepareWith(tasks: string, definition: OverlayDefinition, other: Partial<Preparation> = {}) {
	writeFileSync(join(folder, 'workflow.yaml'), HEAD + tasks);
	return prepareIn(folder, { resolveOverlay: async () => definition, ...other });
}

test('a module overlay is planned with its options, behind the built-ins', async () => {
	const overlays = `{ licences: { enabled: true, ${USE}, timeout: 30s, on_error: warn, options: { allow: [MIT] } }, hil: { enabled: true } }`;
	const prepared = await prepareWith(`  a: { overlays: ${overlays} }\n`, licences);
	if (!prepared.ok) throw new Error(saidBy(prepared));
	expect(prepared.plan.tasks[0]!.overlays).toMatchObject([
		{ name: 'hil', use: null, order: 10, timeoutMs: 60_000, onError: 'fail' },
		{
			name: 'licences',
			use: './.ai-sdd/licences.ts',
			hooks: ['after'],
			options: { allow: ['MIT'] },
			order: 50,
			timeoutMs: 30_000,
			onError: 'warn',
		},
	]);
	expect(prepared.plan.tasks[0]!.maxAttempts).toBe(7);
});

test('what defaults and task say of it is put together, options field by field', async () => {
	writeFileSync(
		join(folder, '.ai-sdd', 'ai-sdd.yaml'),
		`defaults: { overlays: { licences: { ${USE}, options: { allow: [MIT], auditor: dev } } } }\n`,
	);
	const prepared = await prepareWith(
		'  a: { overlays: { licences: { enabled: true, options: { allow: [ISC] } } } }\n',
		licences,
	);
	if (!prepared.ok) throw new Error(saidBy(prepared));
	expect(prepared.plan.tasks[0]!.overlays[0]!.options).toEqual({ allow: ['ISC'], auditor: 'dev' });
});

test('a module that no task has enabled is not loaded', async () => {
	const resolveOverlay = vi.fn();
	await prepareWith(`  a: { overlays: { licences: { ${USE} } } }\n`, licences, { resolveOverlay });
	expect(resolveOverlay).not.toHaveBeenCalled();
});

test('a module is loaded once for all tasks', async () => {
	const resolveOverlay = vi.fn(async () => licences);
	const task = `{ overlays: { licences: { enabled: true, ${USE}, options: { allow: [] } } } }`;
	await prepareWith(`  a: ${task}\n  b: ${task}\n`, licences, { resolveOverlay });
	expect(resolveOverlay).toHaveBeenCalledExactlyOnceWith('licences', './.ai-sdd/licences.ts');
});

test('its options are checked by its own schema', async () => {
	const options = '{ alow: [MIT], mode: lax, auditor: [x] }';
	const said = saidBy(
		await prepareWith(`  a: { overlays: { licences: { enabled: true, ${USE}, options: ${options} } } }\n`, licences),
	);
	const lines = said.split('\n').filter((line) => line.includes('error:') || line.includes('remedy:'));
	expect(lines).toEqual([
		'workflow.yaml:5:84 error: overlay "licences": "allow" is missing in its options [OVERLAY_OPTION]',
		'  remedy: add "allow": licences that may be used.',
		'workflow.yaml:5:92 error: overlay "licences": unknown key "alow" in its options [OVERLAY_OPTION]',
		'  remedy: did you mean "allow"?',
		'workflow.yaml:5:105 error: overlay "licences": "mode" cannot be "lax" [OVERLAY_OPTION]',
		'  remedy: write "strict"',
		'workflow.yaml:5:119 error: overlay "licences": "auditor" must be text, not a list [OVERLAY_OPTION]',
		'  remedy: write text – see `sdd schema`',
	]);
});

test('a malformed options schema is the module’s mistake', async () => {
	const broken = { ...licences, options: { type: 'nonsense' } };
	const said = saidBy(await prepareWith(`  a: { overlays: { licences: { enabled: true, ${USE} } } }\n`, broken));
	expect(said).toContain('overlay "licences": its options schema is not valid: ');
});

test('an agent it asks must exist', async () => {
	const options = '{ allow: [], auditor: dve }';
	const said = saidBy(
		await prepareWith(`  a: { overlays: { licences: { enabled: true, ${USE}, options: ${options} } } }\n`, licences),
	);
	expect(said).toContain('overlay "licences" of task "a" names agent "dve", which is not defined [AGENT_UNKNOWN]');
	expect(said).toContain('did you mean "dev"?');
});

test('a definition that throws while it is checked is a diagnostic', async () => {
	const broken: OverlayDefinition = {
		...licences,
		problems: () => {
			throw new Error('no idea');
		},
	};
	const said = saidBy(
		await prepareWith(`  a: { overlays: { licences: { enabled: true, ${USE}, options: { allow: [] } } } }\n`, broken),
	);
	expect(said).toContain('overlay "licences" broke down while it was checked: Error: no idea [OVERLAY_MODULE]');
});

test('overlays that exclude each other are refused on one task, and allowed on two', async () => {
	const pairing = { ...licences, conflictsWith: ['hil'], options: {} };
	const on = `licences: { enabled: true, ${USE} }`;
	const both = await prepareWith(`  a: { overlays: { hil: { enabled: true }, ${on} } }\n`, pairing);
	expect(saidBy(both)).toContain('overlays "hil" and "licences" exclude each other on task "a" [OVERLAY_CONFLICT]');
	const apart = await prepareWith(
		`  a: { overlays: { ${on} } }\n  b: { overlays: { hil: { enabled: true } } }\n`,
		pairing,
	);
	expect(apart.ok).toBe(true);
});

test('overlays that would keep the same log are refused on one task, and allowed on two', async () => {
	const closing = () => ({});
	const logging = { ...licences, options: {}, log: { folder: 'licence-logs', name: 'licence_log', closing } };
	const one = `licences: { enabled: true, ${USE} }`;
	const other = `patents: { enabled: true, ${USE} }`;
	expect(saidBy(await prepareWith(`  a: { overlays: { ${one}, ${other} } }\n`, logging))).toContain(
		'overlays "licences" and "patents" would both keep the log licence-logs/a.json [OVERLAY_CONFLICT]',
	);
	const apart = await prepareWith(`  a: { overlays: { ${one} } }\n  b: { overlays: { ${other} } }\n`, logging);
	expect(apart.ok).toBe(true);
	const reviewing = { ...logging, log: { ...logging.log, folder: 'review-logs' } };
	const review = 'agentic_review: { enabled: true, reviewer_agent: dev, coder_agent: dev }';
	expect(saidBy(await prepareWith(`  a: { overlays: { ${review}, ${one} } }\n`, reviewing))).toContain(
		'would both keep the log review-logs/a.json [OVERLAY_CONFLICT]',
	);
});

test.each([
	['/etc', 'no path inside the project'],
	['src/../..', 'no path inside the project'],
	['', 'the whole project'],
	['./', 'the whole project'],
])('an overlay that watches %j is refused: that is %s', async (path, what) => {
	const watching = { ...licences, options: {}, watches: () => ['src', path] };
	expect(saidBy(await prepareWith(`  a: { overlays: { licences: { enabled: true, ${USE} } } }\n`, watching))).toContain(
		`overlay "licences" watches "${path}", which is ${what} [OVERLAY_OPTION]`,
	);
});

test('an overlay that is never consulted in this version is told of', async () => {
	const looking = (hooks: OverlayDefinition['hooks']) =>
		prepareWith(`  a: { overlays: { licences: { enabled: true, ${USE} } } }\n`, { ...licences, options: {}, hooks });
	const never = await looking(['checkpoint']);
	const words = 'overlay "licences" never judges: its only hook is checkpoint, and no task has one in this version';
	expect(never).toMatchObject({
		ok: true,
		warnings: [{ code: 'OVERLAY_MODULE', severity: 'warning', message: words }],
	});
	expect(await looking(['checkpoint', 'after'])).toMatchObject({ ok: true, warnings: [] });
});

test('options beside `enabled` are refused even when the defaults name the module', async () => {
	const tasks = '  a: { overlays: { licences: { enabled: true, allow: [MIT] } } }\n';
	writeFileSync(join(folder, '.ai-sdd', 'ai-sdd.yaml'), `defaults: { overlays: { licences: { ${USE} } } }\n`);
	expect(saidBy(await prepareWith(tasks, licences))).toContain(
		'workflow.yaml:5:47 error: unknown key "allow" in overlay "licences" [OVERLAY_OPTION]',
	);
});
