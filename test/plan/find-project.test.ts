import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findProject } from '../../engine/plan/find-project.ts';

let folder: string;
beforeEach(() => {
	folder = realpathSync(mkdtempSync(join(tmpdir(), 'sdd-')));
	mkdirSync(join(folder, 'a/b/c'), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the nearest folder with .ai-sdd/ or .git is the project', () => {
	mkdirSync(join(folder, '.git'));
	expect(findProject(join(folder, 'a/b/c'))).toBe(folder);
	mkdirSync(join(folder, 'a/b/.ai-sdd'));
	expect(findProject(join(folder, 'a/b/c'))).toBe(join(folder, 'a/b'));
});

test('a linked worktree, whose .git is a file, is a project', () => {
	writeFileSync(join(folder, 'a/.git'), 'gitdir: elsewhere\n');
	expect(findProject(join(folder, 'a/b'))).toBe(join(folder, 'a'));
});

test('.ai-sdd as a file makes no project', () => {
	mkdirSync(join(folder, '.git'));
	writeFileSync(join(folder, 'a/.ai-sdd'), '');
	expect(findProject(join(folder, 'a'))).toBe(folder);
});

test('without either, the folder itself is the project', () => {
	expect(findProject(join(folder, 'a'))).toBe(join(folder, 'a'));
});
