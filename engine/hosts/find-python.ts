/** Finds the Python interpreter: the project's own environment, what the settings name, or the real `python3` of the machine. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import {
	accessSync,
	closeSync,
	constants,
	lstatSync,
	openSync,
	readlinkSync,
	readSync,
	realpathSync,
	statSync,
} from 'node:fs';
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path';
import { formatDuration } from '../duration.ts';
import { printableLine } from '../printable.ts';
import { signalGroup } from '../process/groups.ts';

export interface PythonPlaces {
	readonly project: string;
	/** `python:` in `.ai-sdd/ai-sdd.yaml`. */
	readonly configured: string | null;
	/** The PATH to search. */
	readonly path: string;
	/** How long a shim may take to say which interpreter it stands for. */
	readonly shimMs?: number;
}

/** The interpreter, or what to do about there being none. */
export type FoundPython =
	| { readonly ok: true; readonly program: string }
	| { readonly ok: false; readonly error: string; readonly remedy: string };

/** Looks in that order; a shim (pyenv and the like) is asked once for the interpreter behind it, as it costs ten times as much. */
export function findPython(places: PythonPlaces): FoundPython {
	const own = ownEnvironment(places.project);
	if (own !== null) return own;
	if (places.configured !== null) return configuredPython(places, places.configured);
	for (const name of ['python3', 'python']) {
		const found = onPath(name, places.path);
		if (found !== null) return behindShim(found, places);
	}
	return {
		ok: false,
		error: 'there is no Python on this machine: neither .venv in the project nor python3 on the PATH',
		remedy:
			'install Python 3.9 or later (on Debian: apt-get install python3), or name one with `python:` in .ai-sdd/ai-sdd.yaml',
	};
}

/** Null where the project has none. One that is broken is not passed over: its packages are what the overlays need. */
function ownEnvironment(project: string): FoundPython | null {
	const kind = kindOf(join(project, '.venv'));
	if (kind === 'nothing' || kind === 'file') return null;
	for (const name of ['.venv/bin/python', '.venv/Scripts/python.exe']) {
		const own = join(project, name);
		if (isExecutable(own)) return newEnough(own, versionByName(own));
		if (kindOf(own) !== 'nothing') return brokenEnvironment(`${name} ${whyUnusable(own)}`);
	}
	const missing = kind === 'dangling' ? '.venv is a link to nothing' : 'there is no .venv/bin/python';
	return brokenEnvironment(missing);
}

/** What is there, as far as the system lets one look. */
function kindOf(path: string): 'nothing' | 'file' | 'folder' | 'dangling' {
	try {
		lstatSync(path);
	} catch {
		return 'nothing';
	}
	try {
		return statSync(path).isDirectory() ? 'folder' : 'file';
	} catch {
		return 'dangling';
	}
}

function whyUnusable(path: string): string {
	return kindOf(path) === 'dangling' ? `is a link to ${readlinkSync(path)}, which is not there` : 'cannot be executed';
}

function brokenEnvironment(what: string): FoundPython {
	return {
		ok: false,
		error: `the Python environment .venv of this project is broken: ${what}`,
		remedy: 'make it anew (python3 -m venv --clear .venv), or remove .venv to use the python3 of the machine',
	};
}

function configuredPython(places: PythonPlaces, configured: string): FoundPython {
	const isPath = configured.includes('/') || isAbsolute(configured);
	const program = isPath ? resolve(places.project, configured) : onPath(configured, places.path);
	if (program !== null && isExecutable(program)) return behindShim(program, places);
	return {
		ok: false,
		error: `the interpreter "${configured}" that .ai-sdd/ai-sdd.yaml names (python:) is not there or cannot be executed`,
		remedy: 'correct `python:`, or remove it to use the python3 of the machine',
	};
}

function onPath(name: string, path: string): string | null {
	for (const folder of path.split(delimiter)) {
		const program = join(folder, name);
		if (folder !== '' && isExecutable(program)) return program;
	}
	return null;
}

function isExecutable(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return statSync(path).isFile();
	} catch {
		return false;
	}
}

/** A shim is a script; an interpreter is not. Which one a shim stands for depends on the folder it is called in. */
function behindShim(program: string, { project, shimMs = SHIM_MS }: PythonPlaces): FoundPython {
	if (!isScript(program)) return newEnough(program, versionByName(program));
	const key = `${project}\0${program}`;
	const known = interpreters.get(key);
	if (known !== undefined) return known;
	const real = askShim(program, project, shimMs);
	interpreters.set(key, real);
	return real;
}

/** Planning and running ask for the same one. */
const interpreters = new Map<string, FoundPython>();

/** An interpreter that is not asked tells its version by its name, `python3.8`; without that, `sdd_overlay` finds out when it is imported. */
function versionByName(program: string): string | null {
	return /^python(\d+\.\d+)/.exec(basename(realpathSync(program)))?.[1] ?? null;
}

function newEnough(program: string, version: string | null): FoundPython {
	const [major = 0, minor = 0] = (version ?? '3.9').split('.').map(Number);
	if (major > 3 || (major === 3 && minor >= 9)) return { ok: true, program };
	return {
		ok: false,
		error: `${program} is Python ${version}; overlays need 3.9 or newer`,
		remedy: 'install a newer Python, or name one with `python:` in .ai-sdd/ai-sdd.yaml',
	};
}

const QUESTION = 'import sys; print(sys.executable); print("%d.%d" % sys.version_info[:2])';
const SHIM_MS = 5000;

function askShim(program: string, project: string, timeout: number): FoundPython {
	// In a group of its own, so that what it starts can be ended with it.
	const options = {
		encoding: 'utf8' as const,
		timeout,
		killSignal: 'SIGKILL' as const,
		cwd: project,
		stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'],
		detached: true,
	};
	const said = spawnSync(program, ['-c', QUESTION], options);
	if (said.pid > 0) signalGroup(said.pid, 'SIGKILL');
	const [, real = '', version] = /([^\n]*)\n(\d+\.\d+)\s*$/.exec(said.stdout ?? '') ?? [];
	if (version !== undefined) return newEnough(isExecutable(real) ? real : program, version);
	return {
		ok: false,
		error: `${program}, asked which Python it is, ${whatItDid(said, timeout)}`,
		remedy: 'run it yourself to see what is wrong, or name another interpreter with `python:` in .ai-sdd/ai-sdd.yaml',
	};
}

function whatItDid(said: SpawnSyncReturns<string>, timeout: number): string {
	const { error, status, signal } = said;
	if (error !== undefined && 'code' in error && error.code === 'ETIMEDOUT')
		return `did not answer within ${formatDuration(timeout)}`;
	if (error !== undefined) return `could not be started: ${error.message}`;
	if (signal !== null) return `was killed by ${signal}`;
	const words = printableLine(`${said.stdout} ${said.stderr}`);
	return `exited with code ${status} and said ${words === '' ? 'nothing' : JSON.stringify(words)}`;
}

function isScript(program: string): boolean {
	try {
		const fd = openSync(realpathSync(program), 'r');
		try {
			const head = Buffer.alloc(2);
			readSync(fd, head, 0, 2, 0);
			return head.toString('latin1') === '#!';
		} finally {
			closeSync(fd);
		}
	} catch {
		return false;
	}
}
