import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { filesInDiff, isAtOrBelow } from '../../overlays/policy-gate/changed-files.ts';

const repo = mkdtempSync(join(tmpdir(), 'sdd-'));
afterAll(() => rmSync(repo, { recursive: true, force: true }));

function git(...args: readonly string[]): string {
	return execFileSync('git', ['-c', 'core.quotePath=false', '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
		cwd: repo,
		encoding: 'utf8',
	});
}

it('every file that git says changed is found: new, gone, renamed, binary, empty, of another mode, with an odd name', () => {
	git('init', '-q');
	for (const name of ['changed', 'gone', 'old name', 'mode', 'binary'])
		writeFileSync(join(repo, name), `${name}\n`.repeat(20));
	git('add', '.');
	git('commit', '-qm', 'first');
	mkdirSync(join(repo, 'a b'));
	writeFileSync(join(repo, 'changed'), '-- a/not-a-file\n++ b/not-a-file\ndiff --git a/no b/no\n');
	git('mv', 'old name', 'new name');
	git('rm', '-q', 'gone');
	chmodSync(join(repo, 'mode'), 0o755);
	writeFileSync(join(repo, 'binary'), Buffer.from([0, 1, 2, 0]));
	for (const name of ['a b/empty', 'tab\there', 'quo"te', 'grün'])
		writeFileSync(join(repo, name), name === 'a b/empty' ? '' : 'x');
	git('add', '-A');
	const diff = git('diff', '--cached', '--no-color');
	expect([...filesInDiff(diff)].sort()).toEqual(
		['a b/empty', 'binary', 'changed', 'gone', 'grün', 'mode', 'new name', 'old name', 'quo"te', 'tab\there'].sort(),
	);
});

it('content is never taken for a header', () => {
	const diff = ['--- a/x', '+++ b/x', '@@ -1,2 +1,2 @@', '--- a/secret', '+++ b/secret', ' same', ''].join('\n');
	expect(filesInDiff(diff)).toEqual(['x']);
});

it.each(['', '(no changes detected)', '(no diff: the project is not in a git repository)', '@@ -1,9 +1,9 @@\n+torn'])(
	'%j names no file',
	(diff) => {
		expect(filesInDiff(diff)).toEqual([]);
	},
);

it.each([
	['infra/prod', ['infra/prod'], true],
	['infra/prod/main.tf', ['./infra/prod/'], true],
	['infra/production', ['infra/prod'], false],
	['src/infra/prod', ['infra/prod'], false],
	['anything', ['.'], true],
	['a', [], false],
])('%s is at or below %j: %s', (path, places, is) => {
	expect(isAtOrBelow(path, places)).toBe(is);
});
