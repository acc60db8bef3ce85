/** What the tests of the store share: temporary projects, events to record, and small things to look at. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { SddError } from '../../engine/errors.ts';
import type { HilItem, HilResolution, JournalRecord, RunEvent } from '../../engine/events.ts';
import { sha256 } from '../../engine/store/hash.ts';
import { type JournalEnd, walkJournal } from '../../engine/store/read-journal.ts';

/** Makes a function that gives each test fresh folders, and removes them after it. */
export function temporaryFolders(): () => string {
	const made: string[] = [];
	afterEach(() => {
		for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
	});
	return () => {
		const folder = mkdtempSync(join(tmpdir(), 'sdd-'));
		made.push(folder);
		return folder;
	};
}

/** An event that carries a text and nothing else. */
export function said(message: string): RunEvent {
	return { kind: 'warning', code: 'TEST', message };
}

/** The texts of such events. */
export function textsOf(records: readonly RunEvent[]): readonly string[] {
	return records.map((record) => (record.kind === 'warning' ? record.message : record.kind));
}

/** All of a journal, read without claiming it. Without `verify` the hashes are not computed, only followed. */
export async function readJournal(
	dir: string,
	{ verify = true }: { readonly verify?: boolean } = {},
): Promise<JournalEnd & { readonly records: readonly JournalRecord[] }> {
	const records: JournalRecord[] = [];
	const end = walkJournal(dir, { hasher: verify ? sha256 : null, onRecord: (record) => records.push(record) });
	return { ...end, records };
}

/** The start of a run with this plan digest. */
export function runStarted(run: string, plan: string): RunEvent {
	return {
		kind: 'run_started',
		run,
		workflow: 'demo',
		file: 'workflow.yaml',
		project: 'demo',
		plan,
		by: 'ann',
		version: '0.1.0',
	};
}

/** A pending item of the queue. */
export function itemOf(id: string, more: Partial<HilItem> = {}): HilItem {
	return {
		id,
		run_id: 'run-1',
		workflow: 'demo',
		task_id: 'implement',
		overlay: 'hil',
		trigger: 'approval_required',
		status: 'PENDING',
		question: 'May it start?',
		choices: ['approve', 'reject'],
		context: { risk: 'low' },
		created_at: '2026-11-18T08:00:00.000Z',
		resolution: null,
		...more,
	};
}

/** A decision. */
export function decision(choice: string, by = 'ann'): HilResolution {
	return { choice, by, via: 'cli', notes: null, at: '2026-11-18T09:00:00.000Z' };
}

/** The SddError that the call throws; anything else fails the test. */
export function errorOf(act: () => unknown): SddError {
	try {
		act();
	} catch (error) {
		if (error instanceof SddError) return error;
		throw error;
	}
	throw new Error('expected an SddError, but nothing was thrown');
}

/** The SddError that the promise rejects with; anything else fails the test. */
export async function rejectionOf(promise: Promise<unknown>): Promise<SddError> {
	return promise.then(
		() => {
			throw new Error('expected an SddError, but the promise resolved');
		},
		(error: unknown) => {
			if (error instanceof SddError) return error;
			throw error;
		},
	);
}

/** A clock that moves on by one second each time it is read. */
export function steppingClock(start = '2026-11-18T08:00:00.000Z'): () => Date {
	let at = Date.parse(start);
	return () => {
		at += 1000;
		return new Date(at);
	};
}
