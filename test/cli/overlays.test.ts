import { expect, test } from 'vitest';
import { builtinOverlays } from '../../overlays/index.ts';
import { coder, makeRig, type Rig } from '../rig.ts';

const OWN = '.ai-sdd/overlays';

interface TestReport {
	readonly ok: boolean;
	readonly name: string;
	readonly overlay: string;
	readonly checks: readonly { readonly check: string; readonly status: string; readonly words: string | null }[];
}

async function testJson(rig: Rig, ...args: readonly string[]): Promise<TestReport> {
	return JSON.parse((await rig.sdd('overlays', 'test', '--json', ...args)).stdout) as TestReport;
}

test('a scaffolded Python overlay conforms, is listed and described, and its unittest passes', async () => {
	const rig = await makeRig();
	const made = await rig.sdd('overlays', 'new', 'no-todos', '--python');
	expect(made).toMatchObject({ code: 0, stderr: '' });
	expect(made.stdout).toContain(`wrote ${OWN}/no_todos.py\nwrote ${OWN}/test_no_todos.py\n`);
	expect(made.stdout).toContain(`no-todos: { enabled: true, use: ./${OWN}/no_todos.py }`);
	expect(rig.read(`${OWN}/no_todos.py`).split('\n').length).toBeLessThan(30);
	const tested = await rig.sdd('overlays', 'test', `${OWN}/no_todos.py`);
	expect(tested).toMatchObject({ code: 0, stderr: '' });
	expect(tested.stdout).toMatch(/^no-todos \(\.\/\.ai-sdd\/overlays\/no_todos\.py\)\n {2}ok {7}starts /);
	expect(tested.stdout).toMatch(/\n12 passed, 0 failed, 1 skipped\n$/);
	expect((await testJson(rig, 'no-todos')).ok).toBe(true);
	const listed = await rig.sdd('overlays', 'list');
	expect(listed.code).toBe(0);
	expect(listed.stdout).toMatch(/no-todos +\.\/\.ai-sdd\/overlays\/no_todos\.py +after +50 +No forbidden word/);
	const described = await rig.sdd('overlays', 'describe', 'no-todos');
	expect(described.stdout).toMatch(/forbid {2}list of string {2}no {6}\["FIXME"\]/);
	const [command = ''] = /PYTHONPATH=.* python3 -m unittest discover .*/.exec(made.stdout) ?? [];
	rig.script('unittest.sh', command);
	rig.workflow({
		name: 'tests',
		agents: { dev: { adapter: 'command', run: ['./unittest.sh'] } },
		tasks: { run: { agent: 'dev', description: 'run the unittests' } },
	});
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
});

test('a scaffolded TypeScript overlay conforms', async () => {
	const rig = await makeRig();
	expect((await rig.sdd('overlays', 'new', 'todos', '--typescript', '--json')).stdout).toBe(
		`${JSON.stringify({ name: 'todos', written: [`${OWN}/todos.ts`] }, null, 2)}\n`,
	);
	expect(await testJson(rig, 'todos', '--options', '{"forbid": ["HACK"]}')).toMatchObject({ name: 'todos', ok: true });
});

test.each(builtinOverlays.map(({ name }) => name))('the built-in %s conforms', async (name) => {
	const rig = await makeRig();
	const { code, stdout, stderr } = await rig.sdd('overlays', 'test', name);
	expect([code, stderr]).toEqual([0, '']);
	expect(stdout).toMatch(new RegExp(`^${name} \\(built-in\\)\n {2}ok {7}starts `));
	expect(stdout).toMatch(/\n\d passed, 0 failed, \d skipped\n$/);
	expect(rig.has('.ai-sdd/state')).toBe(false);
});

test('an installed package judges by its name', async () => {
	const rig = await makeRig();
	rig.write('node_modules/sdd-gate/package.json', '{ "name": "sdd-gate", "type": "module", "main": "./main.js" }');
	rig.write(
		'node_modules/sdd-gate/main.js',
		`import { defineOverlay } from 'ai-sdd';
		export default defineOverlay({ name: 'gate', summary: '', hooks: ['after'], options: {}, create: () => ({
			after: ({ attempt }) => (attempt === 1 ? { kind: 'rework', feedback: 'once more' } : { kind: 'pass' }),
		}) });`,
	);
	const overlays = { gate: { enabled: true, use: 'sdd-gate' } };
	rig.workflow({ agents: { dev: coder }, tasks: { a: { agent: 'dev', description: 'x', overlays } } });
	expect((await rig.sdd('plan', 'w.yaml')).stdout).toContain('judge 1: gate from sdd-gate (after)');
	const { code, stdout } = await rig.sdd('run', 'w.yaml');
	expect([code, stdout]).toEqual([0, expect.stringMatching(/a: gate: rework once more\n[\s\S]*a: gate: pass\n/)]);
});

