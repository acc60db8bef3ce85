/** Real short writes and refusals, without root: a limit on the size of files stands for a full disk. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openJournal } from '../../engine/store/journal.ts';
import { bundleChild } from './children/bundle.ts';
import { readJournal, said, textsOf } from './rig.ts';

let folder = '';
let append = '';
let replace = '';

beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), 'sdd-'));
	append = await bundleChild('append', folder);
	replace = await bundleChild('replace', folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program whose files cannot grow beyond 64 KB. */
function limited(...args: string[]): readonly string[] {
	const out = execFileSync('bash', ['-c', 'ulimit -f 64; exec "$@"', 'bash', process.execPath, ...args], {
		encoding: 'utf8',
	});
	return out.trim().split('\n');
}

describe('when the disk is full', () => {
	it('an append is refused, what was acknowledged stays, and the journal can go on later', async () => {
		const dir = join(folder, 'journal');
		const out = limited(append, dir, 'child', '0', '20000');
		expect(out[0]).toBe('open');
		expect(out.at(-1)).toBe('error STORE_DISK_FULL');
		const acknowledged = out.filter((line) => line.startsWith('ack')).map((line) => line.split(' ')[1]);
		expect(acknowledged.length).toBeGreaterThan(2);
		const { records, writer, notes } = openJournal(dir, { version: 'test' });
		expect(textsOf(records).map((text) => text.split(' ')[0])).toEqual(acknowledged);
		expect(notes).toEqual([]);
		await writer.append([said('later')]);
		await writer.close();
		expect((await readJournal(dir)).records).toHaveLength(acknowledged.length + 1);
	});

	it('a replaced file keeps its old content, and no temporary file stays', () => {
		const dir = mkdtempSync(join(folder, 'view-'));
		const path = join(dir, 'view.json');
		writeFileSync(path, 'old');
		expect(limited(replace, path, '100000')).toEqual(['error STORE_DISK_FULL']);
		expect(readFileSync(path, 'utf8')).toBe('old');
		expect(readdirSync(dir)).toEqual(['view.json']);
		expect(limited(replace, path, '60000')).toEqual(['done']);
		expect(readFileSync(path, 'utf8')).toHaveLength(60_000);
	});
});
