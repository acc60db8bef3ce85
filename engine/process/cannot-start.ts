/** Explains why a command could not be started: the operating system's one word hides several causes. */
import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/** Why a process never ran. */
export interface CannotStart {
	readonly ended: 'not_found' | 'not_executable' | 'spawn_failed';
	readonly reason: string;
}

/** What the command was, as far as it matters for starting it. */
export interface Start {
	readonly program: string;
	readonly cwd: string;
	readonly path: string | undefined;
}

/** Turns a failed spawn's error into a reason that names what is missing. */
export function whyNotStarted(error: unknown, start: Start): CannotStart {
	const code = (error as { code?: unknown }).code;
	const cwd = problemOfFolder(start.cwd);
	if (cwd !== null) return { ended: 'spawn_failed', reason: cwd };
	if (code === 'ENOENT') return { ended: 'not_found', reason: whyNotFound(start) };
	if (code === 'EACCES') return { ended: 'not_executable', reason: whyNotExecutable(start) };
	return { ended: 'spawn_failed', reason: `"${start.program}" could not be started: ${(error as Error).message}` };
}

/** What a shell's exit code says about the command it was given, if anything. */
export function whyShellFailed(exit: number | null): string | null {
	if (exit === 127) return 'the shell found no such command (exit 127)';
	if (exit === 126) return 'the shell found the command but may not run it (exit 126)';
	return null;
}

function problemOfFolder(cwd: string): string | null {
	try {
		return statSync(cwd).isDirectory() ? null : `the working directory ${cwd} is not a folder`;
	} catch {
		return `the working directory ${cwd} does not exist`;
	}
}

function whyNotFound(start: Start): string {
	const file = fileOf(start);
	if (file === null) return `"${start.program}" was not found on the PATH`;
	const interpreter = interpreterOf(file);
	if (interpreter !== null) return `"${start.program}" names an interpreter that does not exist: ${interpreter}`;
	return `"${start.program}" does not exist in ${start.cwd}`;
}

function whyNotExecutable(start: Start): string {
	const file = fileOf(start);
	if (file !== null && isFolder(file)) return `"${start.program}" is a folder`;
	if (file !== null && isExecutable(file)) {
		return `"${start.program}" or the interpreter in its first line may not be executed`;
	}
	return `"${start.program}" is not executable (chmod +x)`;
}

/** The file a program name stands for; null for a bare name that is nowhere on the PATH. */
function fileOf({ program, cwd, path }: Start): string | null {
	if (isAbsolute(program) || program.includes('/')) return resolve(cwd, program);
	for (const folder of (path ?? '').split(delimiter)) {
		const file = join(folder, program);
		if (exists(file)) return file;
	}
	return null;
}

function interpreterOf(file: string): string | null {
	try {
		const fd = openSync(file, 'r');
		try {
			const head = Buffer.alloc(256);
			const text = head.toString('utf8', 0, readSync(fd, head));
			return /^#!\s*([^\s\0]+)/.exec(text)?.[1] ?? null;
		} finally {
			closeSync(fd);
		}
	} catch {
		return null;
	}
}

function exists(file: string): boolean {
	return statSync(file, { throwIfNoEntry: false }) !== undefined;
}

function isFolder(file: string): boolean {
	return statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isExecutable(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
