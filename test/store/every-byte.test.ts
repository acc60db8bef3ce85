import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SddError } from '../../engine/errors.ts';
import type { JournalRecord } from '../../engine/events.ts';
import { appendHead } from '../../engine/store/heads.ts';
import { openJournal } from '../../engine/store/journal.ts';
import { headsFile, journalDir, stateDir } from '../../engine/store/layout.ts';
import { segmentPath } from '../../engine/store/segments.ts';
import { verifyRun } from '../../engine/store/verify.ts';
import { readJournal, said, steppingClock, temporaryFolders } from './rig.ts';

const newFolder = temporaryFolders();
const RUN = 'run-1';

/** A project with one journal of two segments, about 4 KB, whose head is noted. */
async function sample() {
	const project = newFolder();
	mkdirSync(stateDir(project), { recursive: true });
	const dir = journalDir(project, RUN);
	const now = steppingClock();
	for (const texts of [
		['first', 'zwei ä € 😀'],
		['third', `"quoted" and \\ ${'long '.repeat(60)}`, 'fifth', 'last'],
	]) {
		const { writer } = openJournal(dir, { version: '0.1.0', now });
		for (const text of texts) await writer.append([said(text)]);
		await writer.close();
		const { seq, hash: head, at } = writer.head();
		appendHead(project, { run: RUN, seq, head, at, state: 'paused' });
	}
	const { records } = await readJournal(dir);
	return { project, dir, records };
}

/** What a reader makes of the journal: its records, or null where it refuses. */
async function read(dir: string): Promise<readonly JournalRecord[] | null> {
	try {
		return (await readJournal(dir)).records;
	} catch (error) {
		if (error instanceof SddError && error.code === 'STORE_JOURNAL_DAMAGED') return null;
		throw error;
	}
}

describe('truncation at every byte', () => {
	it('of the last segment leaves exactly the whole lines, and the noted head shows what is missing', async () => {
		const { project, dir, records } = await sample();
		const path = segmentPath(dir, 2);
		const bytes = readFileSync(path);
		const first = records.filter((record) => record.seq <= 3).length;
		for (let size = bytes.length - 1; size >= 0; size--) {
			truncateSync(path, size);
			const whole = bytes.subarray(0, size).toString('latin1').split('\n').length - 1;
			expect(await read(dir)).toEqual(records.slice(0, first + Math.max(0, whole - 1)));
			expect(verifyRun(project, RUN).problems.map((problem) => problem.kind)).toEqual(['head']);
		}
	});

	it('of an older segment is refused wherever a newer one goes on from what is missing', async () => {
		const { project, dir } = await sample();
		const path = segmentPath(dir, 1);
		const bytes = readFileSync(path);
		for (let size = bytes.length - 1; size >= 0; size--) {
			truncateSync(path, size);
			expect(await read(dir)).toBeNull();
			expect(verifyRun(project, RUN).problems.length).toBeGreaterThan(0);
		}
	});
});

describe('a flip in every byte', () => {
	it.each([1, 2])('of segment %i is found by an audit, and never read as something else', async (segment) => {
		const { project, dir, records } = await sample();
		const path = segmentPath(dir, segment);
		const bytes = readFileSync(path);
		for (let at = 0; at < bytes.length; at++) {
			const flipped = Buffer.from(bytes);
			flipped[at] = flipped[at]! ^ (1 << (at % 8));
			writeFileSync(path, flipped);
			const found = await read(dir);
			if (found !== null) expect(found).toEqual(records.slice(0, found.length));
			expect(verifyRun(project, RUN).problems.length, `byte ${at}`).toBeGreaterThan(0);
		}
	});

	it('of heads.ndjson is found by an audit', async () => {
		const { project } = await sample();
		const path = headsFile(project);
		const bytes = readFileSync(path);
		for (let at = 0; at < bytes.length - 1; at++) {
			const flipped = Buffer.from(bytes);
			flipped[at] = flipped[at]! ^ (1 << (at % 8));
			writeFileSync(path, flipped);
			expect(verifyRun(project, RUN).problems.length, `byte ${at}`).toBeGreaterThan(0);
		}
	});
});
