/** The stderr of an overlay's process, and what it tells people by messages: kept in a file of the run, or only its end in memory. */
import type { ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readSync, truncateSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

export interface OverlayStderr {
	/** For `spawn`. */
	readonly target: number | 'pipe';
	/** To be called with the child once it is spawned. */
	follow(child: ChildProcess): void;
	/** Adds a line that did not come through stderr. */
	note(text: string): void;
	/** How much was written since it was opened: also the place from which a tail can be told. */
	bytes(): number;
	/** The last lines of what was written after that place. */
	tail(since: number): Promise<string>;
	close(): void;
}

/** Takes the secrets out of a file, in place; what cannot be masked is not kept. */
export type MaskFile = (path: string) => unknown;

const TAIL_BYTES = 2000;
const TAIL_LINES = 12;
const MAX_NOTE_CHARACTERS = 10_000;
/** In this time a pipe has been read of what was written to it before. */
const PIPE_LAG_MS = 20;

/** Opens it: a file is appended to, null keeps the end in memory. */
export function openStderr(path: string | null, mask?: MaskFile): OverlayStderr {
	return path === null ? inMemory() : inFile(path, mask);
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
		async tail(since) {
			if (!isOver) await new Promise((done) => setTimeout(done, PIPE_LAG_MS));
			return lastLines(kept, total - since);
		},
		close() {},
	};
}

function inFile(path: string, mask?: MaskFile): OverlayStderr {
	mkdirSync(dirname(path), { recursive: true });
	// Append mode: the process and this one write to the same end.
	const fd = openSync(path, 'a+');
	// Whoever wrote it before may have been killed before it was masked.
	if (fstatSync(fd).size > 0) maskOrEmpty(path, mask);
	const from = fstatSync(fd).size;
	let closed: { readonly end: Buffer; readonly bytes: number } | null = null;
	const bytes = (): number => closed?.bytes ?? Math.max(0, fstatSync(fd).size - from);
	return {
		target: fd,
		follow() {},
		note(text) {
			// What people are told must not decide about a run: a full disk shows elsewhere.
			if (closed === null) attempt(() => writeSync(fd, lineOf(text)));
		},
		bytes,
		tail: async (since) => lastLines(closed?.end ?? endOf(fd), bytes() - since),
		close() {
			if (closed !== null) return;
			closed = { end: endOf(fd), bytes: bytes() };
			closeSync(fd);
			if (closed.bytes > 0) maskOrEmpty(path, mask);
		},
	};
}

function maskOrEmpty(path: string, mask: MaskFile | undefined): void {
	try {
		mask?.(path);
	} catch {
		attempt(() => truncateSync(path));
	}
}

function lineOf(text: string): string {
	return `${text.slice(0, MAX_NOTE_CHARACTERS).trimEnd().replaceAll('\n', '\n  ')}\n`;
}

function attempt(action: () => unknown): void {
	try {
		action();
	} catch {}
}

function endOf(fd: number): Buffer {
	const { size } = fstatSync(fd);
	const start = Math.max(0, size - TAIL_BYTES);
	const buffer = Buffer.alloc(size - start);
	attempt(() => readSync(fd, buffer, 0, buffer.length, start));
	return buffer;
}

/** The last lines, of no more than the last `count` bytes. */
function lastLines(end: Buffer, count: number): string {
	const bytes = end.subarray(Math.max(0, end.length - Math.max(0, count)));
	return bytes.toString('utf8').trim().split('\n').slice(-TAIL_LINES).join('\n');
}
