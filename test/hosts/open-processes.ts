/** Overlays' processes for tests: started as the host starts them, and closed after each test. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { Called } from '../../engine/hosts/overlay-calls.ts';
import { type OverlayProcess, overlayProcess, type ProcessOptions } from '../../engine/hosts/overlay-process.ts';
import { BROKEN, commandFor, ENV, PYTHON, tempFolder } from './processes.ts';

const open: OverlayProcess[] = [];

afterEach(async () => {
	for (const process of open.splice(0)) await process.close();
});

/** The process of a broken overlay; it is closed after the test. */
export function processOf(file: string, parts: Partial<ProcessOptions> = {}): OverlayProcess {
	const process = overlayProcess({
		command: commandFor(file),
		cwd: BROKEN,
		env: ENV,
		version: '0.0.0',
		stderrPath: null,
		graceMs: 300,
		...parts,
	});
	open.push(process);
	return process;
}

/** A Python script of its own, with `speak` at hand. */
export function scripted(text: string, parts: Partial<ProcessOptions> = {}): OverlayProcess {
	const file = join(tempFolder(), 'overlay.py');
	writeFileSync(file, `import os, sys, time, threading, json\nimport speak\n${text}\n`);
	const env = { ...ENV, PYTHONPATH: BROKEN };
	return processOf('', { command: [PYTHON, file], env, ...parts });
}

/** Limits that no test reaches. */
export const LONG: { readonly timeoutMs: number; readonly signal: AbortSignal } = {
	timeoutMs: 30_000,
	signal: new AbortController().signal,
};
/** Asks it for a verdict. */
export const after = (process: OverlayProcess, limits = LONG): Promise<Called> => process.call('after', {}, limits);
