import { expect, it } from 'vitest';
import { parseConstitution } from '../../constitution/parse.ts';
import { formatDiagnostic } from '../../engine/diagnostic.ts';

function sectionsOf(text: string) {
	const parsed = parseConstitution('constitution.md', text);
	if (!parsed.ok) throw new Error(parsed.diagnostic.message);
	return Object.fromEntries(parsed.constitution.sections.map((section) => [section.heading, section.text]));
}

function itemsOf(text: string) {
	const parsed = parseConstitution('constitution.md', `## Rules\n${text}`);
	if (!parsed.ok) throw new Error(parsed.diagnostic.message);
	return parsed.constitution.sections[0]?.items.map((item) =>
		item.group === '' ? item.text : [item.group, item.text],
	);
}

function problemOf(text: string): string {
	const parsed = parseConstitution('constitution.md', text);
	return parsed.ok ? 'none' : formatDiagnostic(parsed.diagnostic, { color: false });
}

it('a section is what stands between two headings; title and introduction belong to none', () => {
	expect(sectionsOf('# Title\n\nHello.\n\n## Rules\n\n- a\n\n## Standards ##\n- b\n')).toEqual({
		Rules: '- a',
		Standards: '- b',
	});
});

it('a byte order mark and Windows line ends do no harm', () => {
	expect(sectionsOf('\ufeff## Rules\r\n- a\r\n- b\r\n')).toEqual({ Rules: '- a\n- b' });
});

it('a heading inside a fenced block of code is not a heading', () => {
	const text = '## Rules\n```md\n## Standards\n```\n~~~\n## More\n```\n~~~\n- ```sh\n  ## x\n  ```\nend\n';
	expect(Object.keys(sectionsOf(text))).toEqual(['Rules']);
});

it('a fence is closed only by one at least as long, of the same kind', () => {
	expect(Object.keys(sectionsOf('## Rules\n````\n```\n## A\n````\n## B\nb'))).toEqual(['Rules', 'B']);
});

it('deeper headings, indented code and bare hashes are text', () => {
	expect(Object.keys(sectionsOf('## Rules\n### Sub\n    ## code\n##\n##none\n# Title\n'))).toEqual(['Rules']);
});

it('comments are left out, so that what is commented out does not apply', () => {
	expect(sectionsOf('## Rules\n- a\n<!-- - b -->\n<!--\n## Standards\n- c\n-->\n- d\n')).toEqual({ Rules: '- a\n- d' });
});

it('bullets keep what is indented below them, paragraphs end at a blank line', () => {
	expect(
		itemsOf('Intro\ngoes on.\n\nSecond.\n- one\n  more\n  - nested\n\n  paragraph of one\n\n- two\n\nAfter.'),
	).toEqual(['Intro\ngoes on.', 'Second.', '- one\n  more\n  - nested\n\n  paragraph of one', '- two', 'After.']);
});

it('a list that is indented as a whole is still a list', () => {
	expect(itemsOf('  * one\n    * nested\n  * two\n  1. three')).toEqual([
		'  * one\n    * nested',
		'  * two',
		'  1. three',
	]);
});

it('a block of code stays in one piece with the blank lines in it', () => {
	expect(itemsOf('```\n- a\n\n- b\n### c\n```\n\nend')).toEqual(['```\n- a\n\n- b\n### c\n```', 'end']);
});

it('items know the sub-heading they stand under', () => {
	expect(itemsOf('- a\n### Code\n#### Tests\n- b\n#### Names\n- c\n### Docs\n### Other\n- d')).toEqual([
		'- a',
		['### Code\n\n#### Tests', '- b'],
		['#### Names', '- c'],
		['### Other', '- d'],
	]);
});

it('an empty file is malformed', () => {
	expect(problemOf(' \n\t\n')).toBe(
		'constitution.md error: the constitution is empty [CONSTITUTION_MALFORMED]\n' +
			'  remedy: write a `## Standards` section, or remove the file',
	);
});

it('a file without sections is malformed', () => {
	expect(problemOf('# Title\nBe good.\n')).toBe(
		'constitution.md error: the constitution has no section [CONSTITUTION_MALFORMED]\n' +
			'  remedy: put its text under headings such as `## Rules` and `## Standards`',
	);
});

it('a block of code that is never closed is malformed, and shown', () => {
	expect(problemOf('## Rules\n- a\n  ```ts\n## Standards\n- b\n')).toBe(
		[
			'constitution.md:3:3 error: this block of code is never closed, so the sections after it would be lost [CONSTITUTION_MALFORMED]',
			'  3 |   ```ts',
			'    |   ^^^^^',
			'  remedy: close it with `\\`\\`\\``'.replaceAll('\\`', '`'),
		].join('\n'),
	);
});

it('a comment that is never closed is malformed', () => {
	expect(problemOf('## Rules\n<!-- a\n- b\n')).toContain(
		'constitution.md:2:1 error: this comment is never closed, so the sections after it would be lost [CONSTITUTION_MALFORMED]',
	);
});
