/**
 * What git knows of a workspace: its identity as a tree, and what changed between two trees.
 *
 * Works beside the user's repository, never in it: a temporary index and an object folder of its own, both in the run's
 * folder; no hooks, no configured programs. Blocks while git runs. Loads child_process: reach it by `await import()`.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, rmSync, statSync, utimesSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';

/** Git, for one project and one run. */
export interface Git {
	/** The tree id of everything in the workspace that is not ignored; null when git cannot say. */
	tree(): string | null;
	/** Writes the difference between two trees into a file; false when git cannot say. */
	diff(from: string, to: string, outFile: string, paths?: readonly string[]): boolean;
}

/** Opens git for a project; null when it is not in a repository, or there is no usable git. */
export function openGit(project: string, runDir: string): Git | null {
	const found = runGit(project, cleanEnvironment(), ['rev-parse', '--git-path', 'index', '--git-path', 'objects']);
	const [index, objects] = found?.split('\n') ?? [];
	if (!index || !objects) return null;
	const own = { index: join(runDir, 'git', 'index'), objects: join(runDir, 'git', 'objects') };
	const env = {
		...cleanEnvironment(),
		GIT_INDEX_FILE: own.index,
		GIT_OBJECT_DIRECTORY: own.objects,
		GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(resolve(project, objects)),
	};
	const userIndex = isAbsolute(index) ? index : join(project, index);
	return {
		tree() {
			prepare(own, userIndex);
			// A file that cannot be read must not hide what changed in the others.
			runGit(project, env, ['add', '--all', '--ignore-errors', '--', '.', ':(exclude,glob)**/.ai-sdd/state/**']);
			return runGit(project, env, ['write-tree'])?.trim() ?? null;
		},
		diff: (from, to, outFile, paths = ['.']) => writeDiff(project, env, [from, to, '--', ...paths], outFile),
	};
}

interface OwnFiles {
	readonly index: string;
	readonly objects: string;
}

/** Begins with a copy of the user's index: git then need not read the files that have not changed since. */
function prepare(own: OwnFiles, userIndex: string): void {
	mkdirSync(own.objects, { recursive: true });
	// Left behind by a git that was killed with its run; nobody else uses this index.
	rmSync(`${own.index}.lock`, { force: true });
	if (existsSync(own.index) || !existsSync(userIndex)) return;
	copyFileSync(userIndex, own.index);
	// By the index's time git knows which files may have changed after it was written: it must not look newer.
	const { atimeMs, mtimeMs } = statSync(userIndex);
	utimesSync(own.index, Math.floor(atimeMs / 1000), Math.floor(mtimeMs / 1000));
}

function writeDiff(project: string, env: Environment, what: readonly string[], outFile: string): boolean {
	const fd = openSync(outFile, 'w');
	try {
		const args = ['diff', '--no-color', '--no-ext-diff', '--no-textconv', '--relative', ...what];
		const done = spawnSync('git', [...SETTINGS, ...args], { cwd: project, env, stdio: ['ignore', fd, 'ignore'] });
		return done.status === 0;
	} finally {
		closeSync(fd);
	}
}

interface Environment {
	readonly [name: string]: string | undefined;
}

// A workspace's configuration may name programs to run and other ways to find changes: none of them here.
const SETTINGS = [
	'-c',
	'core.fsmonitor=false',
	'-c',
	'core.hooksPath=/dev/null',
	'-c',
	'core.splitIndex=false',
	'-c',
	'core.untrackedCache=false',
	'-c',
	'core.safecrlf=false',
	'-c',
	'core.quotePath=false',
	'-c',
	'diff.noprefix=false',
	'-c',
	'diff.mnemonicPrefix=false',
];

function runGit(cwd: string, env: Environment, args: readonly string[]): string | null {
	const done = spawnSync('git', [...SETTINGS, ...args], {
		cwd,
		env,
		encoding: 'utf8',
		stdio: ['ignore', 'pipe', 'ignore'],
	});
	return done.status === 0 ? done.stdout : null;
}

/** GIT_* variables (as in a hook) would point git at something else than the workspace. */
function cleanEnvironment(): Environment {
	const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
	return { ...env, GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
}

/** The list of object folders is split at colons, unless an entry is quoted. */
function quoted(path: string): string {
	return `"${path.replaceAll(/["\\]/g, '\\$&')}"`;
}
