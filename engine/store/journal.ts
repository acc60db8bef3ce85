/**
 * Opens a journal for writing.
 *
 * Safety does not rest on a lock. A process first claims the next segment by exclusive create, and only then reads the
 * older ones; a writer looks for a newer segment after every sync and, finding one, acknowledges nothing. So whatever
 * was acknowledged is read by whoever takes over, even if the older process was only asleep.
 */
import { closeSync, constants, fdatasyncSync, openSync } from 'node:fs';
import type { JournalRecord } from '../events.ts';
import { fsyncFolder, mkdirDurable } from './durable.ts';
import { errnoOf, storeError } from './fs-errors.ts';
import { sha256 } from './hash.ts';
import { createWriter, type JournalWriter, type WriterOptions } from './journal-writer.ts';
import { openFile } from './read-file.ts';
import { type JournalEnd, type JournalNote, walkJournal } from './read-journal.ts';
import { listSegments, segmentPath } from './segments.ts';

/** An open journal: what it held, and how to go on. */
export interface OpenJournal {
	/** Empty where `onRecord` was given: then it got them, one by one. */
	readonly records: readonly JournalRecord[];
	readonly writer: JournalWriter;
	/** What the opener found and the journal did not know yet: torn tails, records of a fenced process. */
	readonly notes: readonly JournalNote[];
}

/** Claims the next segment of the journal in `dir`, reads and verifies all before it, and returns the writer. */
export function openJournal(dir: string, options: WriterOptions): OpenJournal {
	mkdirDurable(dir);
	const { segment, fd } = claimSegment(dir);
	try {
		const records: JournalRecord[] = [];
		const onRecord = options.onRecord ?? ((record) => records.push(record));
		const end = walkJournal(dir, { hasher: sha256, onRecord, before: segment });
		syncTail(dir, end);
		const writer = createWriter({ dir, segment, fd, head: end.head, dropped: end.dropped }, options);
		return { records, writer, notes: end.notes.filter((note) => note.segment >= end.segment) };
	} catch (error) {
		// The claimed segment stays, though empty: removing it could hide from an older writer that it was fenced off.
		closeSync(fd);
		throw error;
	}
}

const EXCLUSIVE_APPEND = constants.O_CREAT | constants.O_EXCL | constants.O_APPEND | constants.O_WRONLY;

function claimSegment(dir: string): { readonly segment: number; readonly fd: number } {
	const segment = (listSegments(dir).at(-1) ?? 0) + 1;
	const path = segmentPath(dir, segment);
	try {
		const fd = openSync(path, EXCLUSIVE_APPEND, 0o644);
		fsyncFolder(dir);
		return { segment, fd };
	} catch (error) {
		// Somebody else was quicker: claim the one after it, which fences them off.
		if (errnoOf(error) === 'EEXIST') return claimSegment(dir);
		throw storeError(error, path, 'open the journal');
	}
}

/**
 * What was read may so far rest in the page cache only. It is made durable before anything continues from it: otherwise
 * a power cut could leave our segment without its predecessor's tail.
 */
function syncTail(dir: string, end: JournalEnd): void {
	if (end.segment === 0) return;
	const path = segmentPath(dir, end.segment);
	try {
		const fd = openFile(path);
		try {
			fdatasyncSync(fd);
		} finally {
			closeSync(fd);
		}
	} catch (error) {
		throw storeError(error, path, 'sync the journal');
	}
}
