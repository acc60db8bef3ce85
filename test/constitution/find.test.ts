import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BUILT_IN, configHome, constitutionFinder, constitutionFor } from '../../constitution/find.ts';
import { formatDiagnostic } from '../../engine/diagnostic.ts';

let root = '';
let project = '';

beforeEach(() => {
	root = mkdtempSync(join(tmpdir(), 'sdd-'));
	project = join(root, 'project');
	mkdirSync(project);
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, text: string | Buffer): void {
	mkdirSync(dirname(join(project, path)), { recursive: true });
	writeFileSync(join(project, path), text);
}

function standards(paths: readonly string[], home: string | null = null) {
	const found = constitutionFor({ project, paths, home });
	if (!found.ok) throw new Error(found.diagnostics.map((one) => one.message).join());
	return {
		own: found.sections['Standards']?.split('\n').filter((line) => /^- \w+$/.test(line)),
		from: found.sources['Standards'],
	};
}

function problems(paths: readonly string[] = []): readonly string[] {
	const found = constitutionFor({ project, paths, home: null });
	return found.ok ? [] : found.diagnostics.map((one) => formatDiagnostic(one, { color: false }));
}

it('without any file the built-in defaults hold, in the four sections', () => {
	const found = constitutionFor({ project, paths: [], home: null });
	expect(found.ok && Object.keys(found.sections)).toEqual(['Purpose', 'Background', 'Rules', 'Standards']);
	expect(found.ok && found.sources['Rules']).toEqual([BUILT_IN]);
	expect(found.ok && found.sections['Standards']).toContain('**Acceptance criteria**');
});

it("the layers are: built-in, the user's, the project's, and each directory down to the task's paths", () => {
	const home = join(root, 'config');
	mkdirSync(home);
	writeFileSync(join(home, 'constitution.md'), '## Standards\n- user\n');
	put('constitution.md', '## Standards\n- project\n');
	put('src/constitution.md', '## Standards\n- src\n');
	put('src/auth/constitution.md', '## Standards\n- auth\n');
	put('docs/constitution.md', '## Standards\n- docs\n');
	expect(standards(['src/auth/login.ts'], home)).toEqual({
		own: ['- user', '- project', '- src', '- auth'],
		from: [
			BUILT_IN,
			join(home, 'constitution.md'),
			'constitution.md',
			'src/constitution.md',
			'src/auth/constitution.md',
		],
	});
});

it('with paths in several directories the deeper ones come last', () => {
	put('b/constitution.md', '## Standards\n- b\n');
	put('a/x/constitution.md', '## Standards\n- ax\n');
	put('a/constitution.md', '## Standards\n- a\n');
	expect(standards(['a/x/1.ts', './b//2.ts', 'a/3.ts']).own).toEqual(['- a', '- b', '- ax']);
});

it('a path that is a directory brings its own constitution', () => {
	put('docs/constitution.md', '## Standards\n- docs\n');
	expect(standards(['docs']).own).toEqual(['- docs']);
	expect(standards(['docs/']).own).toEqual(['- docs']);
});

it('paths that do not exist, run through a file or leave the project bring nothing', () => {
	put('file.txt', 'x');
	writeFileSync(join(root, 'constitution.md'), '## Standards\n- outside\n');
	const odd = [
		'no/such/file.ts',
		'file.txt/below/it.ts',
		'../x.ts',
		'..',
		'/etc/passwd',
		`${'n'.repeat(300)}/x`,
		'.',
		'',
	];
	expect(standards(odd).own).toEqual([]);
});

it('tasks for which the same files hold share one result', () => {
	put('src/constitution.md', '## Standards\n- src\n');
	const find = constitutionFinder({ project, home: null });
	const first = find(['src/a.ts']);
	expect(find(['src/deep/b.ts', 'other/c.ts'])).toBe(first);
	expect(find(['out/1.txt'])).toBe(find(['out/2.txt']));
	expect(find(['out/1.txt'])).not.toBe(first);
});

it('a malformed file in the root or below is an error, and all of them are told', () => {
	put('constitution.md', 'no section');
	put('src/constitution.md', '');
	expect(problems(['src/a.ts']).map((text) => text.split('\n')[0])).toEqual([
		'constitution.md error: the constitution has no section [CONSTITUTION_MALFORMED]',
		'src/constitution.md error: the constitution is empty [CONSTITUTION_MALFORMED]',
	]);
});

it('the same wrong file gives the same diagnostic each time', () => {
	put('constitution.md', 'no section');
	put('src/constitution.md', '## Rules\n- a');
	const find = constitutionFinder({ project, home: null });
	const [a, b] = [find([]), find(['src/a.ts'])];
	expect(!a.ok && !b.ok && a.diagnostics[0] === b.diagnostics[0]).toBe(true);
});

it.each([
	['bytes that are not UTF-8', Buffer.from([0x23, 0x23, 0x20, 0xff, 0xfe])],
	['a NUL', '## Rules\n\0'],
])('%s: not text', (_, content) => {
	put('constitution.md', content);
	expect(problems()).toEqual([
		'constitution.md error: the constitution is not UTF-8 text [CONSTITUTION_MALFORMED]\n  remedy: save it as UTF-8 text',
	]);
});

it('a file that is far too large is refused before it is read', () => {
	put('constitution.md', `## Rules\n${'x'.repeat(300_000)}`);
	expect(problems()).toEqual([
		'constitution.md error: the constitution is too large: 293 KB, the limit is 256 KB [CONSTITUTION_MALFORMED]\n' +
			'  remedy: keep what agents must know, and link to the rest',
	]);
});

it('a folder of that name is not a constitution', () => {
	mkdirSync(join(project, 'constitution.md'));
	expect(problems()).toEqual([
		'constitution.md error: this is not a file [CONSTITUTION_MALFORMED]\n  remedy: make it a text file, or remove it',
	]);
});

it('a link may stay in the project, but not lead out of it', () => {
	put('shared.md', '## Standards\n- shared\n');
	symlinkSync('shared.md', join(project, 'constitution.md'));
	expect(standards([]).own).toEqual(['- shared']);
	writeFileSync(join(root, 'outside.md'), '## Standards\n- outside\n');
	put('src/x.ts', '');
	symlinkSync('../../outside.md', join(project, 'src/constitution.md'));
	expect(problems(['src/x.ts'])).toEqual([
		'src/constitution.md error: the constitution leads out of the project through a symbolic link [PATH_OUTSIDE_PROJECT]\n' +
			'  remedy: put a copy of the file here, or remove the link',
	]);
});

it('a directory that is a link out of the project cannot bring a constitution in', () => {
	mkdirSync(join(root, 'elsewhere'));
	writeFileSync(join(root, 'elsewhere/constitution.md'), '## Standards\n- outside\n');
	symlinkSync(join(root, 'elsewhere'), join(project, 'lib'));
	expect(problems(['lib/x.ts'])[0]).toContain('lib/constitution.md error: the constitution leads out of the project');
});

it('a link to nothing is an error, not an absent file', () => {
	symlinkSync('gone.md', join(project, 'constitution.md'));
	expect(problems()).toEqual([
		'constitution.md error: the constitution is a symbolic link to nothing [CONSTITUTION_MALFORMED]\n  remedy: remove the link',
	]);
});

it.skipIf(process.getuid?.() === 0)('a file that may not be read is an error', () => {
	put('constitution.md', '## Rules\n- a');
	chmodSync(join(project, 'constitution.md'), 0);
	expect(problems()[0]).toContain('the constitution cannot be read (EACCES) [CONSTITUTION_MALFORMED]');
});

it('diagnostics name files as the caller wants', () => {
	put('constitution.md', '');
	const found = constitutionFor({ project, paths: [], home: null, nameOf: (path) => path.replace(root, '..') });
	expect(!found.ok && found.diagnostics[0]?.file).toBe('../project/constitution.md');
});

it("the user's own settings lie in XDG_CONFIG_HOME, or in ~/.config", () => {
	expect(configHome({ XDG_CONFIG_HOME: '/x' }, '/home/u')).toBe('/x/sdd');
	expect(configHome({}, '/home/u')).toBe('/home/u/.config/sdd');
	expect(configHome({ XDG_CONFIG_HOME: 'relative' }, '/home/u')).toBe('/home/u/.config/sdd');
});
