/**
 * Runs a command in a process group of its own, with files (never pipes) for its input and output, and leaves nothing
 * running. Spawning costs in proportion to this process's memory: output must never pass through it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { closeSync, fstatSync, ftruncateSync, openSync } from 'node:fs';
import { whyNotStarted, whyShellFailed } from './cannot-start.ts';
import { unwatch, watch } from './flood.ts';
import { endGroup, forgetGroup, GRACE_MS, rememberGroup, signalGroup } from './groups.ts';
import { endStrays, type OrphanMarker } from './orphans.ts';

/** How much a process may write to stdout and stderr together, unless told otherwise. */
export const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** What to run, and within which limits. */
export interface ProcessRequest {
	/** An argument list, or one string for `/bin/sh -c`: never put data into the string. */
	readonly command: readonly string[] | string;
	readonly cwd: string;
	readonly env: { readonly [name: string]: string };
	/** A file's path or an open descriptor; null for no input. */
	readonly stdin: string | number | null;
	readonly stdoutPath: string;
	/** May be the same as `stdoutPath`: then both go into it as they come. */
	readonly stderrPath: string;
	/** No limit when it is not a positive finite number. */
	readonly timeoutMs: number;
	readonly maxOutputBytes?: number;
	readonly signal?: AbortSignal;
	/** Between SIGTERM and SIGKILL. */
	readonly graceMs?: number;
}

/** Why a process is over. */
export type Ending = 'exit' | 'timeout' | 'cancelled' | 'flooded' | 'not_found' | 'not_executable' | 'spawn_failed';

/** How a process ended; `reason` says more where there is more to say. */
export interface ProcessEnd {
	readonly exit: number | null;
	readonly signal: string | null;
	readonly ended: Ending;
	readonly reason: string | null;
	readonly stdoutBytes: number;
	readonly stderrBytes: number;
	readonly ms: number;
}

/**
 * Runs one process to its end, and the end of all that it started: its group, and on Linux what left the group, found by
 * `SDD_PROCESS` in its environment. Never rejects for what the process does.
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessEnd> {
	const since = performance.now();
	if (request.signal?.aborted) return neverRan('cancelled', 'cancelled before it was started', since);
	let files: Files;
	try {
		files = openFiles(request);
	} catch (error) {
		return neverRan('spawn_failed', `its files could not be opened: ${(error as Error).message}`, since);
	}
	try {
		return await runWithFiles(request, files, since);
	} finally {
		closeFiles(files);
	}
}

interface Files {
	readonly stdin: number | 'ignore';
	readonly stdout: number;
	readonly stderr: number;
	readonly opened: readonly number[];
}

function openFiles(request: ProcessRequest): Files {
	const opened: number[] = [];
	const open = (path: string, flags: string): number => {
		const fd = openSync(path, flags);
		opened.push(fd);
		return fd;
	};
	try {
		const { stdin: input } = request;
		const stdin = input === null ? 'ignore' : typeof input === 'number' ? input : open(input, 'r');
		const stdout = open(request.stdoutPath, 'w');
		const stderr = request.stderrPath === request.stdoutPath ? stdout : open(request.stderrPath, 'w');
		return { stdin, stdout, stderr, opened };
	} catch (error) {
		for (const fd of opened) closeSync(fd);
		throw error;
	}
}

function closeFiles(files: Files): void {
	for (const fd of files.opened) closeSync(fd);
}

async function runWithFiles(request: ProcessRequest, files: Files, since: number): Promise<ProcessEnd> {
	const { command, cwd, env } = request;
	const argv = typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
	const program = argv[0] ?? '';
	const mark = { SDD_PROCESS: `${MARK}-${++started}` };
	let child: ChildProcess;
	try {
		child = spawn(program, argv.slice(1), {
			cwd,
			env: { ...env, ...mark },
			detached: true,
			stdio: [files.stdin, files.stdout, files.stderr],
		});
		if (child.pid === undefined) throw await errorOf(child);
	} catch (error) {
		const { ended, reason } = whyNotStarted(error, { program, cwd, path: env['PATH'] });
		return neverRan(ended, reason, since);
	}
	return superviseGroup(request, files, { child, pgid: child.pid, mark }, since);
}

/** Of this process, and of nothing else that runs on this machine. */
const MARK = randomUUID();
let started = 0;

