import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JournalRecord } from '../../engine/events.ts';
import { canonical } from '../../engine/store/canonical.ts';
import { sha256 } from '../../engine/store/hash.ts';
import { appendHead } from '../../engine/store/heads.ts';
import { openJournal } from '../../engine/store/journal.ts';
import { headsFile, journalDir, runDir } from '../../engine/store/layout.ts';
import { encodeLine, segmentPath, ZERO_HASH } from '../../engine/store/segments.ts';
import { ensureState } from '../../engine/store/state-folder.ts';
import { verifyAll, verifyRun } from '../../engine/store/verify.ts';
import { edit, finishedRun, HOOK, JOURNAL, notesOf, problemsOf, RUN, record, STATE } from './audited.ts';
import { itemOf, said, temporaryFolders } from './rig.ts';

const newFolder = temporaryFolders();

describe('an audit', () => {
	it('finds nothing where nothing was changed, and returns the head to keep', async () => {
		const project = await finishedRun(newFolder());
		const result = verifyAll(project);
		expect(problemsOf(result)).toEqual([]);
		expect(notesOf(result)).toEqual([]);
		expect(result.records).toBe(6);
		expect(result.heads).toEqual([{ run: RUN, seq: 6, hash: expect.any(String), at: expect.any(String) }]);
		expect(verifyRun(project, RUN)).toEqual(result);
		const anchor = result.heads[0]?.hash ?? '';
		expect(problemsOf(verifyAll(project, { anchor }))).toEqual([]);
	});

	it('has nothing to say about a project without state', () =>
		expect(verifyAll(newFolder())).toEqual({ problems: [], notes: [], records: 0, heads: [] }));

	it('names a run that is not there', async () => {
		const project = await finishedRun(newFolder());
		expect(problemsOf(verifyRun(project, 'run-9'))).toEqual([`journal ${STATE}/runs/run-9: the run is missing`]);
		rmSync(runDir(project, RUN), { recursive: true });
		expect(problemsOf(verifyAll(project))).toEqual([
			`head ${STATE}/heads.ndjson, line 1: run run-1 is missing, though a head of its journal was noted`,
			`hil ${STATE}/hil/hil-1.json: the run run-1 that asked it is missing`,
		]);
	});
});

describe('an audit of a journal', () => {
	it('names every changed record, not only the first', async () => {
		const project = await finishedRun(newFolder());
		edit(segmentPath(journalDir(project, RUN), 1), (text) =>
			text.replace('"workflow":"demo"', '"workflow":"Demo"').replace('"outcome":"completed"', '"outcome":"failed"'),
		);
		const result = verifyRun(project, RUN);
		expect(problemsOf(result)).toEqual([
			`journal ${JOURNAL}/000001.ndjson, line 2: its hash does not fit its content`,
			`journal ${JOURNAL}/000001.ndjson, line 6: its hash does not fit its content`,
			`head ${STATE}/heads.ndjson, line 1: run run-1: the tail of the journal was cut off: it ends with record 5, its noted head is 6`,
		]);
		expect(notesOf(result)).toContain(
			`${STATE}/runs/${RUN}: its journal is damaged: queue and views were not compared with it`,
		);
	});

	it('names a record that was taken out', async () => {
		const project = await finishedRun(newFolder());
		edit(segmentPath(journalDir(project, RUN), 1), (text) => text.split('\n').toSpliced(2, 1).join('\n'));
		expect(problemsOf(verifyRun(project, RUN))).toEqual([
			`journal ${JOURNAL}/000001.ndjson, line 3 (record 4): its number is 4, where 3 must follow`,
		]);
	});

	it('finds a record that says the same in another form', async () => {
		const project = await finishedRun(newFolder());
		edit(segmentPath(journalDir(project, RUN), 1), (text) => text.replace('{"at":', '{ "at":'));
		expect(problemsOf(verifyRun(project, RUN))[0]).toContain('its hash does not fit its content');
		const dir = journalDir(project, 'run-2');
		mkdirSync(dir, { recursive: true });
		const body = '{"kind":"opened","at":"x","seq":1,"prev":"x"}';
		writeFileSync(segmentPath(dir, 1), encodeLine(body, sha256(body)));
		expect(problemsOf(verifyRun(project, 'run-2'))).toEqual([
			`journal ${STATE}/runs/run-2/journal/000001.ndjson, line 1 (record 1): it is not in canonical form`,
		]);
	});

	it('knows the canonical order of members with numbers for names', async () => {
		const project = newFolder();
		ensureState(project);
		const item = itemOf('hil-1', { context: { '9': 'nine', '10': 'ten', a: { '2': 1, '1': 2 } } });
		await record(project, [{ kind: 'hil_opened', ...HOOK, question: 'q', item }]);
		expect(problemsOf(verifyRun(project, RUN))).toEqual([]);
	});

	it('finds a forged record that is nested beyond reason', () => {
		const project = newFolder();
		const dir = journalDir(project, RUN);
		mkdirSync(dir, { recursive: true });
		const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
		const body = `{"at":"x","deep":${deep},"kind":"opened","prev":"${ZERO_HASH}","seq":1}`;
		writeFileSync(segmentPath(dir, 1), encodeLine(body, sha256(body)));
		expect(problemsOf(verifyRun(project, RUN))).toEqual([
			`journal ${JOURNAL}/000001.ndjson, line 1 (record 1): it is not in canonical form`,
		]);
	});

	it('notes torn tails, missing segments and void records', async () => {
		const project = newFolder();
		ensureState(project);
		await record(project, [said('a')]);
		const dir = journalDir(project, RUN);
		const first = openJournal(dir, { version: '0.1.0' }).writer;
		await record(project, [said('b')], 'paused');
		await first.append([said('late')]).catch(() => {});
		await first.close();
		appendFileSync(segmentPath(dir, 3), '{"torn');
		writeFileSync(segmentPath(dir, 4), '');
		writeFileSync(segmentPath(dir, 6), '');
		const result = verifyRun(project, RUN);
		expect(problemsOf(result)).toEqual([]);
		expect(notesOf(result)).toEqual([
			`${JOURNAL}/000002.ndjson: 1 record was written after another process had taken over, and ignored`,
			`${JOURNAL}/000003.ndjson: the last line was torn: 6 bytes dropped`,
			`${JOURNAL}/000004.ndjson: a process ended right after claiming this segment`,
			`${JOURNAL}/000006.ndjson: segment 5 is missing before this one`,
			`${JOURNAL}/000006.ndjson: a process ended right after claiming this segment`,
		]);
	});

	it('looks at void records too', async () => {
		const project = newFolder();
		ensureState(project);
		const dir = journalDir(project, RUN);
		const first = openJournal(dir, { version: '0.1.0' }).writer;
		await record(project, [said('b')]);
		await first.append([said('late'), said('later')]).catch(() => {});
		await first.close();
		edit(segmentPath(dir, 1), (text) => text.replace('"later"', '"never"'));
		expect(problemsOf(verifyRun(project, RUN))).toEqual([
			`journal ${JOURNAL}/000001.ndjson, line 3: its hash does not fit its content`,
		]);
	});
});

