/** Projects to run `sdd` in, and the built command itself: all of it in a temporary folder that is removed at the end. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './measure.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Opens the bench: a folder with a copy of the built command, so that a build meanwhile changes nothing. */
export function openBench() {
	const folder = mkdtempSync(join(tmpdir(), 'sdd-bench-'));
	const dist = join(root, 'dist');
	if (!existsSync(join(dist, 'sdd.cjs'))) throw new Error('there is no dist/: run `npm run build` first');
	cpSync(dist, join(folder, 'dist'), { recursive: true });
	const known = new Map();
	let count = 0;
	return {
		folder,
		sdd: [process.execPath, join(folder, 'dist/sdd.cjs')],
		/** A new project with these files; returns its folder. */
		project(files) {
			const project = join(folder, `project-${++count}`);
			for (const [path, text] of Object.entries(files)) {
				mkdirSync(dirname(join(project, path)), { recursive: true });
				writeFileSync(join(project, path), text);
			}
			return project;
		},
		/** What `make` gave the first time: for runs that several rows look at. */
		async once(key, make) {
			if (!known.has(key)) known.set(key, await make());
			return known.get(key);
		},
		close: () => rmSync(folder, { recursive: true, force: true }),
	};
}

/**
 * Runs the workflow of a project under `slices.cjs`; with `slice` the floor of the disk is measured after so many syncs.
 * Returns what was measured.
 */
export function runSliced(bench, project, slice = 0) {
	const result = join(project, 'result.json');
	const [node, sdd] = bench.sdd;
	const hook = join(root, 'bench/slices.cjs');
	const env = { SDD_BENCH_RESULT: result, SDD_BENCH_SLICE: String(slice) };
	run([node, '--require', hook, sdd, 'run', 'workflow.yaml', '--quiet'], { cwd: project, env });
	return JSON.parse(readFileSync(result, 'utf8'));
}

/** The folder of a project's newest run. */
export function runFolder(project) {
	const runs = join(project, '.ai-sdd/state/runs');
	return join(runs, readdirSync(runs).sort().at(-1));
}

/** The text of a run's journal. */
export function journalText(project) {
	const folder = join(runFolder(project), 'journal');
	const segments = readdirSync(folder).filter((name) => name.endsWith('.ndjson'));
	return segments
		.sort()
		.map((name) => readFileSync(join(folder, name), 'utf8'))
		.join('');
}

/** The records of a run's journal. */
export function journalOf(project) {
	return journalText(project)
		.trimEnd()
		.split('\n')
		.map((line) => JSON.parse(line));
}
