import { appendFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JournalRecord } from '../../engine/events.ts';
import { canonical } from '../../engine/store/canonical.ts';
import { sha256 } from '../../engine/store/hash.ts';
import { openJournal } from '../../engine/store/journal.ts';
import { encodeLine, listSegments, segmentPath, ZERO_HASH } from '../../engine/store/segments.ts';
import { errorOf, readJournal, rejectionOf, said, steppingClock, temporaryFolders, textsOf } from './rig.ts';

const newFolder = temporaryFolders();
const OPTIONS = { version: '0.1.0', now: steppingClock() };

async function write(dir: string, ...texts: string[]): Promise<void> {
	const { writer } = openJournal(dir, OPTIONS);
	await writer.append(texts.map(said));
	await writer.close();
}

describe('a journal', () => {
	it('gives back what was appended, in order, over several processes', async () => {
		const dir = join(newFolder(), 'journal');
		await write(dir, 'a', 'b');
		await write(dir, 'c');
		const { records, writer, notes } = openJournal(dir, OPTIONS);
		await writer.close();
		expect(textsOf(records)).toEqual(['a', 'b', 'c']);
		expect(records.map((record) => record.seq)).toEqual([2, 3, 5]);
		expect(notes).toEqual([]);
		expect(readdirSync(dir)).toEqual(['000001.ndjson', '000002.ndjson', '000003.ndjson']);
	});

	it('is a chain that anyone can check with canonical JSON and sha256', async () => {
		const dir = newFolder();
		await write(dir, 'ä "quoted" \u2028 text', 'b');
		let prev = ZERO_HASH;
		for (const line of readFileSync(segmentPath(dir, 1), 'utf8').trimEnd().split('\n')) {
			const { hash, ...body } = JSON.parse(line);
			expect(body.prev).toBe(prev);
			expect(hash).toBe(sha256(canonical(body)));
			expect(line).toBe(`${canonical(body).slice(0, -1)},"hash":"${hash}"}`);
			prev = hash;
		}
	});

	it('begins every segment by saying who opened it and what it goes on from', async () => {
		const dir = newFolder();
		await write(dir, 'a');
		const { head } = await readJournal(dir);
		await write(dir, 'b');
		const opened = JSON.parse(readFileSync(segmentPath(dir, 2), 'utf8').split('\n')[0] ?? '');
		expect(opened).toMatchObject({
			kind: 'opened',
			segment: 2,
			pid: process.pid,
			version: '0.1.0',
			node: process.version,
			dropped: 0,
			continues: head.hash,
			prev: head.hash,
			seq: 3,
		});
	});

	it('calls back with every record, old and new, instead of keeping them', async () => {
		const dir = newFolder();
		await write(dir, 'a');
		const seen: JournalRecord[] = [];
		const { records, writer } = openJournal(dir, { ...OPTIONS, onRecord: (record) => seen.push(record) });
		const appended = writer.append([said('b')]);
		expect(textsOf(seen)).toEqual(['a', 'b']);
		expect(seen.at(-1)?.hash).toBe(writer.head().hash);
		await appended;
		await writer.close();
		expect(records).toEqual([]);
		expect((await readJournal(dir)).records).toEqual(seen);
	});

	it('takes records of several megabytes', async () => {
		const dir = newFolder();
		const large = 'ü'.repeat(2_000_000);
		await write(dir, large, 'b');
		expect(textsOf((await readJournal(dir)).records)).toEqual([large, 'b']);
	});

	it('redacts an event before it is hashed', async () => {
		const dir = newFolder();
		const { writer } = openJournal(dir, { ...OPTIONS, redact: () => said('clean') });
		await writer.append([said('dirty')]);
		await writer.close();
		expect(textsOf((await readJournal(dir)).records)).toEqual(['clean']);
	});

	it('never goes back in time', async () => {
		const dir = newFolder();
		const times = ['2026-11-18T08:00:05Z', '2026-11-18T08:00:01Z', '2026-11-18T08:00:09Z'];
		const { writer } = openJournal(dir, { version: '0.1.0', now: () => new Date(times.shift() ?? 0) });
		await writer.append([said('a')]);
		await writer.append([said('b')]);
		await writer.close();
		const { records } = await readJournal(dir);
		expect(records.map((record) => record.at)).toEqual(['2026-11-18T08:00:05.000Z', '2026-11-18T08:00:09.000Z']);
	});

	it('can be read without verification, which only follows the hashes', async () => {
		const dir = newFolder();
		await write(dir, 'a', 'b');
		expect(await readJournal(dir, { verify: false })).toEqual(await readJournal(dir));
	});

	it('is empty where there is no folder', async () => {
		const journal = await readJournal(join(newFolder(), 'none'));
		expect(journal).toEqual({
			records: [],
			head: { seq: 0, hash: ZERO_HASH, at: '' },
			segment: 0,
			dropped: 0,
			notes: [],
		});
	});
});

