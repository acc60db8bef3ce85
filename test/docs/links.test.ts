import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { markdownFiles, ROOT, read } from './read-docs.ts';

it.each(markdownFiles())('every relative link in %s leads to a file, and to a heading there', (file) => {
	const broken = linksIn(read(file)).filter((link) => !leadsSomewhere(file, link));
	expect(broken).toEqual([]);
});

function linksIn(text: string): readonly string[] {
	const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '');
	return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^[a-z]+:/.test(link));
}

function leadsSomewhere(file: string, link: string): boolean {
	const [path = '', heading] = link.split('#');
	const target = path === '' ? file : join(dirname(file), path);
	if (!existsSync(join(ROOT, target))) return false;
	return heading === undefined || !target.endsWith('.md') || headingsOf(read(target)).includes(heading);
}

/** Headings as they are addressed: in lower case, without punctuation, hyphens for spaces. */
function headingsOf(text: string): readonly string[] {
	const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '');
	return [...prose.matchAll(/^#{1,6} (.+)$/gm)].map(([, title = '']) =>
		title
			.toLowerCase()
			.replaceAll(/[^\p{L}\p{N} _-]/gu, '')
			.replaceAll(' ', '-'),
	);
}
