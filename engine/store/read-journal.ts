/**
 * Reads a journal: its records in order, checked, without what newer segments have made void.
 *
 *   000001  opened a b c d│x y      x, y: written by a process that was already fenced off; kept, reported, ignored
 *   000002                └ opened e f ▒▒   ▒▒: a torn tail, dropped and noted
 *   000003                            └ opened g
 */
import { closeSync, readSync } from 'node:fs';
import { SddError } from '../errors.ts';
import type { JournalRecord } from '../events.ts';
import { storeError } from './fs-errors.ts';
import { bytesOfFile, openFile } from './read-file.ts';
import {
	decodeLine,
	type Hasher,
	lineEnd,
	listSegments,
	type OpenedRecord,
	type StoredRecord,
	segmentPath,
	ZERO_HASH,
} from './segments.ts';

/** The last record of a journal: enough to go on from it, and to prove later that nothing was cut off. */
export interface Head {
	readonly seq: number;
	readonly hash: string;
	readonly at: string;
}

/** Something odd but harmless that a journal holds. */
export interface JournalNote {
	readonly kind: 'torn' | 'void' | 'empty';
	readonly segment: number;
	readonly message: string;
}

/** What reading a journal found out besides its records. */
export interface JournalEnd {
	readonly head: Head;
	/** The segment that holds the head; 0 for an empty journal. */
	readonly segment: number;
	/** Bytes of torn tails from that segment on. */
	readonly dropped: number;
	readonly notes: readonly JournalNote[];
}

/** Calls back with every record that counts, in order; throws STORE_JOURNAL_DAMAGED at the first that is not sound. */
export function walkJournal(
	dir: string,
	options: {
		readonly hasher: Hasher | null;
		readonly onRecord: (record: JournalRecord) => void;
		/** Only segments before this one are read. */
		readonly before?: number;
	},
): JournalEnd {
	const segments = listSegments(dir).filter((segment) => segment < (options.before ?? Number.POSITIVE_INFINITY));
	const limits = limitsOf(dir, segments);
	const walk: Walk = { dir, ...options, head: START, segment: 0, dropped: 0, notes: [] };
	for (const [i, segment] of segments.entries()) walkSegment(walk, segment, limits[i] ?? Number.POSITIVE_INFINITY);
	const { seq, hash, at } = walk.head;
	return { head: { seq, hash, at }, segment: walk.segment, dropped: walk.dropped, notes: walk.notes };
}

const START: Head = { seq: 0, hash: ZERO_HASH, at: '' };

interface Walk {
	readonly dir: string;
	readonly hasher: Hasher | null;
	readonly onRecord: (record: JournalRecord) => void;
	readonly notes: JournalNote[];
	head: Head;
	segment: number;
	dropped: number;
}

/** Per segment, the sequence number from which newer segments took over: its own records from there on are void. */
export function limitsOf(dir: string, segments: readonly number[]): readonly number[] {
	const limits: number[] = [];
	let limit = Number.POSITIVE_INFINITY;
	for (let i = segments.length - 1; i >= 0; i--) {
		limits[i] = limit;
		limit = Math.min(limit, openingSeq(segmentPath(dir, segments[i]!)));
	}
	return limits;
}

/** Large enough for any `opened` record. */
const OPENING_BYTES = 16_384;

function openingSeq(path: string): number {
	const bytes = readStart(path, OPENING_BYTES);
	const end = lineEnd(bytes, 0);
	const record = end < 0 ? '' : decodeLine(bytes, 0, end, null);
	return typeof record === 'string' ? Number.POSITIVE_INFINITY : record.seq;
}

function readStart(path: string, length: number): Buffer {
	try {
		const fd = openFile(path);
		try {
			const bytes = Buffer.alloc(length);
			return bytes.subarray(0, readSync(fd, bytes, 0, length, 0));
		} finally {
			closeSync(fd);
		}
	} catch (error) {
		throw storeError(error, path, 'read the journal');
	}
}