describe('an audit against noted heads', () => {
	it('shows that the tail of a journal was cut off', async () => {
		const project = await finishedRun(newFolder());
		edit(segmentPath(journalDir(project, RUN), 1), (text) => `${text.split('\n').slice(0, 4).join('\n')}\n`);
		expect(problemsOf(verifyRun(project, RUN))[0]).toBe(
			`head ${STATE}/heads.ndjson, line 1: run run-1: the tail of the journal was cut off: it ends with record 4, its noted head is 6`,
		);
	});

	it('shows that a journal was written anew, however well', async () => {
		const project = await finishedRun(newFolder());
		const anchor = verifyRun(project, RUN).heads[0]?.hash ?? '';
		rewrite(segmentPath(journalDir(project, RUN), 1), (record) =>
			record.kind === 'run_started' ? { ...record, by: 'mallory' } : record,
		);
		expect(problemsOf(verifyRun(project, RUN, { anchor }))).toEqual([
			`head ${STATE}/heads.ndjson, line 1: run run-1: record 6 is not the one that was noted: the journal was written anew`,
			`head ${STATE}/heads.ndjson: run run-1 has finished, but no head of its journal was noted`,
			`anchor : no record of run run-1 has the hash ${anchor}: the journal was cut off or written anew since it was noted`,
		]);
	});

	it('shows a head whose number is not that of its record', async () => {
		const project = await finishedRun(newFolder());
		const head = verifyRun(project, RUN).heads[0]?.hash ?? '';
		appendHead(project, { run: RUN, seq: 5, head, at: '', state: 'paused' });
		expect(problemsOf(verifyRun(project, RUN))).toEqual([
			`head ${STATE}/heads.ndjson, line 2: run run-1: the noted head is record 6, not 5`,
		]);
	});

	it('misses the head of a finished run, also when a run went on after it', async () => {
		const project = await finishedRun(newFolder());
		rmSync(headsFile(project));
		const missing = [`head ${STATE}/heads.ndjson: run run-1 has finished, but no head of its journal was noted`];
		expect(problemsOf(verifyRun(project, RUN))).toEqual(missing);
		await record(project, [], 'finished');
		expect(problemsOf(verifyRun(project, RUN))).toEqual([]);
		await record(project, []);
		expect(problemsOf(verifyRun(project, RUN))).toEqual([]);
	});

	it('asks for no head while a run goes on', async () => {
		const project = newFolder();
		ensureState(project);
		await record(project, [said('a')]);
		expect(problemsOf(verifyRun(project, RUN))).toEqual([]);
	});

	it('reports heads that were damaged or torn themselves', async () => {
		const project = await finishedRun(newFolder());
		appendFileSync(headsFile(project), '{"to');
		expect(notesOf(verifyAll(project))).toEqual([`${STATE}/heads.ndjson: the last line was torn: 4 bytes dropped`]);
		edit(headsFile(project), (text) => text.replace('"seq":6', '"seq":7'));
		expect(problemsOf(verifyAll(project))).toEqual([
			`head ${STATE}/heads.ndjson, line 1: its hash does not fit its content`,
		]);
	});

	it('says when an anchor is in none of several runs', async () => {
		const project = await finishedRun(newFolder());
		await record(project, [said('a')], undefined, 'run-2');
		expect(problemsOf(verifyAll(project, { anchor: 'f00' }))).toEqual([
			'anchor : no record of the 2 runs here has the hash f00: the journal was cut off or written anew since it was noted',
		]);
	});
});

/** What a forger would do: change records and compute every hash again. */
function rewrite(path: string, change: (record: JournalRecord) => object): void {
	let prev = ZERO_HASH;
	const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
	const forged = lines.map((line) => {
		const { hash: _, ...rest } = { ...change(JSON.parse(line)), prev } as JournalRecord;
		const body = canonical(JSON.parse(JSON.stringify(rest)));
		prev = sha256(body);
		return encodeLine(body, prev);
	});
	writeFileSync(path, forged.join(''));
}
