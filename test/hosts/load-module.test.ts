import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadOverlayModule } from '../../engine/hosts/load-module.ts';

const contract = fileURLToPath(new URL('../../engine/contract.ts', import.meta.url));
const FIELDS = "summary: 's', hooks: ['after'], options: {}, create: () => ({})";
let project = '';

beforeEach(() => {
	project = mkdtempSync(join(tmpdir(), 'sdd-'));
});

afterEach(() => rmSync(project, { recursive: true, force: true }));

function write(path: string, text: string): void {
	mkdirSync(dirname(join(project, path)), { recursive: true });
	writeFileSync(join(project, path), text);
}

async function load(path: string, text: string) {
	write(path, text);
	return loadOverlayModule(project, `./${path}`, contract);
}

test.each([
	[
		'gate.ts',
		`import { defineOverlay, type Verdict } from 'ai-sdd';\nconst pass: Verdict = { kind: 'pass' };\nexport default defineOverlay({ name: 'gate', ${FIELDS}, create: () => ({ after: () => pass }) });`,
	],
	['gate.mjs', `export default { name: 'gate', ${FIELDS} };`],
	['gate.cjs', `module.exports = { name: 'gate', ${FIELDS} };`],
	['both.cjs', `module.exports = { name: 'gate', ${FIELDS} };\nmodule.exports.default = module.exports;`],
	['default.cjs', `exports.default = { name: 'gate', ${FIELDS} };`],
	['gate.js', `module.exports = { overlay: { name: 'gate', ${FIELDS} } };`],
	['named.mjs', `export const overlay = { name: 'gate', ${FIELDS} };`],
])('%s is an overlay', async (path, text) => {
	expect(await load(path, text)).toMatchObject({ name: 'gate', hooks: ['after'] });
});

test('what a module imports beside it is loaded too', async () => {
	write('lib/name.ts', "export const name: string = 'gate';");
	const text = `import { name } from './lib/name.ts';\nexport default { name, ${FIELDS} };`;
	expect(await load('gate.ts', text)).toMatchObject({ name: 'gate' });
});

test('an installed package is an overlay by its name', async () => {
	write(
		'node_modules/sdd-gate/package.json',
		'{"name": "sdd-gate", "version": "1.0.0", "type": "module", "main": "main.js"}',
	);
	write('node_modules/sdd-gate/main.js', `export default { name: 'gate', ${FIELDS} };`);
	expect(await loadOverlayModule(project, 'sdd-gate', contract)).toMatchObject({ name: 'gate' });
});

test('a file that is not there is said to be so', async () => {
	expect(await loadOverlayModule(project, './gone.ts', contract)).toEqual({ error: 'there is no file ./gone.ts' });
});

test('a package that is not installed is said to be so', async () => {
	const loaded = await loadOverlayModule(project, 'sdd-no-such-overlay', contract);
	expect(loaded).toEqual({
		error: expect.stringMatching(/^sdd-no-such-overlay cannot be loaded: .*sdd-no-such-overlay/),
	});
});

test('a module that throws, or is no code, is said to be so in one line', async () => {
	expect(await load('gate.mjs', "throw new Error('first line\\nsecond line');")).toEqual({
		error: './gate.mjs cannot be loaded: first line',
	});
	expect(await load('broken.ts', 'export default {{{')).toEqual({
		error: expect.stringMatching(/^\.\/broken\.ts cannot be loaded: \S/),
	});
});

test.each([
	['export const nothing = 1;', './gate.mjs exports no overlay; it needs `export default defineOverlay({ … })`'],
	['export default 5;', './gate.mjs exports no overlay; it needs `export default defineOverlay({ … })`'],
	[`export default { ${FIELDS} };`, './gate.mjs is not an overlay: "name" must be a text'],
	["export default { name: 'gate' };", './gate.mjs is not an overlay: "summary" must be a text'],
	[
		"export default { name: 'gate', summary: '' };",
		'./gate.mjs is not an overlay: "hooks" must list some of before, checkpoint, after, failed',
	],
	[
		"export default { name: 'gate', summary: '', hooks: ['later'] };",
		'./gate.mjs is not an overlay: "later" is not a hook; there are before, checkpoint, after, failed',
	],
	[
		"export default { name: 'gate', summary: '', hooks: ['after'] };",
		'./gate.mjs is not an overlay: "options" must be a JSON Schema',
	],
	[
		"export default { name: 'gate', summary: '', hooks: ['after'], options: {} };",
		'./gate.mjs is not an overlay: "create" must be a function',
	],
	[
		`export default { name: 'gate', ${FIELDS}, log: { folder: '../../etc' } };`,
		'./gate.mjs is not an overlay: its log cannot lie in the folder "../../etc"',
	],
])('%s is refused, and why', async (text, error) => {
	expect(await load('gate.mjs', text)).toEqual({ error });
});