test('nothing is overwritten, and half a scaffold is not written', async () => {
	const rig = await makeRig();
	rig.write(`${OWN}/test_gate.py`, 'mine');
	expect(await rig.sdd('overlays', 'new', 'gate', '--python')).toMatchObject({
		code: 2,
		stderr: expect.stringContaining(
			`${OWN}/test_gate.py is there already, and nothing is overwritten [OVERLAY_EXISTS]`,
		),
	});
	expect(rig.has(`${OWN}/gate.py`)).toBe(false);
	expect(rig.read(`${OWN}/test_gate.py`)).toBe('mine');
});

test('what is in the way of a new overlay is said', async () => {
	const rig = await makeRig();
	rig.write(OWN, 'a file');
	const { code, stderr } = await rig.sdd('overlays', 'new', 'gate', '--python');
	expect(code).toBe(2);
	expect(stderr).toContain(`error: cannot write ${OWN}/gate.py: a file is in the way of a folder`);
	expect(stderr).toContain(`[STORE_NOT_A_FOLDER]\n  remedy: see what lies at ${OWN}`);
});

test.each([
	[['new', 'gate'], 'say --python or --typescript'],
	[['new', 'gate', '--python', '--typescript'], 'say --python or --typescript'],
	[['new', '../gate', '--python'], '"../gate" cannot be the name of an overlay'],
	[['new', 'hil', '--python'], '"hil" is the name of a built-in overlay'],
	[['new', 'policy-gate', '--typescript'], '"policy-gate" is the name of a built-in overlay'],
	[['new', 'class', '--python'], '"class" is a word of Python\'s own, and its test could not import it'],
	[['new', 'secrets', '--python'], '"secrets" is the name of a module of Python\'s own, which it would hide'],
	[['new', 'heapq', '--python'], '"heapq" is the name of a module of Python\'s own, which it would hide'],
	[['test', 'hil', '--options', '[]'], '--options needs a JSON object'],
	[['test', 'hil', '--options', '{'], '--options needs a JSON object'],
	[['test', 'hil', '--timeout', 'soon'], '--timeout needs a duration, not "soon"'],
	[
		['test', 'agentic_reviw'],
		'there is no overlay and no file "agentic_reviw" [OVERLAY_NOT_FOUND]\n  remedy: did you mean "agentic_review"?',
	],
	[['describe', 'zzz'], 'there is no overlay and no file "zzz" [OVERLAY_NOT_FOUND]\n  remedy: there are: hil, '],
])('sdd overlays %j is refused in words', async (args, words) => {
	const rig = await makeRig();
	const { code, stderr } = await rig.sdd('overlays', ...args);
	expect(code).toBe(2);
	expect(stderr).toContain(words);
});

test('of an overlay that says nothing of its options it is not said that it takes none', async () => {
	const rig = await makeRig();
	const module = (options: string): string =>
		`export default { name: 'x', summary: '', hooks: ['after'], options: ${options}, create: () => ({}) };`;
	rig.write(`${OWN}/any.mjs`, module('{}'));
	rig.write(`${OWN}/none.mjs`, module('{ additionalProperties: false }'));
	expect((await rig.sdd('overlays', 'describe', 'any')).stdout).toContain('It does not say which options it takes');
	expect((await rig.sdd('overlays', 'describe', 'none')).stdout).toContain('It takes no options.');
});

