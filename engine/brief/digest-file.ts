/** Reads a file of any size in small pieces: its sha256, its length, and the bytes at its beginning. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';

/** What a file holds, without holding it. */
export interface FileDigest {
	readonly sha256: string;
	readonly bytes: number;
	/** At most as many bytes as were asked for. */
	readonly head: Uint8Array;
}

/** Hashes a file and keeps its first `headBytes` bytes. */
export function digestFile(path: string | Buffer, headBytes = 0): FileDigest {
	// One buffer for all files: reading is synchronous, and a large file must leave no mark on memory.
	chunk ??= Buffer.allocUnsafeSlow(CHUNK);
	const hash = createHash('sha256');
	const parts: Buffer[] = [];
	const fd = openSync(path, 'r');
	try {
		let bytes = 0;
		for (let read = readSync(fd, chunk); read > 0; read = readSync(fd, chunk)) {
			hash.update(chunk.subarray(0, read));
			if (bytes < headBytes) parts.push(Buffer.from(chunk.subarray(0, Math.min(read, headBytes - bytes))));
			bytes += read;
		}
		return { sha256: hash.digest('hex'), bytes, head: Buffer.concat(parts) };
	} finally {
		closeSync(fd);
	}
}

/** Whether the beginning of a file of `size` bytes is UTF-8, apart from a character that is cut at its end. */
export function isUtf8Head(head: Uint8Array, size: number): boolean {
	if (isUtf8(head)) return true;
	return head.length < size && [1, 2, 3].some((cut) => isUtf8(head.subarray(0, head.length - cut)));
}

const CHUNK = 64 * 1024;
let chunk: Buffer | undefined;
