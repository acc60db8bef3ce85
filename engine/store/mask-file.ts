/** Masks secrets in a file that an agent wrote, in place and without reading it all into memory. */
import { closeSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs';
import { storeError } from './fs-errors.ts';
import { exactForms, rangesToHide } from './redact.ts';

/** Overwrites every secret in the file with as many `*`; returns how many were found. */
export function maskFile(path: string, secrets: readonly string[]): number {
	// Byte for byte as latin1, so that a place in the text is a place in the file, whatever the encoding.
	const exact = exactForms(secrets).map((secret) => Buffer.from(secret).toString('latin1'));
	const overlap = Math.max(MIN_OVERLAP, exact[0]?.length ?? 0);
	try {
		const fd = openSync(path, 'r+');
		try {
			return maskAll(fd, exact, overlap);
		} finally {
			closeSync(fd);
		}
	} catch (error) {
		throw storeError(error, path, 'mask the secrets in');
	}
}

/** Small, so that the texts made of chunks die young: a process's memory makes every start of an agent slower. */
const CHUNK = 80 * 1024;
/** Longer than any private key. */
const MIN_OVERLAP = 16_384;

function maskAll(fd: number, exact: readonly string[], overlap: number): number {
	const chunk = Buffer.allocUnsafeSlow(CHUNK + overlap);
	let found = 0;
	for (let at = 0; ; ) {
		const size = readFully(fd, chunk, at);
		const isLast = size < chunk.length;
		// What begins in the overlap may go on beyond the chunk: it is left for the next one, which begins there.
		const until = isLast ? size : size - overlap;
		found += maskChunk(fd, chunk.subarray(0, size), at, until, exact);
		if (isLast) break;
		at += until;
	}
	if (found > 0) fdatasyncSync(fd);
	return found;
}

function readFully(fd: number, chunk: Buffer, at: number): number {
	let size = 0;
	while (size < chunk.length) {
		const read = readSync(fd, chunk, size, chunk.length - size, at + size);
		if (read === 0) break;
		size += read;
	}
	return size;
}

function maskChunk(fd: number, chunk: Buffer, at: number, until: number, exact: readonly string[]): number {
	const ranges = rangesToHide(chunk.toString('latin1'), exact).filter(([start]) => start < until);
	for (const [start, end] of ranges) {
		const stars = Buffer.alloc(end - start, '*');
		for (let done = 0; done < stars.length; )
			done += writeSync(fd, stars, done, stars.length - done, at + start + done);
	}
	return ranges.length;
}
