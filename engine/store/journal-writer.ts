/**
 * Appends events to a journal segment, with group commit.
 *
 *   append ─▶ seq, prev, at, hash at once ─▶ queue ─(setImmediate)─▶ one write ─▶ one fdatasync ─▶ fenced? ─▶ acknowledge
 *
 * Any failure poisons the writer: everything not yet acknowledged is rejected and nothing is accepted any more. In
 * particular a failed sync is never tried again, as the kernel may have dropped the pages and say "done" next time.
 */
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { SddError } from '../errors.ts';
import type { JournalRecord, RunEvent } from '../events.ts';
import type { JsonObject } from '../json.ts';
import { canonical } from './canonical.ts';
import { writeAll } from './durable.ts';
import { storeError } from './fs-errors.ts';
import { sha256 } from './hash.ts';
import type { Head } from './read-journal.ts';
import { encodeLine, type OpenedRecord, segmentPath } from './segments.ts';

/** How a journal is written. */
export interface WriterOptions {
	/** Of sdd; noted in the segment. */
	readonly version: string;
	readonly now?: () => Date;
	/** Takes secrets out of an event before it is hashed and written. */
	readonly redact?: (event: RunEvent) => RunEvent;
	/** Gets every record as it will lie on the disk, in order and at once; it must not append itself. */
	readonly onRecord?: (record: JournalRecord) => void;
}

/** Appends to a journal; see `openJournal`. */
export interface JournalWriter {
	/** Takes the events in order, at once; the promise resolves when they are on the disk. */
	append(events: readonly RunEvent[]): Promise<void>;
	/** Writes now what is queued. */
	flush(): Promise<void>;
	/** Writes what is queued and closes the segment. */
	close(): Promise<void>;
	/** The last record taken: its number, hash and time. */
	head(): Head;
	/** How often the disk was synced so far. */
	readonly syncs: number;
	/** How many bytes were written so far. */
	readonly bytes: number;
}

/** A segment that this process has claimed, and what it goes on from. */
export interface ClaimedSegment {
	readonly dir: string;
	readonly segment: number;
	readonly fd: number;
	readonly head: Head;
	readonly dropped: number;
}

/** Longer lines are refused: an event that large is a mistake. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Writes the first record of a claimed segment and returns its writer; throws if it cannot. */
export function createWriter(claimed: ClaimedSegment, options: WriterOptions): JournalWriter {
	const state = initialState(claimed, options);
	const fault = commit(state, openingLine(state, claimed));
	if (fault !== null) throw fault;
	return {
		append: (events) => append(state, events),
		flush: () => flush(state),
		close: () => close(state),
		head: () => state.head,
		get syncs() {
			return state.syncs;
		},
		get bytes() {
			return state.bytes;
		},
	};
}

interface State {
	readonly options: WriterOptions;
	readonly fd: number;
	readonly path: string;
	/** Where a process that takes over would write. */
	readonly successor: string;
	head: Head;
	batch: Batch | null;
	fault: Error | null;
	open: boolean;
	syncs: number;
	bytes: number;
}

/** What one write and one sync will acknowledge together. */
interface Batch {
	readonly lines: string[];
	length: number;
	readonly done: Promise<void>;
	readonly settle: (fault: Error | null) => void;
}

function initialState(claimed: ClaimedSegment, options: WriterOptions): State {
	return {
		options,
		fd: claimed.fd,
		path: segmentPath(claimed.dir, claimed.segment),
		successor: segmentPath(claimed.dir, claimed.segment + 1),
		head: claimed.head,
		batch: null,
		fault: null,
		open: true,
		syncs: 0,
		bytes: 0,
	};
}

function openingLine(state: State, claimed: ClaimedSegment): string {
	const opening: Omit<OpenedRecord, keyof Head | 'prev'> = {
		kind: 'opened',
		segment: claimed.segment,
		pid: process.pid,
		host: hostname(),
		version: state.options.version,
		node: process.version,
		dropped: claimed.dropped,
		continues: claimed.head.hash,
	};
	const { line, record } = chain(opening, claimed.head, timeAfter(state));
	state.head = { seq: record.seq, hash: record.hash, at: record.at };
	return line;
}

function append(state: State, events: readonly RunEvent[]): Promise<void> {
	if (state.fault !== null) return Promise.reject(state.fault);
	if (!state.open) return Promise.reject(new Error('append to a journal that was closed'));
	try {
		return enqueue(state, take(state, events));
	} catch (error) {
		return Promise.reject(error);
	}
}

interface Taken {
	readonly records: readonly JournalRecord[];
	readonly lines: readonly string[];
}

/** Chains all events before any of them counts: one that cannot be recorded leaves the writer as it was. */
function take(state: State, events: readonly RunEvent[]): Taken {
	const { redact } = state.options;
	const at = timeAfter(state);
	const records: JournalRecord[] = [];
	const lines: string[] = [];
	let head = state.head;
	for (const event of events) {
		const clean = redact === undefined ? event : redact(event);
		const next = chain(clean, head, at);
		records.push(next.record as JournalRecord);
		lines.push(next.line);
		head = next.record;
	}
	state.head = { seq: head.seq, hash: head.hash, at };
	return { records, lines };
}

/** Time never goes back in a journal, whatever the clock does. */
function timeAfter(state: State): string {
	const now = (state.options.now?.() ?? new Date()).toISOString();
	if (now < state.head.at) return state.head.at;
	return now;
}

type Chained = Head & { readonly prev: string };