describe('a torn tail', () => {
	it('is dropped and noted, and the opener notes how many bytes it dropped', async () => {
		const dir = newFolder();
		await write(dir, 'a', 'b');
		const path = segmentPath(dir, 1);
		truncateSync(path, readFileSync(path).length - 10);
		const { records, notes, writer } = openJournal(dir, OPTIONS);
		await writer.close();
		expect(textsOf(records)).toEqual(['a']);
		expect(notes).toHaveLength(1);
		expect(notes[0]).toMatchObject({ kind: 'torn', segment: 1 });
		expect(notes[0]?.message).toMatch(/^the last line was torn: \d+ bytes dropped$/);
		const opened = JSON.parse(readFileSync(segmentPath(dir, 2), 'utf8'));
		expect(`the last line was torn: ${opened.dropped} bytes dropped`).toBe(notes[0]?.message);
	});

	it('is not noted again by the opener after that one', async () => {
		const dir = newFolder();
		await write(dir, 'a');
		appendFileSync(segmentPath(dir, 1), '{"half');
		await write(dir, 'b');
		const { records, notes, writer } = openJournal(dir, OPTIONS);
		await writer.close();
		expect(textsOf(records)).toEqual(['a', 'b']);
		expect(notes).toEqual([]);
		expect((await readJournal(dir)).notes).toMatchObject([{ kind: 'torn', segment: 1 }]);
	});

	it('may be all there is: a process that was killed right after claiming its segment', async () => {
		const dir = newFolder();
		await write(dir, 'a');
		writeFileSync(segmentPath(dir, 2), '');
		writeFileSync(segmentPath(dir, 3), '{"at":"20');
		await write(dir, 'b');
		const { records, notes } = await readJournal(dir);
		expect(textsOf(records)).toEqual(['a', 'b']);
		expect(notes).toMatchObject([
			{ kind: 'empty', segment: 2, message: 'a process ended right after claiming this segment' },
			{ kind: 'torn', segment: 3, message: 'the last line was torn: 9 bytes dropped' },
		]);
	});
});

