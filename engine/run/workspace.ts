/** The files a task works on: which of them are there, what is in them, what changed. */
import { existsSync, mkdirSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { capFile } from '../brief/cap.ts';
import { storeError } from '../store/fs-errors.ts';
import { inspectPaths, readArtifact } from './artifacts.ts';
import { findLine } from './find-line.ts';
import type { Git } from './git.ts';
import { listWatched } from './watched.ts';
import type { Workspace } from './world.ts';

/** Characters of one file, or of the diff, that an overlay is shown; a prompt may show less. */
export const CONTENT_CAP = 1024 * 1024;

/** Where a workspace is, and how secrets are taken out of a file that is written about it. */
export interface WorkspacePlace {
	readonly project: string;
	readonly runDir: string;
	readonly mask?: (path: string) => unknown;
}

/** Opens the workspace of a run; git is loaded only when the project lies in a repository. */
export async function openWorkspace(of: WorkspacePlace): Promise<Workspace> {
	const git = isInRepository(of.project) ? (await import('./git.ts')).openGit(of.project, of.runDir) : null;
	return {
		inspect: (paths) => inspectPaths(of.project, paths),
		read: (path, cap) => readArtifact(of.project, path, cap),
		listing: (places) => listWatched(of.project, places),
		tree: () => (git === null ? null : blaming(of.runDir, 'keep the state of the workspace in', () => git.tree())),
		diff: (from, to, name) => blaming(of.runDir, 'write a diff into', () => diffBetween(git, of, { from, to, name })),
		outputHolds(file, words) {
			const path = join(of.runDir, file);
			return words.length === 0 ? null : blaming(path, 'read', () => findLine(path, words));
		},
	};
}

/** Bytes that an ordinary user may still write where `path` lies. */
export function freeBytes(path: string): number {
	try {
		const { bavail, bsize } = statfsSync(path);
		return bavail * bsize;
	} catch (error) {
		throw storeError(error, path, 'ask how much space is left in');
	}
}

/** Stands for a diff without changes. */
export const NO_CHANGES = '(no changes detected)';

/** Stands for a diff where there is no git to make one. */
export const NO_DIFF = '(no diff: the project is not in a git repository)';

/** Turns what the disk refuses into an error of the store. */
function blaming<T>(path: string, doing: string, work: () => T): T {
	try {
		return work();
	} catch (error) {
		throw storeError(error, path, doing);
	}
}

function isInRepository(project: string): boolean {
	for (let folder = project; ; folder = dirname(folder)) {
		if (existsSync(join(folder, '.git'))) return true;
		if (folder === dirname(folder)) return false;
	}
}

interface Span {
	readonly from: string | null;
	readonly to: string | null;
	readonly name: string;
}

function diffBetween(git: Git | null, { runDir, mask }: WorkspacePlace, { from, to, name }: Span): string {
	if (git === null || from === null || to === null) return NO_DIFF;
	if (from === to) return NO_CHANGES;
	const folder = join(runDir, 'diffs');
	const file = join(folder, `${name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 120)}.diff`);
	mkdirSync(folder, { recursive: true });
	if (!git.diff(from, to, file)) return '(no diff: git could not compare the two states of the workspace)';
	mask?.(file);
	const text = capFile(file, CONTENT_CAP);
	return text === '' ? NO_CHANGES : text;
}
