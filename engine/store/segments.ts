/**
 * The files of a journal: `journal/000001.ndjson`, one segment per process that opened it.
 *
 * A line is the canonical JSON of a record with `,"hash":"…"}` put at its end, so that checking a hash needs no
 * re-serialisation: it covers the bytes before that suffix, closed by a brace.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { JournalRecord } from '../events.ts';
import { errnoOf, storeError } from './fs-errors.ts';

/** What stands for "the record before the first one". */
export const ZERO_HASH = '0'.repeat(64);

/** The first record of every segment: who opened it, and which record it goes on from. Not an event of the run. */
export interface OpenedRecord {
	readonly kind: 'opened';
	readonly segment: number;
	readonly pid: number;
	readonly host: string;
	readonly version: string;
	readonly node: string;
	/** Bytes of a torn tail that the opener found and ignored. */
	readonly dropped: number;
	/** The hash of the record it goes on from; whatever older segments hold after that one is void. */
	readonly continues: string;
	readonly seq: number;
	readonly prev: string;
	readonly at: string;
	readonly hash: string;
}

/** Anything a journal line can hold. */
export type StoredRecord = JournalRecord | OpenedRecord;

/** Hashes bytes; passed in, so that reading without verification need not load node:crypto. */
export type Hasher = (bytes: Uint8Array) => string;

/** The file name of a segment. */
export function segmentName(segment: number): string {
	return `${String(segment).padStart(6, '0')}.ndjson`;
}

/** The path of a segment. */
export function segmentPath(dir: string, segment: number): string {
	return join(dir, segmentName(segment));
}

/** The numbers of the segments in a journal folder, in order; none if there is no folder. */
export function listSegments(dir: string): readonly number[] {
	try {
		const names = readdirSync(dir).filter((name) => /^\d{6}\.ndjson$/.test(name));
		return names.map((name) => Number(name.slice(0, 6))).sort((a, b) => a - b);
	} catch (error) {
		if (errnoOf(error) === 'ENOENT') return [];
		throw storeError(error, dir, 'read the journal');
	}
}

/** The line of a record, newline included, from the canonical text of all but its hash. */
export function encodeLine(body: string, hash: string): string {
	return `${body.slice(0, -1)},"hash":"${hash}"}\n`;
}

const SUFFIX_LENGTH = ',"hash":""}'.length + 64;
const CLOSING_BRACE = 0x7d;

/**
 * The record in `bytes[start, end)`, or what is wrong with it. With a hasher its hash is checked too, for which the
 * byte after the body is overwritten: the buffer is the caller's to spend.
 */
export function decodeLine(bytes: Buffer, start: number, end: number, hasher: Hasher | null): StoredRecord | string {
	return decodeText(bytes.toString('utf8', start, end), bytes, start, end, hasher);
}

/** The same for a caller that has the text of the line already. */
export function decodeText(
	text: string,
	bytes: Buffer,
	start: number,
	end: number,
	hasher: Hasher | null,
): StoredRecord | string {
	const record = parseRecord(text);
	if (record === null) return 'is not a JSON record';
	if (!text.endsWith(`,"hash":"${record.hash}"}`) || record.hash.length !== 64) return 'does not end with its hash';
	if (hasher === null) return record;
	const close = end - SUFFIX_LENGTH;
	bytes[close] = CLOSING_BRACE;
	return hasher(bytes.subarray(start, close + 1)) === record.hash ? record : 'its hash does not fit its content';
}

function parseRecord(text: string): StoredRecord | null {
	try {
		const value: unknown = JSON.parse(text);
		return isRecord(value) ? value : null;
	} catch {
		return null;
	}
}

function isRecord(value: unknown): value is StoredRecord {
	const record = value as { [member: string]: unknown } | null;
	return (
		typeof record === 'object' &&
		record !== null &&
		typeof record.seq === 'number' &&
		typeof record.hash === 'string' &&
		typeof record.prev === 'string' &&
		typeof record.kind === 'string' &&
		typeof record.at === 'string'
	);
}

/** The end of the line that starts at `start`, or -1 if it has no newline: a torn tail. */
export function lineEnd(bytes: Buffer, start: number): number {
	return bytes.indexOf(0x0a, start);
}
