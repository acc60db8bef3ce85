import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { findPython } from '../../engine/hosts/find-python.ts';
import { statOf } from '../../engine/process/groups.ts';
import { PYTHON, tempFolder } from './processes.ts';

/** A file that can be executed. */
function program(path: string, text = 'not a script'): string {
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, text);
	chmodSync(path, 0o755);
	return path;
}

function find(project: string, parts: { readonly configured?: string; readonly path?: string }) {
	return findPython({ project, configured: parts.configured ?? null, path: parts.path ?? '' });
}

test('the environment of the project comes first, then the settings, then the PATH', () => {
	const project = tempFolder();
	const onPath = program(join(project, 'bin/python3'));
	const configured = program(join(project, 'tools/python'));
	expect(find(project, { path: dirname(onPath) })).toEqual({ ok: true, program: onPath });
	expect(find(project, { path: dirname(onPath), configured: 'tools/python' })).toEqual({
		ok: true,
		program: configured,
	});
	expect(find(project, { path: dirname(configured), configured: 'python' })).toEqual({ ok: true, program: configured });
	const own = program(join(project, '.venv/bin/python'));
	expect(find(project, { path: dirname(onPath), configured: 'tools/python' })).toEqual({ ok: true, program: own });
});

test('python serves where there is no python3, and neither a folder nor a plain file is an interpreter', () => {
	const project = tempFolder();
	mkdirSync(join(project, 'one/python3'), { recursive: true });
	writeFileSync(join(project, '.venv'), 'the name of an environment that lies elsewhere');
	mkdirSync(join(project, 'two'));
	writeFileSync(join(project, 'two/python3'), '');
	const python = program(join(project, 'three/python'));
	const path = ['one', 'two', 'three'].map((name) => join(project, name)).join(':');
	expect(find(project, { path: `:${path}` })).toEqual({ ok: true, program: python });
});

test('a shim is asked, in the folder of the project, for the interpreter behind it', () => {
	const project = tempFolder();
	// Like a shim whose answer depends on a file of the project.
	writeFileSync(join(project, '.python-version'), `${PYTHON}\n3.11\n`);
	program(join(project, 'bin/python3'), '#!/bin/sh\necho "rehashing" >&2\ncat .python-version\n');
	expect(find(project, { path: join(project, 'bin') })).toEqual({ ok: true, program: PYTHON });
	const unnamed = program(join(project, 'other/python3'), '#!/bin/sh\necho; echo 3.12\n');
	expect(find(project, { path: join(project, 'other') })).toEqual({ ok: true, program: unnamed });
});

test.each([
	['exit 1', 'exited with code 1 and said nothing'],
	['echo "python3: command not found" >&2; exit 127', 'exited with code 127 and said "python3: command not found"'],
	['echo "I am a parrot"', 'exited with code 0 and said "I am a parrot"'],
	['kill -9 $$', 'was killed by SIGKILL'],
])('a shim that is of no use is named, with what it did: %s', (text, did) => {
	const project = tempFolder();
	const shim = program(join(project, 'bin/python3'), `#!/bin/sh\n${text}\n`);
	expect(find(project, { path: dirname(shim) })).toEqual({
		ok: false,
		error: `${shim}, asked which Python it is, ${did}`,
		remedy: 'run it yourself to see what is wrong, or name another interpreter with `python:` in .ai-sdd/ai-sdd.yaml',
	});
});

test('a shim that hangs is given up, and what it started is ended', async () => {
	const project = tempFolder();
	const shim = program(join(project, 'bin/python3'), '#!/bin/sh\nsleep 600 &\necho $! > child\nsleep 600\n');
	const found = findPython({ project, configured: null, path: dirname(shim), shimMs: 500 });
	expect(found).toMatchObject({ error: `${shim}, asked which Python it is, did not answer within 500ms` });
	const child = readFileSync(join(project, 'child'), 'utf8').trim();
	await expect.poll(() => statOf(child)?.state ?? 'Z', { timeout: 10_000 }).toBe('Z');
});

