/** What a task left behind: its declared outputs, found, hashed, and kept inside the project. */

import { createHash } from 'node:crypto';
import {
	closeSync,
	fstatSync,
	lstatSync,
	openSync,
	readdirSync,
	readlinkSync,
	readSync,
	realpathSync,
	type Stats,
	statSync,
} from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { bytesFor, capBytes, grouped } from '../brief/cap.ts';
import { digestFile, isUtf8Head } from '../brief/digest-file.ts';
import type { Digest } from '../events.ts';
import type { Inspection } from './world.ts';

/** How many files an output that is a folder may hold. */
export const MOST_FILES = 2000;

/** Finds and hashes these files, and all files below those that are folders. Paths are relative to the project. */
export function inspectPaths(project: string, paths: readonly string[]): Inspection {
	if (paths.length === 0) return NOTHING;
	const found: Found = { root: realpathSync(project), artifacts: new Map(), missing: [], refused: [] };
	for (const path of paths) inspectOne(found, path.replace(/\/+$/, ''));
	return { artifacts: [...found.artifacts.values()], missing: found.missing, refused: found.refused };
}

/** Text of a file, at most `cap` characters of it; null where it is not text, or cannot be read. */
export function readArtifact(project: string, path: string, cap: number): string | null {
	try {
		const root = realpathSync(project);
		const file = join(root, path);
		return problemOf(root, file) === null && statSync(file).isFile() ? readHead(file, cap) : null;
	} catch (error) {
		unreadable(error);
		return null;
	}
}

const NOTHING: Inspection = { artifacts: [], missing: [], refused: [] };

interface Found {
	readonly root: string;
	readonly artifacts: Map<string, Digest>;
	readonly missing: string[];
	readonly refused: string[];
}

function inspectOne(found: Found, path: string): void {
	try {
		const file = join(found.root, path);
		lstatSync(file);
		const problem = problemOf(found.root, file);
		if (problem !== null) found.refused.push(`${path}: ${problem}`);
		else if (statSync(file).isDirectory()) inspectFolder(found, path);
		else addFile(found, path, statSync(file));
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === 'ENOENT' || code === 'ENOTDIR') found.missing.push(path);
		else found.refused.push(`${path}: ${unreadable(error)}`);
	}
}

/** Why a path that exists may not be judged; null when nothing speaks against it. */
function problemOf(root: string, file: string): string | null {
	try {
		const path = relative(root, realpathSync(file));
		const leaves = path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
		return leaves ? 'leads out of the project' : null;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'is a link to nothing' : unreadable(error);
	}
}

/** Anything but an error of the file system is a bug. */
function unreadable(error: unknown): string {
	const { code } = error as NodeJS.ErrnoException;
	if (code === undefined) throw error;
	return `cannot be read (${code})`;
}

function inspectFolder(found: Found, folder: string): void {
	const files: string[] = [];
	listFiles(found.root, folder, files);
	if (files.length > MOST_FILES) {
		found.refused.push(`${folder}: holds more than ${grouped(MOST_FILES)} files; name the ones that matter as outputs`);
		return;
	}
	if (files.length === 0) found.missing.push(folder);
	for (const path of files.sort()) addEntry(found, path);
}

/** Never part of anybody's work. */
const SKIPPED = new Set(['.git', 'node_modules', '.ai-sdd']);

function listFiles(root: string, folder: string, files: string[]): void {
	for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
		if (SKIPPED.has(entry.name)) continue;
		const path = `${folder}/${entry.name}`;
		if (entry.isDirectory()) listFiles(root, path, files);
		else files.push(path);
		if (files.length > MOST_FILES) return;
	}
}

function addEntry(found: Found, path: string): void {
	try {
		const file = join(found.root, path);
		const problem = problemOf(found.root, file);
		if (problem !== null) found.refused.push(`${path}: ${problem}`);
		else if (statSync(file).isDirectory()) addLink(found, path);
		else addFile(found, path, statSync(file));
	} catch (error) {
		found.refused.push(`${path}: ${unreadable(error)}`);
	}
}

/** A link to a folder inside the project counts as what it is: following it could go in circles. */
function addLink(found: Found, path: string): void {
	const target = readlinkSync(join(found.root, path));
	const sha256 = createHash('sha256').update(`link to ${target}`).digest('hex');
	found.artifacts.set(path, { path, sha256, bytes: Buffer.byteLength(target) });
}

function addFile(found: Found, path: string, stat: Stats): void {
	// Opening a pipe would wait for a writer.
	if (!stat.isFile()) {
		found.refused.push(`${path}: is not a regular file`);
		return;
	}
	const { sha256, bytes } = digestFile(join(found.root, path));
	found.artifacts.set(path, { path, sha256, bytes });
}

function readHead(file: string, cap: number): string | null {
	const fd = openSync(file, 'r');
	try {
		const { size } = fstatSync(fd);
		const head = Buffer.allocUnsafeSlow(Math.min(size, bytesFor(cap)));
		const bytes = head.subarray(0, readSync(fd, head));
		return !bytes.includes(0) && isUtf8Head(bytes, size) ? capBytes(bytes, size, cap) : null;
	} finally {
		closeSync(fd);
	}
}
