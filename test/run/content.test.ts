import { expect, test } from 'vitest';
import { changes, contentDigest } from '../../engine/run/content.ts';
import { sha256 } from '../../engine/store/hash.ts';
import { digest } from '../builders.ts';

test('the content of a task without outputs is the sha256 of nothing', () => {
	expect(contentDigest([])).toBe(sha256(''));
});

test('the digest changes with a file’s content, its name and the set of files', () => {
	const all = [[digest('a', '1')], [digest('a', '2')], [digest('b', '1')], [digest('a', '1'), digest('b', '1')]].map(
		contentDigest,
	);
	expect(new Set(all).size).toBe(all.length);
	expect(contentDigest([digest('a', '1')])).toBe(all[0]);
});

test('equal content has no changes', () => {
	expect(changes([digest('a', '1')], [digest('a', '1')])).toEqual([]);
});

test('changed, removed and added files are told apart', () => {
	const [one, two] = [sha256('1'), sha256('2')];
	const was = [digest('changed', '1'), digest('gone', '1'), digest('same', '1')];
	const now = [digest('changed', '2'), digest('same', '1'), digest('new', '2')];
	expect(changes(was, now)).toEqual([
		{ path: 'changed', was: one, now: two },
		{ path: 'gone', was: one, now: null },
		{ path: 'new', was: '', now: two },
	]);
});