function walkSegment(walk: Walk, segment: number, limit: number): void {
	const path = segmentPath(walk.dir, segment);
	const bytes = readSegment(path);
	let start = 0;
	for (let line = 1, end = lineEnd(bytes, 0); end >= 0; line++, end = lineEnd(bytes, start)) {
		if (walk.head.seq + 1 >= limit) {
			noteVoid(walk, segment, bytes, start);
			return;
		}
		const record = decodeLine(bytes, start, end, walk.hasher);
		const wrong = typeof record === 'string' ? record : misfit(walk.head, record, segment, line);
		if (typeof record === 'string' || wrong !== null) throw damaged(path, line, record, wrong ?? '');
		accept(walk, record, segment);
		start = end + 1;
	}
	noteTail(walk, segment, bytes.length, start);
}

/** The bytes of a segment. */
export function readSegment(path: string): Buffer {
	try {
		return bytesOfFile(path);
	} catch (error) {
		throw storeError(error, path, 'read the journal');
	}
}

/** Why a record that is sound in itself cannot stand at this place, or null if it can. */
export function misfit(head: Head, record: StoredRecord, segment: number, line: number): string | null {
	if (line === 1) return misfitOpening(head, record, segment);
	if (record.kind === 'opened') return 'a segment is opened in the middle of another one';
	if (record.seq !== head.seq + 1) return `its number is ${record.seq}, where ${head.seq + 1} must follow`;
	if (record.prev !== head.hash) return 'it does not continue from the record before it';
	return null;
}

function misfitOpening(head: Head, record: StoredRecord, segment: number): string | null {
	if (record.kind !== 'opened') return 'a segment must begin by saying who opened it';
	if (record.segment !== segment) return `it was written as segment ${record.segment}`;
	if (record.seq !== head.seq + 1 || record.prev !== head.hash || record.continues !== head.hash) {
		return `it continues from record ${record.seq - 1} (${shortHash(record.prev)}), which no older segment holds`;
	}
	return null;
}

/** The first characters of a hash, for messages. */
export function shortHash(hash: string): string {
	return hash.slice(0, 12);
}

function accept(walk: Walk, record: StoredRecord, segment: number): void {
	walk.head = record;
	if (walk.segment !== segment) {
		walk.segment = segment;
		walk.dropped = 0;
	}
	if (!isOpened(record)) walk.onRecord(record);
}

/** Tells the store's own records from the events of the run. */
export function isOpened(record: StoredRecord): record is OpenedRecord {
	return record.kind === 'opened';
}

function noteVoid(walk: Walk, segment: number, bytes: Buffer, from: number): void {
	let lines = 0;
	for (let end = lineEnd(bytes, from); end >= 0; end = lineEnd(bytes, end + 1)) lines++;
	walk.notes.push(voidNote(segment, lines));
}

/** Says that a fenced process went on writing. */
export function voidNote(segment: number, records: number): JournalNote {
	const what = records === 1 ? '1 record was' : `${records} records were`;
	return { kind: 'void', segment, message: `${what} written after another process had taken over, and ignored` };
}

function noteTail(walk: Walk, segment: number, size: number, end: number): void {
	const note = tailNote(segment, size, size - end);
	if (note !== null) walk.notes.push(note);
	walk.dropped += size - end;
}

/** Says that a segment ends in a torn line, or holds nothing at all; null for an ordinary end. */
export function tailNote(segment: number, size: number, torn: number): JournalNote | null {
	if (torn > 0) return { kind: 'torn', segment, message: `the last line was torn: ${torn} bytes dropped` };
	if (size === 0) return { kind: 'empty', segment, message: 'a process ended right after claiming this segment' };
	return null;
}

function damaged(path: string, line: number, record: StoredRecord | string, reason: string): SddError {
	const place = typeof record === 'string' ? `line ${line}` : `line ${line} (record ${record.seq})`;
	return new SddError(
		'STORE_JOURNAL_DAMAGED',
		`the journal is damaged: ${path}, ${place}: ${reason}`,
		'see what is wrong with `sdd audit verify`, then restore the run from a backup, or start over with `sdd run --fresh`',
	);
}
