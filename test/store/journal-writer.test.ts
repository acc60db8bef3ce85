import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RunEvent } from '../../engine/events.ts';
import { openJournal } from '../../engine/store/journal.ts';
import { segmentPath } from '../../engine/store/segments.ts';
import { readJournal, rejectionOf, said, temporaryFolders, textsOf } from './rig.ts';

const faults = vi.hoisted(() => ({ write: null as string | null, sync: null as string | null, partly: 0, syncs: 0 }));

vi.mock('node:fs', async (original) => {
	const real = await original<typeof import('node:fs')>();
	const fail = (code: string, syscall: string) => {
		throw Object.assign(new Error(`${code}: simulated`), { code, syscall });
	};
	return {
		...real,
		writeSync: (fd: number, bytes: Uint8Array, at: number, length: number) => {
			if (faults.write === null) return real.writeSync(fd, bytes, at, length);
			if (faults.partly > 0) real.writeSync(fd, bytes, at, Math.min(length, faults.partly));
			return fail(faults.write, 'write');
		},
		fdatasyncSync: (fd: number) => {
			faults.syncs++;
			return faults.sync === null ? real.fdatasyncSync(fd) : fail(faults.sync, 'fdatasync');
		},
	};
});

const newFolder = temporaryFolders();
const OPTIONS = { version: '0.1.0' };

afterEach(() => Object.assign(faults, { write: null, sync: null, partly: 0 }));

describe('a journal writer', () => {
	it('commits what is appended in one turn with one write and one sync', async () => {
		const { writer } = openJournal(newFolder(), OPTIONS);
		expect(writer.syncs).toBe(1);
		await Promise.all(Array.from({ length: 50 }, (_, i) => writer.append([said(`${i}`)])));
		expect(writer.syncs).toBe(2);
		await writer.append([said('next')]);
		expect(writer.syncs).toBe(3);
		await writer.close();
	});

	it('counts the bytes it wrote and knows its head', async () => {
		const dir = newFolder();
		const { writer } = openJournal(dir, OPTIONS);
		await writer.append([said('a'), said('b')]);
		await writer.close();
		expect(writer.bytes).toBe(fs.statSync(segmentPath(dir, 1)).size);
		expect(writer.head()).toEqual((await readJournal(dir)).head);
	});

	it('numbers and hashes at once, before anything is written', async () => {
		const { writer } = openJournal(newFolder(), OPTIONS);
		const appended = writer.append([said('a')]);
		expect(writer.head().seq).toBe(2);
		expect(writer.syncs).toBe(1);
		await writer.flush();
		expect(writer.syncs).toBe(2);
		await appended;
		await writer.close();
	});

	it('makes durable what it read before it goes on from it', async () => {
		const dir = newFolder();
		await openJournal(dir, OPTIONS).writer.close();
		const before = faults.syncs;
		const { writer } = openJournal(dir, OPTIONS);
		expect(faults.syncs - before).toBe(writer.syncs + 1);
		await writer.close();
	});

	it('writes what is queued when it is closed, and takes nothing after that', async () => {
		const dir = newFolder();
		const { writer } = openJournal(dir, OPTIONS);
		const appended = writer.append([said('a')]);
		await writer.close();
		await appended;
		await writer.close();
		await expect(writer.append([said('b')])).rejects.toThrow('append to a journal that was closed');
		expect(textsOf((await readJournal(dir)).records)).toEqual(['a']);
	});

	it('refuses an event that cannot be recorded and goes on as if it had not been given', async () => {
		const dir = newFolder();
		const { writer } = openJournal(dir, OPTIONS);
		const error = await rejectionOf(writer.append([said('a'), said('x'.repeat(65 * 1024 * 1024))]));
		expect(error.code).toBe('STORE_RECORD_TOO_LARGE');
		expect(error.message).toMatch(
			/^an event of kind warning would take \d+ bytes in the journal; the limit is 67108864$/,
		);
		expect(error.remedy).toContain('have it return less or write it to a file');
		await writer.append([said('b')]);
		await writer.close();
		expect(textsOf((await readJournal(dir)).records)).toEqual(['b']);
	});

	it('does not let an event bring its own number, time or hash', async () => {
		const dir = newFolder();
		const { writer } = openJournal(dir, OPTIONS);
		const sly: RunEvent = Object.assign({}, said('a'), { seq: 99, prev: 'x', hash: 'y', at: 'never' });
		await writer.append([sly]);
		await writer.close();
		const { records } = await readJournal(dir);
		expect(records[0]?.seq).toBe(2);
	});
});

describe('a write that fails', () => {
	it('rejects, poisons the writer and leaves no half line behind', async () => {
		const dir = newFolder();
		const { writer } = openJournal(dir, OPTIONS);
		await writer.append([said('a')]);
		Object.assign(faults, { write: 'ENOSPC', partly: 40 });
		const error = await rejectionOf(writer.append([said('b')]));
		expect(error.code).toBe('STORE_DISK_FULL');
		expect(error.message).toBe(
			`cannot write the journal ${segmentPath(dir, 1)}: no space is left on the disk (ENOSPC)`,
		);
		faults.write = null;
		expect(await rejectionOf(writer.append([said('c')]))).toBe(error);
		expect(await rejectionOf(writer.flush())).toBe(error);
		await writer.close();
		const { records, notes } = await readJournal(dir);
		expect(textsOf(records)).toEqual(['a']);
		expect(notes).toEqual([]);
	});

	it('rejects everything of its batch', async () => {
		const { writer } = openJournal(newFolder(), OPTIONS);
		faults.write = 'EIO';
		const results = await Promise.allSettled([writer.append([said('a')]), writer.append([said('b')])]);
		expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected']);
		await writer.close();
	});

	it('refuses to open the journal when the first record cannot be written', async () => {
		const dir = newFolder();
		faults.write = 'EROFS';
		expect(() => openJournal(dir, OPTIONS)).toThrow('the file system is read-only');
		faults.write = null;
		const { writer } = openJournal(dir, OPTIONS);
		await writer.append([said('a')]);
		await writer.close();
		expect(textsOf((await readJournal(dir)).records)).toEqual(['a']);
	});
});

describe('a sync that fails', () => {
	it('poisons the writer for good: it is never tried again', async () => {
		const dir = newFolder();
		const { writer } = openJournal(dir, OPTIONS);
		faults.sync = 'EIO';
		const error = await rejectionOf(writer.append([said('a')]));
		expect(error.code).toBe('STORE_SYNC_FAILED');
		expect(error.message).toBe(`the disk did not confirm what was written to ${segmentPath(dir, 1)} (EIO: simulated)`);
		expect(error.remedy).toBe('check the disk (dmesg); `sdd run` goes on from the last record that was confirmed');
		faults.sync = null;
		const syncs = writer.syncs;
		expect(await rejectionOf(writer.append([said('b')]))).toBe(error);
		expect(writer.syncs).toBe(syncs);
		await writer.close();
	});
});

describe('a journal that is removed under a writer', () => {
	it('is noticed at the next append', async () => {
		const dir = join(newFolder(), 'journal');
		const { writer } = openJournal(dir, OPTIONS);
		fs.rmSync(dir, { recursive: true });
		const error = await rejectionOf(writer.append([said('a')]));
		expect(error.code).toBe('STORE_GONE');
		expect(error.message).toBe(`the journal was removed while the run was writing to it: ${segmentPath(dir, 1)}`);
		expect(error.remedy).toContain('keep .ai-sdd/state while a run is going on');
		await writer.close();
	});
});