test('a broken overlay fails the command, is named in the list, and leaves nothing running', async () => {
	const rig = await makeRig();
	rig.write(`${OWN}/gate.py`, 'import time\nprint("hello", flush=True)  # .serve(\ntime.sleep(600)\n');
	rig.write(`${OWN}/shared.py`, 'raise SystemExit("no overlay: never run")\n');
	rig.write(`${OWN}/wrong.ts`, 'export default { name: "wrong" };\n');
	const tested = await rig.sdd('overlays', 'test', 'gate');
	expect(tested.code).toBe(1);
	expect(tested.stdout).toContain(
		'FAILED   clean_stdout    nothing but messages goes to stdout\n           it wrote something that is no JSON to stdout: "hello"\n',
	);
	const listed = await rig.sdd('overlays', 'list');
	expect(listed.code).toBe(1);
	expect(listed.stderr).toBe(
		`./${OWN}/gate.py: it could not be started: it wrote something that is no JSON to stdout: "hello"\n` +
			'  remedy: try it with `sdd overlays test`; docs/protocol.md says what an overlay must answer\n' +
			`./${OWN}/wrong.ts: ./${OWN}/wrong.ts is not an overlay: "summary" must be a text\n`,
	);
	expect(listed.stdout).not.toContain('shared');
	const { stderr, code } = await rig.sdd('overlays', 'describe', 'wrong');
	expect(code).toBe(2);
	expect(stderr).toContain('is not an overlay: "summary" must be a text [OVERLAY_MODULE]');
	expect(rig.leftovers()).toEqual([]);
	const missing = await testJson(rig, `${OWN}/wrong.ts`);
	expect(missing.checks[0]).toMatchObject({ check: 'starts', status: 'failed' });
});

test('any command that speaks the protocol can be tested, from wherever the user stands', async () => {
	const rig = await makeRig();
	rig.write('tools/judge.mjs', JUDGE);
	const cwd = `${rig.dir}/tools`;
	const words = await rig.sddWith({ cwd }, 'overlays', 'test', '--', 'node', 'tools/judge.mjs', '--strict');
	expect(words).toMatchObject({ code: 0, stderr: '' });
	rig.script('tools/judge', 'exec node "$SDD_PROJECT_DIR/tools/judge.mjs"');
	expect((await rig.sddWith({ cwd }, 'overlays', 'test', './judge')).code).toBe(0);
});

test('a module that prints does not spoil the document', async () => {
	const rig = await makeRig();
	const text = `export default { name: 'loud', summary: '', hooks: ['after'], options: {},
		create: () => ({ after: () => { process.stdout.write('hello'); return { kind: 'pass' }; } }) };`;
	rig.write(`${OWN}/loud.mjs`, text);
	const { checks } = await testJson(rig, 'loud');
	expect(checks.find(({ check }) => check === 'clean_stdout')).toMatchObject({
		status: 'failed',
		words: 'it wrote to stdout: "hello"; console.error goes to stderr',
	});
});

test('interrupted, the command ends the overlay under test', async () => {
	const rig = await makeRig();
	rig.write(`${OWN}/slow.py`, 'import os, time\nopen("started", "w").close()  # .serve(\ntime.sleep(600)\n');
	const started = rig.start(['overlays', 'test', 'slow']);
	await expect.poll(() => rig.has('started'), { timeout: 20_000 }).toBe(true);
	process.kill(started.pid, 'SIGTERM');
	expect((await started.ended).code).toBe(130);
	await expect.poll(() => rig.leftovers()).toEqual([]);
});

test('every built-in is described with its options, as text and as JSON', async () => {
	const rig = await makeRig();
	const list = JSON.parse((await rig.sdd('overlays', 'list', '--json')).stdout) as {
		readonly overlays: readonly { readonly name: string; readonly where: string }[];
		readonly broken: readonly unknown[];
	};
	expect(list.broken).toEqual([]);
	expect(list.overlays.map(({ name }) => name)).toContain('agentic_review');
	const facts = JSON.parse((await rig.sdd('overlays', 'describe', 'agentic_review', '--json')).stdout) as object;
	expect(facts).toMatchObject({
		name: 'agentic_review',
		where: 'built-in',
		version: null,
		hooks: ['after'],
		order: 30,
		conflicts_with: ['paired_workflow'],
		templates: ['reviewer'],
		log: 'review-logs',
		options: { type: 'object' },
	});
	const text = (await rig.sdd('overlays', 'describe', 'agentic_review')).stdout;
	expect(text).toMatch(/^agentic_review \(built-in\)\n/);
	expect(text).toMatch(/\nreviewer_agent +string +yes /);
	expect(text).toMatch(/\nmax_iterations +integer +no +3 /);
});

const JUDGE = `import { createInterface } from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
	const { id, method, params } = JSON.parse(line);
	if (method === 'initialize' && params.protocol.min <= 1 && params.protocol.max >= 1)
		return send({ id, result: { protocol: 1, name: 'judge', hooks: ['before', 'after'] } });
	if (method === 'before' || method === 'after') return send({ id, result: { kind: 'pass' } });
	if (method === 'shutdown') return send({ id, result: null });
	if (id !== undefined) send({ id, error: { code: -32601, message: 'unknown' } });
});
`;
