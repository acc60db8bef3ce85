import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { changesIn, concerns, listWatched } from '../../engine/run/watched.ts';

let project = '';
beforeEach(() => {
	project = mkdtempSync(join(tmpdir(), 'sdd-'));
	write('infra/prod/main.tf', 'prod');
	write('infra/.gitignore', '*');
	write('package.json', '{}');
	write('src/a.ts', 'a');
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

function write(path: string, text: string): void {
	mkdirSync(dirname(join(project, path)), { recursive: true });
	writeFileSync(join(project, path), text);
}

function touchedBy(change: () => void, places = ['infra', 'package.json']): readonly string[] {
	const before = listWatched(project, places);
	change();
	return changesIn(before, listWatched(project, places)).map(({ path }) => path);
}

test.each<[string, readonly string[], () => void]>([
	['a file written anew', ['infra/prod/main.tf'], () => write('infra/prod/main.tf', 'open')],
	['a file added, though git is told to ignore it', ['infra/new.txt'], () => write('infra/new.txt', '')],
	['a file in a repository inside', ['infra/sub/.git/HEAD'], () => write('infra/sub/.git/HEAD', 'x')],
	['a file below node_modules', ['infra/node_modules/x.js'], () => write('infra/node_modules/x.js', 'x')],
	['a file removed', ['package.json'], () => rmSync(join(project, 'package.json'))],
	[
		'a folder removed',
		['infra/.gitignore', 'infra/prod/main.tf'],
		() => rmSync(join(project, 'infra'), { recursive: true }),
	],
	['a file made executable', ['package.json'], () => chmodSync(join(project, 'package.json'), 0o755)],
	[
		'a file renamed',
		['infra/prod/main.tf', 'infra/prod/other.tf'],
		() => renameSync(join(project, 'infra/prod/main.tf'), join(project, 'infra/prod/other.tf')),
	],
	[
		'a file replaced by a link to the same content',
		['package.json'],
		() => {
			renameSync(join(project, 'package.json'), join(project, 'src/package.json'));
			symlinkSync('src/package.json', join(project, 'package.json'));
		},
	],
	[
		'a file that only looks untouched by its time',
		['package.json'],
		() => {
			write('package.json', '[]');
			utimesSync(join(project, 'package.json'), 0, 0);
		},
	],
	[
		'a folder replaced by a link to what it was',
		['infra'],
		() => {
			renameSync(join(project, 'infra'), join(project, 'infra2'));
			symlinkSync('infra2', join(project, 'infra'));
		},
	],
	['a file elsewhere', [], () => write('src/a.ts', 'b')],
	['a file with a name that only begins alike', [], () => write('infra-prod.txt', 'b')],
	['nothing', [], () => {}],
	['a new time', [], () => utimesSync(join(project, 'package.json'), 0, 0)],
])('%s: %j', (_what, paths, change) => {
	expect(touchedBy(change)).toEqual(paths);
});

test('a place that is a link to a folder means what lies there', () => {
	symlinkSync('src', join(project, 'link'));
	expect(touchedBy(() => write('src/a.ts', 'b'), ['link'])).toEqual(['link/a.ts']);
});

test('names need be no text, and two of them never become one', () => {
	const odd = (byte: number) => Buffer.concat([Buffer.from(join(project, 'infra/')), Buffer.from([byte])]);
	writeFileSync(odd(0xfe), 'x');
	expect(touchedBy(() => writeFileSync(odd(0xff), ''))).toEqual(['infra/\0ff']);
	expect(touchedBy(() => writeFileSync(odd(0xfe), 'y'))).toEqual(['infra/\0fe']);
});

test('names may hold anything', () => {
	expect(touchedBy(() => write('infra/a\n"b" ü', 'x'))).toEqual(['infra/a\n"b" ü']);
});

test('what sdd itself writes is never touched by anybody', () => {
	const change = (): void => {
		write('.ai-sdd/state/runs/x', 'x');
		write('.ai-sdd/overlays/gate.py', 'pass');
	};
	expect(touchedBy(change, ['.ai-sdd'])).toEqual(['.ai-sdd/overlays/gate.py']);
});

test('what cannot be read counts as touched: nobody can say that it was not', () => {
	const listing = '["infra/a","unreadable EACCES"]\n';
	expect(changesIn(listing, listing)).toEqual([
		{ path: 'infra/a', was: 'unreadable EACCES', now: 'unreadable EACCES' },
	]);
});

test.each([
	['infra/x', ['infra'], true],
	['infra', ['./infra/'], true],
	['infrared', ['infra'], false],
	['a/infra', ['infra'], false],
	['infra', ['infra/prod'], true],
	['infra', ['infrared'], false],
])('%s concerns whoever watches %j: %s', (path, places, is) => {
	expect(concerns(path, places)).toBe(is);
});
