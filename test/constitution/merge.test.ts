import { expect, it } from 'vitest';
import { mergeConstitutions } from '../../constitution/merge.ts';
import { parseConstitution } from '../../constitution/parse.ts';

/** Merges texts given from far to near; their sources are called 1, 2, 3 … */
function merge(...texts: readonly string[]) {
	return mergeConstitutions(
		texts.map((text, index) => {
			const parsed = parseConstitution(String(index + 1), text);
			if (!parsed.ok) throw new Error(parsed.diagnostic.message);
			return parsed.constitution;
		}),
	);
}

it.each(['Purpose', 'Background'])('a nearer %s replaces the farther one', (heading) => {
	expect(merge(`## ${heading}\n\nfar\n`, `## ${heading}\n\nnear\n\nmore\n`)).toEqual({
		sections: { [heading]: 'near\n\nmore' },
		sources: { [heading]: ['2'] },
	});
});

it.each(['Rules', 'Standards', 'Our own section'])('a nearer %s is appended to the farther one', (heading) => {
	expect(merge(`## ${heading}\n- a\n- b\n`, `## ${heading}\n\n- c\n`, `## ${heading}\n\nText.\n`)).toEqual({
		sections: { [heading]: '- a\n- b\n- c\n\nText.' },
		sources: { [heading]: ['1', '2', '3'] },
	});
});

it('the nearer of two bullets with the same bold key wins', () => {
	const merged = merge(
		'## Rules\n- **Tests**: all\n  of them\n- **Names**: long\n',
		'## Rules\n* __tests:__ only unit tests\n',
	);
	expect(merged.sections['Rules']).toBe('- **Names**: long\n* __tests:__ only unit tests');
});

it('the same words said again are said once, whatever their case, spacing and full stop', () => {
	const merged = merge('## Standards\n- No  dead code.\n- a\n', '## Standards\n1. no dead\n   code\n');
	expect(merged.sections['Standards']).toBe('- a\n1. no dead\n   code');
});

it('a file whose every item is restated is no source any more', () => {
	expect(merge('## Rules\n- **A**: x\n', '## Rules\n- **A**: y\n').sources).toEqual({ Rules: ['2'] });
});

it('two bullets with one key in the same file both stay', () => {
	expect(merge('## Rules\n- **A**: x\n- **A**: y\n').sections['Rules']).toBe('- **A**: x\n- **A**: y');
});

it('items stay under their sub-headings, and the same sub-heading appears once', () => {
	const merged = merge('## Rules\n- top\n### Code\n- a\n### Docs\n- b\n', '## Rules\n### code\n- c\n');
	expect(merged.sections['Rules']).toBe('- top\n\n### Code\n\n- a\n- c\n\n### Docs\n\n- b');
});

it('items under no sub-heading come first, so that they are not taken to stand under one', () => {
	expect(merge('## Rules\n### Code\n- a\n', '## Rules\n- b\n').sections['Rules']).toBe('- b\n\n### Code\n\n- a');
});

it('the same key under different sub-headings is not a restatement', () => {
	const merged = merge('## Rules\n### Python\n- **Tests**: pytest\n', '## Rules\n### Go\n- **Tests**: go test\n');
	expect(merged.sections['Rules']).toBe('### Python\n\n- **Tests**: pytest\n\n### Go\n\n- **Tests**: go test');
});

it('a key without a sub-heading restates it under any, and the emptied sub-heading goes', () => {
	const merged = merge('## Rules\n### Python\n- **Tests**: pytest\n', '## Rules\n- **Tests**: none\n');
	expect(merged.sections['Rules']).toBe('- **Tests**: none');
});

it('headings are the same section whatever their case; the farthest spelling names it', () => {
	expect(Object.keys(merge('## Standards\n- a\n', '## STANDARDS\n- b\n').sections)).toEqual(['Standards']);
});

it('a heading used twice in one file is one section', () => {
	expect(merge('## Purpose\nfirst\n## Rules\n- a\n## Purpose\nsecond\n').sections).toEqual({
		Purpose: 'first\n\nsecond',
		Rules: '- a',
	});
});

it('a heading with nothing under it states nothing', () => {
	expect(merge('## Purpose\nfar\n', '## Purpose\n\n## Rules\n- a\n').sections).toEqual({
		Purpose: 'far',
		Rules: '- a',
	});
});

it('a section that only one file states keeps its text untouched', () => {
	expect(merge('## Notes\n- a\n\n- b\n\n\nText\n').sections['Notes']).toBe('- a\n\n- b\n\n\nText');
});

it('a heading that names a prototype is an ordinary section', () => {
	const { sections } = merge('## __proto__\n- a\n');
	expect(Object.keys(sections)).toEqual(['__proto__']);
	expect(Object.getPrototypeOf(sections)).toBe(Object.prototype);
});

it('long runs of punctuation, spaces and hashes cost no more than other text', () => {
	const nasty = `## A ${' '.repeat(200_000)}#${'#'.repeat(200_000)}x\n- ${'.'.repeat(200_000)}x\n**${'*'.repeat(100_000)}x`;
	expect(Object.keys(merge(nasty, nasty).sections)).toHaveLength(1);
});

it('thousands of bullets are merged', () => {
	const many = (n: number) => `## Rules\n${Array.from({ length: 20_000 }, (_, i) => `- **k${n + i}**: x`).join('\n')}`;
	expect(merge(many(0), many(10_000)).sections['Rules']?.split('\n')).toHaveLength(30_000);
});
