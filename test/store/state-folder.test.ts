import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { putBrief, readBrief } from '../../engine/store/blobs.ts';
import { sha256 } from '../../engine/store/hash.ts';
import { briefFile, RUN_ID, runDir, runsDir } from '../../engine/store/layout.ts';
import { ensureState, listRuns, newRunId } from '../../engine/store/state-folder.ts';
import { errorOf, temporaryFolders } from './rig.ts';

const newFolder = temporaryFolders();

describe('the state folder', () => {
	function ignoredAfter(before: string | null): string {
		const project = newFolder();
		const path = join(project, '.ai-sdd', '.gitignore');
		mkdirSync(join(project, '.ai-sdd'));
		if (before !== null) writeFileSync(path, before);
		ensureState(project);
		ensureState(project);
		return readFileSync(path, 'utf8');
	}

	it('is created and ignored by git, once', () => {
		expect(ignoredAfter(null)).toBe('state/\n');
	});

	it('keeps what a person has written into .gitignore', () => {
		expect(ignoredAfter('# mine\nsecrets')).toBe('# mine\nsecrets\nstate/\n');
		for (const ignoring of ['state\n', '/state/\n', 'a\r\nstate/\r\n', '*\n', 'state/**\n']) {
			expect(ignoredAfter(ignoring)).toBe(ignoring);
		}
		expect(ignoredAfter('states/\n')).toBe('states/\nstate/\n');
	});

	it('cannot be made where a file is in the way', () => {
		const project = newFolder();
		writeFileSync(join(project, '.ai-sdd'), '');
		const error = errorOf(() => ensureState(project));
		expect(error.code).toBe('STORE_NOT_A_FOLDER');
		expect(error.message).toBe(`${join(project, '.ai-sdd')} is a file, but sdd needs a folder there`);
		expect(error.remedy).toBe('move that file away, or run sdd in another project');
	});
});

describe('run ids', () => {
	it('sort by time and are valid', () => {
		const ids = [0, 1, 37, 999, 1000, 60_000].map((ms) => newRunId(new Date(Date.UTC(2026, 10, 18, 8, 40, 2) + ms)));
		expect([...ids].sort()).toEqual(ids);
		for (const id of ids) expect(id).toMatch(RUN_ID);
		expect(ids[0]).toMatch(/^20261118-084002-00[a-z0-9]{4}$/);
	});

	it('are listed newest last; what is no run is left out', () => {
		const project = newFolder();
		expect(listRuns(project)).toEqual([]);
		for (const name of ['20261118-b', '20261117-a', '.tmp-1-x', 'No run'])
			mkdirSync(runDirOf(project, name), { recursive: true });
		expect(listRuns(project)).toEqual(['20261117-a', '20261118-b']);
	});

	function runDirOf(project: string, name: string): string {
		return join(runsDir(project), name);
	}
});

describe('briefs', () => {
	it('are kept once, under their sha256', () => {
		const dir = runDir(newFolder(), 'run-1');
		const digest = putBrief(dir, 'Do it.\n');
		expect(digest).toBe(sha256('Do it.\n'));
		expect(putBrief(dir, 'Do it.\n')).toBe(digest);
		expect(readBrief(dir, digest)).toBe('Do it.\n');
	});

	it('are refused when they were changed or are missing', () => {
		const dir = runDir(newFolder(), 'run-1');
		const digest = putBrief(dir, 'Do it.\n');
		const path = briefFile(dir, digest);
		writeFileSync(path, 'Do something else.\n');
		const error = errorOf(() => readBrief(dir, digest));
		expect(error.code).toBe('STORE_BRIEF_DAMAGED');
		expect(error.message).toBe(`the brief ${path} was changed: its sha256 is no longer its name`);
		expect(error.remedy).toContain('restore it from a backup');
		expect(errorOf(() => readBrief(dir, 'b'.repeat(64))).message).toContain('cannot read the brief');
	});
});
