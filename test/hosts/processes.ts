/** Real processes for tests of the process host: the broken overlays of `broken/`, run by the machine's own interpreters. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import { findPython } from '../../engine/hosts/find-python.ts';
import type { Command } from '../../engine/hosts/process-host.ts';
import type { OverlayUse } from '../../engine/overlay-use.ts';

/** The folder of the broken overlays. */
export const BROKEN: string = fileURLToPath(new URL('broken/', import.meta.url));

const found = findPython({ project: tmpdir(), configured: null, path: process.env['PATH'] ?? '' });

/** The real interpreter; tests of Python overlays need one. */
export const PYTHON: string = found.ok ? found.program : 'python3';

/** The environment of an overlay under test. */
export const ENV: { readonly [name: string]: string } = {
	PATH: process.env['PATH'] ?? '',
	PYTHONPATH: fileURLToPath(new URL('../../python', import.meta.url)),
	PYTHONDONTWRITEBYTECODE: '1',
};

/** How a broken overlay is started. */
export function commandFor(file: string): readonly string[] {
	const path = join(BROKEN, file);
	if (file.endsWith('.py')) return [PYTHON, path];
	return file.endsWith('.mjs') ? [process.execPath, path] : [path];
}

/** Like the command's: Python files by the interpreter, commands as they are. */
export function commandOf(use: OverlayUse): Command {
	return { ok: true, command: typeof use === 'string' ? [PYTHON, use] : use.command };
}

const folders: string[] = [];

afterEach(() => {
	for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** An empty folder, removed after the test. */
export function tempFolder(): string {
	const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sdd-')));
	folders.push(folder);
	return folder;
}
