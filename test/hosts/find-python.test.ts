import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { findPython } from '../../engine/hosts/find-python.ts';
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
	mkdirSync(join(project, '.venv/bin/python'), { recursive: true });
	mkdirSync(join(project, 'two'));
	writeFileSync(join(project, 'two/python3'), '');
	const python = program(join(project, 'three/python'));
	const path = ['one', 'two', 'three'].map((name) => join(project, name)).join(':');
	expect(find(project, { path: `:${path}` })).toEqual({ ok: true, program: python });
});

test('a shim is asked, in the folder of the project, for the interpreter behind it', () => {
	const project = tempFolder();
	// Like a shim whose answer depends on a file of the project.
	writeFileSync(join(project, '.python-version'), `${PYTHON}\n`);
	program(join(project, 'bin/python3'), '#!/bin/sh\necho "rehashing" >&2\ncat .python-version\n');
	expect(find(project, { path: join(project, 'bin') })).toEqual({ ok: true, program: PYTHON });
	const broken = program(join(project, 'other/python3'), '#!/bin/sh\nexit 1\n');
	expect(find(project, { path: join(project, 'other') })).toEqual({ ok: true, program: broken });
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
