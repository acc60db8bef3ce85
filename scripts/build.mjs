/**
 * Builds `dist/`: what `npm ci` leaves behind so that `sdd` can be run.
 *
 *   sdd.cjs, *.cjs         the command: a small entry and chunks that are loaded when a command needs them
 *   code-<node>/           what V8 made of the chunks, so that it need not do so at each start
 *   index.mjs, types/      what overlay authors import
 *   workflow.schema.json   for editors
 *
 * The command is CommonJS because that starts faster: see docs/decisions/0001-commonjs-bundle.md.
 */
import { spawnSync } from 'node:child_process';
import {
	chmodSync,
	copyFileSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { compileChunks } from './compile-chunks.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const fresh = join(root, `.dist-${process.pid}`);
const COMMON = { platform: 'node', moduleTypes: { '.hbs': 'text', '.md': 'text' } };
/** What it takes to read arguments and a run, and to print something about it. */
const COMMON_MODULES = new RegExp(
	[
		'cli/(arguments|terminal)',
		'engine/(diagnostic|errors|printable|suggest)',
		'engine/plan/(find-project|plan-file)',
		'engine/run/(find-run|read-run|reduce|state|state-view)',
		'engine/store/(durable|fs-errors|layout|process-alive|read-journal|segments|state-folder)',
	]
		.map((path) => `/${path}\\.ts$`)
		.join('|'),
);

await build();

async function build() {
	run('scripts/generate-validators.mjs');
	rmSync(fresh, { recursive: true, force: true });
	mkdirSync(fresh, { recursive: true });
	await bundleCommand();
	compileChunks(fresh);
	await bundleContract();
	writeTypes();
	copyFileSync(join(root, 'generated/workflow.schema.json'), join(fresh, 'workflow.schema.json'));
	putInPlace();
	linkCommand();
}

/** The entry comes last and what is stale goes after it, so that `sdd` works at every moment of a build. */
function putInPlace() {
	mkdirSync(dist, { recursive: true });
	const names = readdirSync(fresh).filter((name) => name !== 'sdd.cjs');
	for (const name of [...names, 'sdd.cjs']) {
		// A file is replaced, a folder cannot be.
		if (!name.includes('.') || name.startsWith('code-')) rmSync(join(dist, name), { recursive: true, force: true });
		renameSync(join(fresh, name), join(dist, name));
	}
	for (const name of readdirSync(dist))
		if (!names.includes(name) && name !== 'sdd.cjs') rmSync(join(dist, name), { recursive: true });
	rmSync(fresh, { recursive: true, force: true });
}

function run(script, ...args) {
	const { status } = spawnSync(process.execPath, [join(root, script), ...args], { stdio: 'inherit', cwd: root });
	if (status !== 0) process.exit(status ?? 1);
}

async function bundleCommand() {
	const bundle = await rolldown({
		...COMMON,
		input: join(root, 'cli/sdd.ts'),
		external: ['jiti'],
		preserveEntrySignatures: false,
	});
	await bundle.write({
		dir: fresh,
		format: 'cjs',
		entryFileNames: 'sdd.cjs',
		chunkFileNames: '[name]-[hash].cjs',
		banner: (chunk) => (chunk.isEntry ? '#!/usr/bin/env node' : ''),
		// `require` in place of `import()`: loading a chunk then needs no ESM loader.
		dynamicImportInCjs: false,
		// Finding and opening a chunk takes longer than parsing a small one: what nearly all commands need is one chunk.
		codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: 'common', test: COMMON_MODULES }] },
		minify: {
			compress: true,
			mangle: { keepNames: { function: true, class: true } },
			codegen: { removeWhitespace: true },
		},
	});
	await bundle.close();
	await useChunkLoader();
	for (const name of readdirSync(fresh)) if (name.endsWith('.cjs')) escapeToAscii(join(fresh, name));
	chmodSync(join(fresh, 'sdd.cjs'), 0o755);
}

/** Puts the loader ahead of the entry: its `require` becomes one that loads chunks with their compiled code. */
async function useChunkLoader() {
	const bundle = await rolldown({ ...COMMON, input: join(root, 'cli/chunk-loader.ts') });
	const { output } = await bundle.generate({ format: 'cjs', minify: true });
	await bundle.close();
	const loader = `((exports,require)=>{${output[0].code.trim()};return exports.chunkRequire})({},require)`;
	const entry = join(fresh, 'sdd.cjs');
	const [shebang, ...code] = readFileSync(entry, 'utf8').split('\n');
	writeFileSync(entry, [shebang, `var require=${loader}(module,require);`, ...code].join('\n'));
}

/** One character beyond Latin-1 makes Node hold and parse a whole file at two bytes a character. */
function escapeToAscii(path) {
	const text = readFileSync(path, 'utf8');
	const escaped = text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
	if (escaped !== text) writeFileSync(path, escaped);
}

async function bundleContract() {
	const bundle = await rolldown({ ...COMMON, input: join(root, 'engine/index.ts') });
	await bundle.write({ file: join(fresh, 'index.mjs'), format: 'esm' });
	await bundle.close();
}

function writeTypes() {
	run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.types.json', '--outDir', join(fresh, 'types'));
	// Imports in declarations keep the sources' `.ts`, which only those who allow it could read.
	for (const name of readdirSync(join(fresh, 'types/engine'))) {
		const path = join(fresh, 'types/engine', name);
		writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"));
	}
}

/** npm links a package's own command only for those who install it; here `npx sdd` must work in the project itself. */
function linkCommand() {
	const bin = join(root, 'node_modules/.bin/sdd');
	if (!existsSync(dirname(bin))) return;
	rmSync(bin, { force: true });
	if (process.platform !== 'win32') symlinkSync(relative(dirname(bin), join(dist, 'sdd.cjs')), bin);
}
