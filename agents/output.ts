/** Reads what an agent wrote: its first characters as text, its size and its sha256, never the whole of it at once. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { bytesFor, capBytes } from '../engine/brief/cap.ts';
import { digestFile, isUtf8Head } from '../engine/brief/digest-file.ts';
import type { OutputRecord } from '../engine/events.ts';

/** The record of an output file; `file` is its name relative to the run's folder. */
export function readOutput(path: string, file: string, keep: number): OutputRecord {
	const { head, bytes, sha256 } = digestFile(path, bytesFor(keep));
	const text = capBytes(head, bytes, keep);
	return { bytes, file, sha256, text: isUtf8Head(head, bytes) ? text : `${NOT_UTF8}\n${text}` };
}

/** The last lines of a file, for a message; empty when there is nothing in it. */
export function lastLines(path: string): string {
	const fd = openSync(path, 'r');
	try {
		const { size } = fstatSync(fd);
		const tail = Buffer.alloc(Math.min(size, LAST_BYTES));
		const text = tail.toString('utf8', 0, readSync(fd, tail, 0, tail.length, size - tail.length));
		return text.trimEnd().split('\n').slice(-LAST_LINES).join('\n').trimStart();
	} finally {
		closeSync(fd);
	}
}

const LAST_BYTES = 2000;
const LAST_LINES = 15;
const NOT_UTF8 = '[sdd: this output is not valid UTF-8; what could not be read stands as \uFFFD]';
