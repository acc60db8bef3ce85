/**
 * Writes that survive a kill and a power cut, or say that they did not happen.
 *
 *   replaceFile   temp ─ write ─ fsync ─ size? ─ rename ─ fsync folder      old content or new, never half
 *   putIfAbsent   temp ─ write ─ fsync ─ size? ─ link ─ fsync folder        exactly one winner, never half
 *
 * All calls are synchronous: measured faster than the promise API, and nothing can come in between.
 */
import {
	closeSync,
	existsSync,
	fdatasyncSync,
	fstatSync,
	fsyncSync,
	linkSync,
	mkdirSync,
	openSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { errnoOf, storeError } from './fs-errors.ts';
import { isAlive } from './process-alive.ts';

/** Writes all of the buffer; one `write` may take only a part of it. */
export function writeAll(fd: number, buffer: Uint8Array): void {
	let done = 0;
	while (done < buffer.length) done += writeSync(fd, buffer, done, buffer.length - done);
}

/** Replaces the whole file: whatever happens, it holds either the old content or the new one. */
export function replaceFile(path: string, data: string | Uint8Array): void {
	guarded(path, 'write', () => {
		const temp = writeTemp(dirname(path), data);
		withCleanUp(temp, () => renameSync(temp, path));
		fsyncFolder(dirname(path));
	});
}

/** Creates the file with this content unless it exists: true for the one caller who did, however many try. */
export function putIfAbsent(path: string, data: string | Uint8Array): boolean {
	return guarded(path, 'write', () => {
		if (existsSync(path)) return false;
		const temp = writeTemp(dirname(path), data);
		const won = withCleanUp(temp, () => linkIfAbsent(temp, path, data));
		rmSync(temp, { force: true });
		// A loser syncs as well: it acts on the winner's file, which the winner may not have made durable yet.
		fsyncFolder(dirname(path));
		return won;
	});
}

/** Creates the folder and its parents, each one durably. */
export function mkdirDurable(path: string): void {
	guarded(path, 'create the folder', () => {
		const first = mkdirSync(path, { recursive: true });
		if (first === undefined) return;
		for (let made = path; made.length >= first.length; made = dirname(made)) fsyncFolder(dirname(made));
	});
}

/** Appends one line (its newline included) and returns when it is on the disk. */
export function appendDurable(path: string, line: string): void {
	guarded(path, 'append to', () => {
		const isNew = !existsSync(path);
		const fd = openSync(path, 'a');
		try {
			writeAll(fd, Buffer.from(line));
			fdatasyncSync(fd);
		} finally {
			closeSync(fd);
		}
		if (isNew) fsyncFolder(dirname(path));
	});
}

/** Makes the folder's entries durable; a no-op on systems that cannot. */
export function fsyncFolder(path: string): void {
	if (process.platform === 'win32') return;
	const fd = openSync(path, 'r');
	try {
		fsyncSync(fd);
	} finally {
		closeSync(fd);
	}
}

/** Removes temporary files that a killed process left behind; returns how many. */
export function sweepTemps(dir: string, now: number = Date.now()): number {
	const left = namesIn(dir).filter((name) => TEMP.test(name) && isAbandoned(dir, name, now));
	for (const name of left) rmSync(join(dir, name), { recursive: true, force: true });
	return left.length;
}

/** Whether a file of this name is one that a write here began with. */
export function isTempName(name: string): boolean {
	return TEMP.test(name);
}

const TEMP = /^\.tmp-(\d+)-[a-z0-9]+$/;
const HOUR = 3_600_000;

function guarded<T>(path: string, doing: string, act: () => T): T {
	try {
		return act();
	} catch (error) {
		throw storeError(error, path, doing);
	}
}

function writeTemp(dir: string, data: string | Uint8Array): string {
	const buffer = typeof data === 'string' ? Buffer.from(data) : data;
	const temp = tempName(dir);
	const fd = openSync(temp, 'wx');
	withCleanUp(temp, () => {
		try {
			writeAll(fd, buffer);
			fsyncSync(fd);
			assertSize(fd, buffer.length);
		} finally {
			closeSync(fd);
		}
	});
	return temp;
}

function tempName(dir: string): string {
	const random = Math.random().toString(36).slice(2, 12).padEnd(10, '0');
	return join(dir, `.tmp-${process.pid}-${random}`);
}

/** Some file systems report a full disk only by a file that is too short. */
function assertSize(fd: number, expected: number): void {
	if (fstatSync(fd).size === expected) return;
	throw Object.assign(new Error('short write'), { code: 'ENOSPC', syscall: 'write' });
}

function withCleanUp<T>(temp: string, act: () => T): T {
	try {
		return act();
	} catch (error) {
		rmSync(temp, { recursive: true, force: true });
		throw error;
	}
}

function linkIfAbsent(temp: string, path: string, data: string | Uint8Array): boolean {
	try {
		linkSync(temp, path);
		return true;
	} catch (error) {
		const errno = errnoOf(error) ?? '';
		if (errno === 'EEXIST') return false;
		if (!NO_LINKS.includes(errno)) throw error;
		return claimByFolder(path, data);
	}
}

const NO_LINKS: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

/**
 * Where hard links do not exist: a folder holding the content is renamed to `<path>.claim`, which fails if that folder
 * is there already. Whoever finds the claim publishes its content, so a winner that dies in between stays the winner.
 */
function claimByFolder(path: string, data: string | Uint8Array): boolean {
	const claim = `${path}.claim`;
	const folder = tempName(dirname(path));
	mkdirSync(folder);
	const won = withCleanUp(folder, () => {
		replaceFile(join(folder, 'content'), data);
		return renameIfAbsent(folder, claim);
	});
	fsyncFolder(dirname(path));
	if (!existsSync(path)) replaceFile(path, readFileSync(join(claim, 'content')));
	return won;
}

function renameIfAbsent(folder: string, claim: string): boolean {
	try {
		renameSync(folder, claim);
		return true;
	} catch (error) {
		const errno = errnoOf(error);
		if (errno !== 'ENOTEMPTY' && errno !== 'EEXIST' && errno !== 'EPERM') throw error;
		rmSync(folder, { recursive: true, force: true });
		return false;
	}
}

function namesIn(dir: string): readonly string[] {
	try {
		return readdirSync(dir);
	} catch (error) {
		if (errnoOf(error) === 'ENOENT') return [];
		throw storeError(error, dir, 'read the folder');
	}
}

function isAbandoned(dir: string, name: string, now: number): boolean {
	const pid = Number(TEMP.exec(name)?.[1]);
	const stat = statSync(join(dir, name), { throwIfNoEntry: false });
	if (stat === undefined) return false;
	return !isAlive(pid) || now - stat.mtimeMs > HOUR;
}
