/** Checks a journal to the last byte: unlike a resume it goes on after a problem, and looks at void records too. */
import { SddError } from '../errors.ts';
import type { JournalRecord } from '../events.ts';
import type { JsonObject } from '../json.ts';
import { canonical, isSorted } from './canonical.ts';
import { sha256 } from './hash.ts';
import { type Head, isOpened, limitsOf, misfit, readSegment, tailNote, voidNote } from './read-journal.ts';
import {
	decodeText,
	encodeLine,
	lineEnd,
	listSegments,
	type StoredRecord,
	segmentPath,
	ZERO_HASH,
} from './segments.ts';
import type { Findings } from './verification.ts';

/** What a journal holds, as far as it can be told. */
export interface CheckedJournal {
	/** The events that count, in order. */
	readonly records: readonly JournalRecord[];
	/** The number of every record that counts, by its hash. */
	readonly chain: ReadonlyMap<string, number>;
	/** Null for a journal without a record. */
	readonly head: Head | null;
	/** How many records were looked at, the void ones included. */
	readonly checked: number;
}

/** Checks every line of every segment; `name` says how a path is to be shown. */
export function checkJournal(dir: string, findings: Findings, name: (path: string) => string): CheckedJournal {
	const segments = listSegments(dir);
	const limits = limitsOf(dir, segments);
	const check: Check = { findings, name, records: [], chain: new Map(), head: START, last: null, checked: 0 };
	for (const [i, segment] of segments.entries()) {
		const before = segments[i - 1] ?? 0;
		if (segment !== before + 1) noteGap(check, segmentPath(dir, segment), before, segment);
		checkSegment(check, segmentPath(dir, segment), segment, limits[i] ?? Number.POSITIVE_INFINITY);
	}
	return { records: check.records, chain: check.chain, head: check.last, checked: check.checked };
}

const START: Head = { seq: 0, hash: ZERO_HASH, at: '' };

interface Check {
	readonly findings: Findings;
	readonly name: (path: string) => string;
	readonly records: JournalRecord[];
	readonly chain: Map<string, number>;
	/** What the next record must continue from; null after a line that could not be read. */
	head: Head | null;
	last: Head | null;
	checked: number;
}

function noteGap(check: Check, path: string, before: number, segment: number): void {
	const missing = segment - before === 2 ? `segment ${before + 1} is` : `segments ${before + 1} to ${segment - 1} are`;
	check.findings.notes.push({ file: check.name(path), message: `${missing} missing before this one` });
}

function checkSegment(check: Check, path: string, segment: number, limit: number): void {
	const bytes = readSegment(path);
	const file = check.name(path);
	let start = 0;
	let voided = 0;
	let fork: Head | null = null;
	for (let line = 1, end = lineEnd(bytes, 0); end >= 0; line++, end = lineEnd(bytes, start)) {
		const record = checkLine(bytes, start, end);
		const isVoid = isBeyond(record, check.head, voided, limit);
		const head: Head | null = isVoid && voided > 0 ? fork : check.head;
		report(check, file, line, record, head === null ? null : misfitOf(head, record, segment, line));
		if (isVoid) {
			voided++;
			fork = headOf(record);
		} else accept(check, record);
		check.checked++;
		start = end + 1;
	}
	noteEnd(check, file, segment, bytes.length - start, bytes.length, voided);
}

/** The record, or what is wrong with its line: also when it says the same in another than the canonical form. */
function checkLine(bytes: Buffer, start: number, end: number): Line {
	const text = bytes.toString('utf8', start, end);
	const record = decodeText(text, bytes, start, end, sha256);
	if (typeof record === 'string') return { record: null, wrong: record };
	return { record, wrong: isCanonicalLine(text, record) ? null : 'it is not in canonical form' };
}

/** The hash stands last in a line, whatever its place by name; the rest must be in canonical form. */
function isCanonicalLine(text: string, record: StoredRecord): boolean {
	if (isSorted(record as unknown as JsonObject, 'hash') && JSON.stringify(record) === text) return true;
	// Members with numbers for names come in another order once parsed: only the long way can tell.
	const { hash: _, ...body } = record as unknown as JsonObject;
	try {
		return encodeLine(canonical(body), record.hash) === `${text}\n`;
	} catch (error) {
		// Nested deeper than anything that was ever written here.
		if (error instanceof SddError) return false;
		throw error;
	}
}

interface Line {
	readonly record: StoredRecord | null;
	readonly wrong: string | null;
}

/** Records from the place on where a newer segment took over are void, and so is all that follows them. */
function isBeyond(line: Line, head: Head | null, voided: number, limit: number): boolean {
	if (voided > 0) return true;
	const seq = head === null ? line.record?.seq : head.seq + 1;
	return seq !== undefined && seq >= limit;
}

function misfitOf(head: Head, line: Line, segment: number, number: number): string | null {
	return line.record === null ? null : misfit(head, line.record, segment, number);
}

function report(check: Check, file: string, number: number, line: Line, misfits: string | null): void {
	const what = line.wrong ?? misfits;
	if (what === null) return;
	const where = line.record === null ? `line ${number}` : `line ${number} (record ${line.record.seq})`;
	check.findings.problems.push({ kind: 'journal', file, where, what, remedy: RESTORE });
}

const RESTORE =
	'the journal was changed or the disk damaged it: restore the run from a backup, or start over with `sdd run --fresh`';

function headOf(line: Line): Head | null {
	return line.record === null ? null : { seq: line.record.seq, hash: line.record.hash, at: line.record.at };
}

function accept(check: Check, line: Line): void {
	check.head = headOf(line);
	if (line.record === null) return;
	check.last = check.head;
	check.chain.set(line.record.hash, line.record.seq);
	if (!isOpened(line.record)) check.records.push(line.record);
}

function noteEnd(check: Check, file: string, segment: number, torn: number, size: number, voided: number): void {
	if (voided > 0) check.findings.notes.push({ file, message: voidNote(segment, voided).message });
	const tail = tailNote(segment, size, torn);
	if (tail !== null) check.findings.notes.push({ file, message: tail.message });
}
