/** Finds the Python interpreter: the project's own environment, what the settings name, or the real `python3` of the machine. */
import { execFileSync } from 'node:child_process';
import { accessSync, closeSync, constants, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

export interface PythonPlaces {
	readonly project: string;
	/** `python:` in `.ai-sdd/ai-sdd.yaml`. */
	readonly configured: string | null;
	/** The PATH to search. */
	readonly path: string;
}

/** The interpreter, or what to do about there being none. */
export type FoundPython =
	| { readonly ok: true; readonly program: string }
	| { readonly ok: false; readonly error: string; readonly remedy: string };

/** Looks in that order; a shim (pyenv and the like) is asked once for the interpreter behind it, as it costs ten times as much. */
export function findPython({ project, configured, path }: PythonPlaces): FoundPython {
	for (const own of [join(project, '.venv/bin/python'), join(project, '.venv/Scripts/python.exe')]) {
		if (isExecutable(own)) return { ok: true, program: own };
	}
	if (configured !== null) return configuredPython(project, configured, path);
	for (const name of ['python3', 'python']) {
		const found = onPath(name, path);
		if (found !== null) return { ok: true, program: behindShim(found, project) };
	}
	return {
		ok: false,
		error: 'there is no Python on this machine: neither .venv in the project nor python3 on the PATH',
		remedy:
			'install Python 3.9 or later (on Debian: apt-get install python3), or name one with `python:` in .ai-sdd/ai-sdd.yaml',
	};
}

function configuredPython(project: string, configured: string, path: string): FoundPython {
	const isPath = configured.includes('/') || isAbsolute(configured);
	const program = isPath ? resolve(project, configured) : onPath(configured, path);
	if (program !== null && isExecutable(program)) return { ok: true, program: behindShim(program, project) };
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
function behindShim(program: string, project: string): string {
	if (!isScript(program)) return program;
	const key = `${project}\0${program}`;
	const known = interpreters.get(key);
	if (known !== undefined) return known;
	const real = askShim(program, project);
	interpreters.set(key, real);
	return real;
}

/** Planning and running ask for the same one. */
const interpreters = new Map<string, string>();

function askShim(program: string, project: string): string {
	try {
		const said = execFileSync(program, ['-c', 'import sys; print(sys.executable)'], {
			encoding: 'utf8',
			timeout: 5000,
			cwd: project,
			stdio: ['ignore', 'pipe', 'ignore'],
		});
		const real = said.trim();
		return real !== '' && isExecutable(real) ? real : program;
	} catch {
		return program;
	}
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