test('an interpreter that is too old is named as such: by what a shim says, or by its name', () => {
	const project = tempFolder();
	const old = (name: string, version = '3.8') => ({
		ok: false,
		error: `${name} is Python ${version}; overlays need 3.9 or newer`,
		remedy: 'install a newer Python, or name one with `python:` in .ai-sdd/ai-sdd.yaml',
	});
	const shim = program(join(project, 'one/python3'), '#!/bin/sh\necho "$0"; echo 3.8\n');
	expect(find(project, { path: dirname(shim) })).toEqual(old(shim));
	const real = program(join(project, 'two/python2.7'));
	symlinkSync(real, join(project, 'two/python3'));
	expect(find(project, { path: dirname(real) })).toEqual(old(join(project, 'two/python3'), '2.7'));
	expect(find(project, { configured: 'two/python2.7' })).toEqual(old(real, '2.7'));
	for (const [version, ok] of [
		['3.9', true],
		['3.13', true],
		['4.0', true],
		['3.8', false],
	] as const) {
		expect(find(project, { configured: program(join(project, `three/python${version}`)) }).ok).toBe(ok);
	}
	mkdirSync(join(project, '.venv/bin'), { recursive: true });
	symlinkSync(real, join(project, '.venv/bin/python'));
	expect(find(project, {})).toEqual(old(join(project, '.venv/bin/python'), '2.7'));
});

test('an environment of the project that is broken is an error, and not passed over', () => {
	const broken = (what: string) => ({
		ok: false,
		error: `the Python environment .venv of this project is broken: ${what}`,
		remedy: 'make it anew (python3 -m venv --clear .venv), or remove .venv to use the python3 of the machine',
	});
	const project = tempFolder();
	const path = dirname(program(join(project, 'bin/python3')));
	mkdirSync(join(project, '.venv/bin'), { recursive: true });
	writeFileSync(join(project, '.venv/pyvenv.cfg'), '');
	expect(find(project, { path })).toEqual(broken('there is no .venv/bin/python'));
	symlinkSync('/no/such/python3', join(project, '.venv/bin/python'));
	expect(find(project, { path })).toEqual(broken('.venv/bin/python is a link to /no/such/python3, which is not there'));
	rmSync(join(project, '.venv/bin/python'));
	writeFileSync(join(project, '.venv/bin/python'), '');
	expect(find(project, { path })).toEqual(broken('.venv/bin/python cannot be executed'));
	rmSync(join(project, '.venv/bin/python'));
	mkdirSync(join(project, '.venv/bin/python'));
	expect(find(project, { path })).toEqual(broken('.venv/bin/python cannot be executed'));
	rmSync(join(project, '.venv'), { recursive: true });
	mkdirSync(join(project, '.venv'));
	expect(find(project, { path })).toEqual(broken('there is no .venv/bin/python'));
	writeFileSync(join(project, '.venv/bin'), '');
	expect(find(project, { path })).toEqual(broken('there is no .venv/bin/python'));
	rmSync(join(project, '.venv'), { recursive: true });
	symlinkSync('.venv', join(project, '.venv'));
	expect(find(project, { path })).toEqual(broken('.venv is a link to nothing'));
});

test('where there is none, it is said what to install', () => {
	expect(find(tempFolder(), {})).toEqual({
		ok: false,
		error: 'there is no Python on this machine: neither .venv in the project nor python3 on the PATH',
		remedy:
			'install Python 3.9 or later (on Debian: apt-get install python3), or name one with `python:` in .ai-sdd/ai-sdd.yaml',
	});
	expect(find(tempFolder(), { configured: 'python4' })).toEqual({
		ok: false,
		error: 'the interpreter "python4" that .ai-sdd/ai-sdd.yaml names (python:) is not there or cannot be executed',
		remedy: 'correct `python:`, or remove it to use the python3 of the machine',
	});
});
