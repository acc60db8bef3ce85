/**
 * Builds `dist/`: what `npm ci` leaves behind so that `sdd` can be run.
 *
 *   sdd.cjs, *.cjs         the command: a small entry and chunks that are loaded when a command needs them
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

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const fresh = join(root, `.dist-${process.pid}`);
const COMMON = { platform: 'node', moduleTypes: { '.hbs': 'text', '.md': 'text' } };

await build();

async function build() {
	run('scripts/generate-validators.mjs');
	rmSync(fresh, { recursive: true, force: true });
	mkdirSync(fresh, { recursive: true });
	await bundleCommand();
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
		if (name === 'types') rmSync(join(dist, name), { recursive: true, force: true });
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
	const bundle = await rolldown({ ...COMMON, input: join(root, 'cli/sdd.ts'), external: ['jiti'] });
	await bundle.write({
		dir: fresh,
		format: 'cjs',
		entryFileNames: 'sdd.cjs',
		chunkFileNames: '[name]-[hash].cjs',
		banner: (chunk) => (chunk.isEntry ? '#!/usr/bin/env node' : ''),
		// `require` in place of `import()`: loading a chunk then needs no ESM loader.
		dynamicImportInCjs: false,
		minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
	});
	await bundle.close();
	chmodSync(join(fresh, 'sdd.cjs'), 0o755);
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