async function errorOf(child: ChildProcess): Promise<unknown> {
	return new Promise((resolve) => child.once('error', resolve));
}

function neverRan(ended: Ending, reason: string, since: number): ProcessEnd {
	const ms = performance.now() - since;
	return { exit: null, signal: null, ended, reason, stdoutBytes: 0, stderrBytes: 0, ms };
}

/** A process that runs, and by what to find all that it starts. */
interface Started {
	readonly child: ChildProcess;
	readonly pgid: number;
	readonly mark: OrphanMarker;
}

async function superviseGroup(
	request: ProcessRequest,
	files: Files,
	{ child, pgid, mark }: Started,
	since: number,
): Promise<ProcessEnd> {
	const graceMs = request.graceMs ?? GRACE_MS;
	const limit = request.maxOutputBytes ?? MAX_OUTPUT_BYTES;
	let cut: 'timeout' | 'cancelled' | 'flooded' | null = null;
	let ending: Promise<void> | null = null;
	const end = (why: 'timeout' | 'cancelled' | 'flooded'): void => {
		cut ??= why;
		ending ??= endGroup(pgid, graceMs);
	};
	const release = holdToLimits(request, pgid, end, () => {
		if (written(files).total > limit) end('flooded');
	});
	const { exit, signal } = await exitOf(child);
	release.limits();
	// The cheap, normal case: the leader was alone, and its group is gone with it.
	if (ending === null && signalGroup(pgid, 0)) ending = endGroup(pgid, graceMs);
	if (ending !== null) await ending;
	// They hold the same files: one that goes on writing could fill the disk, and one that edits the work does so unjudged.
	await endStrays(mark, pgid, graceMs);
	release.group();
	const bytes = written(files);
	if (bytes.total > limit) cut ??= 'flooded';
	if (cut === 'flooded') trim(files, limit);
	const shell = typeof request.command === 'string';
	return {
		exit,
		signal,
		ended: cut ?? 'exit',
		reason: cut === null && shell ? whyShellFailed(exit) : null,
		stdoutBytes: bytes.stdout,
		stderrBytes: bytes.stderr,
		ms: performance.now() - since,
	};
}

/** Arms the time limit, the cancel signal and the flood watch; gives back how to disarm them. */
function holdToLimits(
	request: ProcessRequest,
	pgid: number,
	end: (why: 'timeout' | 'cancelled') => void,
	look: () => void,
): { limits(): void; group(): void } {
	const { timeoutMs, signal } = request;
	const timed = Number.isFinite(timeoutMs) && timeoutMs > 0;
	const timer = timed ? setTimeout(() => end('timeout'), Math.min(timeoutMs, LONGEST_TIMER_MS)) : undefined;
	const onAbort = (): void => end('cancelled');
	if (signal !== undefined) {
		// One signal serves all the processes of a run: node would take so many listeners for a leak.
		setMaxListeners(0, signal);
		signal.addEventListener('abort', onAbort, { once: true });
	}
	rememberGroup(pgid);
	watch(look);
	return {
		limits() {
			clearTimeout(timer);
			signal?.removeEventListener('abort', onAbort);
			unwatch(look);
		},
		group: () => forgetGroup(pgid),
	};
}

// setTimeout takes a longer delay for 1 ms.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function exitOf(child: ChildProcess): Promise<{ exit: number | null; signal: string | null }> {
	return new Promise((resolve) => {
		child.once('exit', (exit, signal) => resolve({ exit, signal }));
	});
}

function written(files: Files): { readonly stdout: number; readonly stderr: number; readonly total: number } {
	const stdout = fstatSync(files.stdout).size;
	const stderr = files.stderr === files.stdout ? 0 : fstatSync(files.stderr).size;
	return { stdout, stderr, total: stdout + stderr };
}

/** A flood must not fill the disk: no more of it is kept than a process may write. */
function trim(files: Files, limit: number): void {
	for (const fd of new Set([files.stdout, files.stderr])) {
		if (fstatSync(fd).size > limit) ftruncateSync(fd, limit);
	}
}
