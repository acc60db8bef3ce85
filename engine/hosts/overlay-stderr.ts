/** The stderr of an overlay's process, and what it tells people by messages: kept in a file of the run, or only its end in memory. */
import type { ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

export interface OverlayStderr {
	/** For `spawn`. */
	readonly target: number | 'pipe';
	/** To be called with the child once it is spawned. */
	follow(child: ChildProcess): void;
	/** Adds a line that did not come through stderr. */
	note(text: string): void;
	/** How much was written since it was opened. */
	bytes(): number;
	/** The last lines of it. */
	tail(): Promise<string>;
	close(): void;
}

const TAIL_BYTES = 2000;
const TAIL_LINES = 12;
const MAX_NOTE_CHARACTERS = 10_000;
/** In this time a pipe has been read of what was written to it before. */
const PIPE_LAG_MS = 20;

/** Opens it: a file is appended to, null keeps the end in memory. */
export function openStderr(path: string | null): OverlayStderr {
	return path === null ? inMemory() : inFile(path);
}

function inMemory(): OverlayStderr {
	let kept = Buffer.alloc(0);
	let total = 0;
	let isOver = false;
	const keep = (chunk: Buffer): void => {
		total += chunk.length;
		kept = Buffer.concat([kept, chunk]).subarray(-TAIL_BYTES);
	};
	return {
		target: 'pipe',
		follow(child) {
			child.stderr?.on('data', keep);
			child.stderr?.on('error', () => {});
			child.stderr?.once('close', () => {
				isOver = true;
			});
		},
		note: (text) => keep(Buffer.from(lineOf(text))),
		bytes: () => total,
		async tail() {
			if (!isOver) await new Promise((done) => setTimeout(done, PIPE_LAG_MS));
			return lastLines(kept);
		},
		close() {},
	};
}

function inFile(path: string): OverlayStderr {
	mkdirSync(dirname(path), { recursive: true });
	// Append mode: the process and this one write to the same end.
	const fd = openSync(path, 'a+');
	const from = fstatSync(fd).size;
	let last: Buffer | null = null;
	return {
		target: fd,
		follow() {},
		note(text) {
			// What people are told must not decide about a run: a full disk shows elsewhere.
			if (last === null) attempt(() => writeSync(fd, lineOf(text)));
		},
		bytes: () => (last === null ? fstatSync(fd).size - from : 0),
		tail: async () => lastLines(last ?? endOf(fd, from)),
		close() {
			if (last !== null) return;
			last = endOf(fd, from);
			closeSync(fd);
		},
	};
}

function lineOf(text: string): string {
	return `${text.slice(0, MAX_NOTE_CHARACTERS).trimEnd().replaceAll('\n', '\n  ')}\n`;
}

function attempt(action: () => unknown): void {
	try {
		action();
	} catch {}
}

function endOf(fd: number, from: number): Buffer {
	const { size } = fstatSync(fd);
	const start = Math.max(from, size - TAIL_BYTES);
	const buffer = Buffer.alloc(Math.max(0, size - start));
	attempt(() => readSync(fd, buffer, 0, buffer.length, start));
	return buffer;
}

function lastLines(bytes: Buffer): string {
	return bytes.toString('utf8').trim().split('\n').slice(-TAIL_LINES).join('\n');
}