function chain(
	event: { readonly kind: string },
	head: Head,
	at: string,
): { readonly line: string; readonly record: Chained } {
	const record = sorted({ ...event, seq: head.seq + 1, prev: head.hash, at });
	const body = canonical(record as JsonObject);
	assertLength(event.kind, body);
	const hash = sha256(body);
	record['hash'] = hash;
	return { line: encodeLine(body, hash), record: record as unknown as Chained };
}

/** The members in canonical order, which makes their text cheap. Events of a kind nearly always have the same ones. */
function sorted(members: { readonly kind: string; readonly [name: string]: unknown }): { [name: string]: unknown } {
	const names = Object.keys(members);
	const known = orders.get(members.kind);
	const order =
		known?.length === names.length && known.every((name) => Object.hasOwn(members, name)) ? known : names.sort();
	if (order !== known) orders.set(members.kind, order);
	const copy: { [name: string]: unknown } = {};
	for (const name of order) copy[name] = members[name];
	return copy;
}

const orders = new Map<string, readonly string[]>();

function assertLength(kind: string, body: string): void {
	// No character takes more than three bytes per UTF-16 unit, so most lines need not be measured.
	if (body.length * 3 <= MAX_LINE_BYTES || Buffer.byteLength(body) <= MAX_LINE_BYTES) return;
	throw new SddError(
		'STORE_RECORD_TOO_LARGE',
		`an event of kind ${kind} would take ${Buffer.byteLength(body)} bytes in the journal; the limit is ${MAX_LINE_BYTES}`,
		'find out which agent or overlay produced that much, and have it return less or write it to a file',
	);
}

function enqueue(state: State, taken: Taken): Promise<void> {
	state.batch ??= startBatch(state);
	const { batch } = state;
	for (const line of taken.lines) {
		batch.lines.push(line);
		batch.length += line.length;
	}
	for (const record of taken.records) state.options.onRecord?.(record);
	if (batch.length > MAX_LINE_BYTES) void flush(state);
	return batch.done;
}

function startBatch(state: State): Batch {
	let settle: Batch['settle'] = () => {};
	const done = new Promise<void>((resolve, reject) => {
		settle = (fault) => (fault === null ? resolve() : reject(fault));
	});
	// Who does not wait for this batch hears of the fault at the next append; it must not end the process here.
	done.catch(() => {});
	setImmediate(() => void flush(state));
	return { lines: [], length: 0, done, settle };
}

function flush(state: State): Promise<void> {
	const { batch } = state;
	if (batch === null) return state.fault === null ? Promise.resolve() : rejected(state.fault);
	state.batch = null;
	state.fault ??= commit(state, batch.lines.join(''));
	batch.settle(state.fault);
	return batch.done;
}

function rejected(fault: Error): Promise<void> {
	const promise = Promise.reject(fault);
	promise.catch(() => {});
	return promise;
}

async function close(state: State): Promise<void> {
	if (!state.open) return;
	state.open = false;
	try {
		if (state.batch !== null) await flush(state);
	} finally {
		closeSync(state.fd);
	}
}

/** Writes and syncs; returns why nothing of it may be acknowledged, or null. */
function commit(state: State, text: string): SddError | null {
	const bytes = Buffer.from(text);
	const fault = write(state, bytes) ?? sync(state) ?? lost(state);
	if (fault === null) state.bytes += bytes.length;
	return fault;
}

function write(state: State, bytes: Buffer): SddError | null {
	try {
		writeAll(state.fd, bytes);
		return null;
	} catch (error) {
		cutTornLine(state, bytes);
		return storeError(error, state.path, 'write the journal');
	}
}

/**
 * Cuts off the half line that a failed write left. Whole lines stay, though nobody was told that they are safe: a process that
 * took over meanwhile may have gone on from one of them.
 */
function cutTornLine(state: State, bytes: Buffer): void {
	try {
		const written = fstatSync(state.fd).size - state.bytes;
		if (written <= 0) return;
		ftruncateSync(state.fd, state.bytes + bytes.lastIndexOf(0x0a, written - 1) + 1);
	} catch {
		// The next opener drops a torn tail anyway.
	}
}

function sync(state: State): SddError | null {
	try {
		state.syncs++;
		fdatasyncSync(state.fd);
		return null;
	} catch (error) {
		return new SddError(
			'STORE_SYNC_FAILED',
			`the disk did not confirm what was written to ${state.path} (${(error as Error).message})`,
			'check the disk (dmesg); `sdd run` goes on from the last record that was confirmed',
			{ cause: error },
		);
	}
}

/** Whether another process took over, or the journal was removed under our feet. */
function lost(state: State): SddError | null {
	try {
		if (statSync(state.successor, { throwIfNoEntry: false }) !== undefined) return fenced(state.path);
		return fstatSync(state.fd).nlink === 0 ? gone(state.path) : null;
	} catch (error) {
		return storeError(error, state.path, 'look after the journal');
	}
}

function fenced(path: string): SddError {
	return new SddError(
		'STORE_FENCED',
		`another sdd process has taken over this run: it opened the segment after ${path}`,
		'let that process go on (`sdd status`); what this one had not yet recorded is done again there',
	);
}

function gone(path: string): SddError {
	return new SddError(
		'STORE_GONE',
		`the journal was removed while the run was writing to it: ${path}`,
		'keep .ai-sdd/state while a run is going on; restore it from a backup or start over with `sdd run --fresh`',
	);
}
