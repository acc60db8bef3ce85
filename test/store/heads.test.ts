import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { appendHead, type HeadNote, readHeads } from '../../engine/store/heads.ts';
import { headsFile } from '../../engine/store/layout.ts';
import { ZERO_HASH } from '../../engine/store/segments.ts';
import { ensureState } from '../../engine/store/state-folder.ts';
import { errorOf, temporaryFolders } from './rig.ts';

const newFolder = temporaryFolders();

function note(seq: number): HeadNote {
	return { run: 'run-1', seq, head: 'f'.repeat(64), at: '2026-11-18T08:00:00.000Z', state: 'paused' };
}

function withHeads(count: number): string {
	const project = newFolder();
	ensureState(project);
	for (let seq = 1; seq <= count; seq++) appendHead(project, note(seq));
	return project;
}

describe('heads', () => {
	it('are none where nothing was noted', () => {
		expect(readHeads(newFolder())).toEqual({ lines: [], torn: 0, damage: null });
	});

	it('are read as they were noted, each continuing from the one before', () => {
		const { lines } = readHeads(withHeads(3));
		expect(lines.map((line) => line.seq)).toEqual([1, 2, 3]);
		expect(lines.map((line) => line.prev)).toEqual([ZERO_HASH, lines[0]?.hash, lines[1]?.hash]);
	});

	it('may end in a torn line, which the next one replaces', () => {
		const project = withHeads(1);
		appendFileSync(headsFile(project), '{"at":"ü');
		expect(readHeads(project)).toMatchObject({ torn: 9, damage: null });
		appendHead(project, note(2));
		expect(readHeads(project)).toMatchObject({ torn: 0, damage: null, lines: [{ seq: 1 }, { seq: 2 }] });
	});

	it('may be noted by two runs at once that follow the same line', () => {
		const project = withHeads(1);
		const path = headsFile(project);
		const one = readFileSync(path, 'utf8');
		appendHead(project, note(2));
		const two = readFileSync(path, 'utf8').slice(one.length);
		writeFileSync(path, one);
		appendHead(project, note(3));
		appendFileSync(path, two);
		expect(readHeads(project).damage).toBeNull();
	});

	it('show a changed, removed, repeated or foreign line, and are not built upon then', () => {
		const project = withHeads(3);
		const path = headsFile(project);
		const lines = readFileSync(path, 'utf8').split('\n');
		const saying = (text: string) => {
			writeFileSync(path, text);
			return readHeads(project).damage;
		};
		expect(saying(lines.join('\n').replace('"seq":2', '"seq":9'))).toEqual({
			line: 2,
			reason: 'its hash does not fit its content',
		});
		expect(saying(lines.toSpliced(1, 1).join('\n'))).toEqual({
			line: 2,
			reason: 'it continues from a line that is not there',
		});
		expect(saying(`${lines.join('\n')}${lines[2]}\n`)).toEqual({ line: 4, reason: 'it stands there twice' });
		expect(saying(`nonsense\n${lines.join('\n')}`)).toEqual({ line: 1, reason: 'is not a head' });
		const error = errorOf(() => appendHead(project, note(4)));
		expect(error.code).toBe('STORE_HEADS_DAMAGED');
		expect(error.message).toBe(`the heads are damaged: ${path}, line 1: is not a head`);
		expect(error.remedy).toContain('restore the file from a backup');
	});
});