describe('damage before the tail', () => {
	async function damaged(change: (text: string) => string, segment = 1): Promise<string> {
		const dir = newFolder();
		await write(dir, 'a', 'b');
		await write(dir, 'c');
		const path = segmentPath(dir, segment);
		writeFileSync(path, change(readFileSync(path, 'utf8')));
		const error = await rejectionOf(readJournal(dir));
		expect(errorOf(() => openJournal(dir, OPTIONS)).message).toBe(error.message);
		expect(error.code).toBe('STORE_JOURNAL_DAMAGED');
		expect(error.remedy).toBe(
			'see what is wrong with `sdd audit verify`, then restore the run from a backup, or start over with `sdd run --fresh`',
		);
		expect(error.message).toContain(`the journal is damaged: ${path}, line `);
		return error.message.slice(error.message.indexOf(', line ') + 2);
	}
	const lines = (text: string) => text.split('\n');

	it('is refused, naming file, line and reason', async () => {
		expect(await damaged((text) => text.replace('"b"', '"x"'))).toBe('line 3: its hash does not fit its content');
		expect(await damaged((text) => text.replace('{"at"', '{"at'))).toBe('line 1: is not a JSON record');
		expect(await damaged((text) => text.replace('"}\n', '","x":1}\n'))).toBe('line 1: does not end with its hash');
	});

	it('may be a record that was taken out', async () => {
		expect(await damaged((text) => lines(text).toSpliced(1, 1).join('\n'))).toBe(
			'line 2 (record 3): its number is 3, where 2 must follow',
		);
	});

	it('may be a record that was changed and hashed again: the next one does not continue from it', async () => {
		const forge = (text: string) => {
			const [first = '', second = '', ...rest] = lines(text);
			const { hash: _, ...body } = JSON.parse(second);
			const forged = canonical({ ...body, message: 'forged' });
			return [first, encodeLine(forged, sha256(forged)).trimEnd(), ...rest].join('\n');
		};
		expect(await damaged(forge)).toBe('line 3 (record 3): it does not continue from the record before it');
	});

	it('may be a last line that is whole but wrong: that is no torn tail', async () => {
		expect(await damaged((text) => text.replace('"c"', '"x"'), 2)).toBe('line 2: its hash does not fit its content');
		expect(await damaged((text) => `${text}garbage\n`, 2)).toBe('line 3: is not a JSON record');
	});

	it('may be a segment that does not say who opened it, or says so twice', async () => {
		expect(await damaged((text) => lines(text).toSpliced(0, 1).join('\n'), 2)).toBe(
			'line 1 (record 5): a segment must begin by saying who opened it',
		);
		expect(await damaged((text) => `${text}${lines(text)[0]}\n`, 2)).toBe(
			'line 3 (record 4): a segment is opened in the middle of another one',
		);
	});

	it('may be a segment whose predecessor lost records', async () => {
		const dir = newFolder();
		await write(dir, 'a', 'b');
		await write(dir, 'c');
		const path = segmentPath(dir, 1);
		writeFileSync(path, `${lines(readFileSync(path, 'utf8')).slice(0, 2).join('\n')}\n`);
		const error = await rejectionOf(readJournal(dir));
		expect(error.message).toMatch(
			/000002\.ndjson, line 1 \(record 4\): it continues from record 3 \([0-9a-f]{12}\), which no older segment holds$/,
		);
	});

	it('may be a segment under another name', async () => {
		const dir = newFolder();
		await write(dir, 'a');
		await write(dir, 'b');
		writeFileSync(segmentPath(dir, 3), readFileSync(segmentPath(dir, 2)));
		rmSync(segmentPath(dir, 2));
		expect((await rejectionOf(readJournal(dir))).message).toContain('line 1 (record 3): it was written as segment 2');
	});
});

describe('a journal that another process opens', () => {
	it('fences off the first one, which acknowledges nothing any more', async () => {
		const dir = newFolder();
		const first = openJournal(dir, OPTIONS).writer;
		await first.append([said('a')]);
		const second = openJournal(dir, OPTIONS);
		const error = await rejectionOf(first.append([said('late')]));
		expect(error.code).toBe('STORE_FENCED');
		expect(error.message).toBe(
			`another sdd process has taken over this run: it opened the segment after ${segmentPath(dir, 1)}`,
		);
		expect(error.remedy).toContain('let that process go on (`sdd status`)');
		expect(await rejectionOf(first.append([said('later')]))).toBe(error);
		await second.writer.append([said('b')]);
		await first.close();
		await second.writer.close();
		const { records, notes } = await readJournal(dir);
		expect(textsOf(records)).toEqual(['a', 'b']);
		expect(notes).toEqual([
			{ kind: 'void', segment: 1, message: '1 record was written after another process had taken over, and ignored' },
		]);
	});

	it('takes over whatever the first one had written before the claim', async () => {
		const dir = newFolder();
		const first = openJournal(dir, OPTIONS).writer;
		const unacknowledged = first.append([said('a')]);
		writeFileSync(segmentPath(dir, 2), '');
		expect((await rejectionOf(unacknowledged)).code).toBe('STORE_FENCED');
		const { records, writer } = openJournal(dir, OPTIONS);
		await writer.close();
		await first.close();
		expect(textsOf(records)).toEqual(['a']);
	});

	it('reads past a void record, even one that is garbage', async () => {
		const dir = newFolder();
		await write(dir, 'a');
		await write(dir, 'b');
		appendFileSync(segmentPath(dir, 1), 'garbage\n');
		expect(textsOf((await readJournal(dir)).records)).toEqual(['a', 'b']);
	});

	it('can be claimed by many at once: all but the last are fenced off', async () => {
		const dir = newFolder();
		const writers = Array.from({ length: 5 }, () => openJournal(dir, OPTIONS).writer);
		const results = await Promise.allSettled(writers.map((writer, i) => writer.append([said(`w${i}`)])));
		expect(results.map((result) => result.status)).toEqual([...Array(4).fill('rejected'), 'fulfilled']);
		for (const writer of writers) await writer.close();
		expect(listSegments(dir)).toEqual([1, 2, 3, 4, 5]);
		expect(textsOf((await readJournal(dir)).records)).toEqual(['w4']);
	});
});
