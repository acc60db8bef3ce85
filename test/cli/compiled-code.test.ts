/** The code that V8 made of the chunks at build time: it is used, and nothing depends on it. */
import { spawnSync } from 'node:child_process';
import {
	cpSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { COMMAND } from '../rig.ts';

const CODE = `code-${process.version}-${process.platform}-${process.arch}`;
const COMPILE = new URL('../../scripts/compile-chunks.mjs', import.meta.url).href;
/** Tells at the end which chunks were compiled, and for which of them V8 took the code that lay beside them. */
const WITNESS = `
const vm = require('node:vm');
const seen = [];
vm.Script = class extends vm.Script {
	constructor(source, options) {
		super(source, options);
		seen.push([options.filename, this.cachedDataRejected]);
	}
};
process.once('exit', () => require('node:fs').writeFileSync(process.env.SEEN, JSON.stringify(seen)));
`;

let folder: string;
beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), 'sdd-code-'));
	writeFileSync(join(folder, 'witness.cjs'), WITNESS);
	const task = 'tasks: { work: { agent: dev, description: Work } }';
	writeFileSync(
		join(folder, 'workflow.yaml'),
		`version: "1"\nname: code\nagents: { dev: { run: [echo, done] } }\n${task}\n`,
	);
	writeFileSync(join(folder, 'wrong.yaml'), 'version: "2"\nname: code\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

it('is taken by V8 for every chunk that validating loads', () => {
	const { seen } = sdd(COMMAND, 'validate', 'workflow.yaml');
	expect(seen.length).toBeGreaterThan(5);
	expect(seen.filter(([, rejected]) => rejected !== false)).toEqual([]);
});

it.each([
	['removed', (code: string) => rmSync(code, { recursive: true })],
	['cut short', (code: string) => readdirSync(code).forEach((name) => void truncateSync(join(code, name), 100))],
	['empty', (code: string) => readdirSync(code).forEach((name) => void truncateSync(join(code, name)))],
])('%s, it changes nothing in what the command says', (_, spoil) => {
	const dist = mkdtempSync(join(folder, 'dist-'));
	cpSync(dirname(COMMAND), dist, { recursive: true });
	spoil(join(dist, CODE));
	for (const file of ['workflow.yaml', 'wrong.yaml']) {
		const { seen, ...said } = sdd(join(dist, 'sdd.cjs'), 'validate', file);
		const { seen: _seen, ...expected } = sdd(COMMAND, 'validate', file);
		expect(said).toEqual(expected);
		expect(seen.filter(([, rejected]) => rejected === false)).toEqual([]);
	}
});

it('is made without a trace in a project that the temp folder lies in', () => {
	const dist = mkdtempSync(join(folder, 'dist-'));
	cpSync(dirname(COMMAND), dist, { recursive: true });
	rmSync(join(dist, CODE), { recursive: true });
	const above = mkdtempSync(join(folder, 'project-'));
	mkdirSync(join(above, '.ai-sdd'));
	const make = `import('${COMPILE}').then(({ compileChunks }) => compileChunks(${JSON.stringify(dist)}))`;
	const env = { PATH: process.env['PATH'] ?? '', TMPDIR: above };
	expect(spawnSync(process.execPath, ['-e', make], { env, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
	expect(readdirSync(join(dist, CODE)).length).toBeGreaterThan(5);
	expect(readdirSync(above, { recursive: true })).toEqual(['.ai-sdd']);
});

interface Said {
	readonly status: number | null;
	readonly stdout: string;
	readonly stderr: string;
	readonly seen: readonly (readonly [file: string, rejected: boolean | undefined])[];
}

function sdd(command: string, ...args: readonly string[]): Said {
	const argv = ['--require', join(folder, 'witness.cjs'), command, ...args];
	const env = { PATH: process.env['PATH'] ?? '', HOME: folder, SEEN: join(folder, 'seen.json') };
	const { status, stdout, stderr } = spawnSync(process.execPath, argv, { cwd: folder, env, encoding: 'utf8' });
	return { status, stdout, stderr, seen: JSON.parse(readFileSync(join(folder, 'seen.json'), 'utf8')) };
}
