/** Reads one constitution: sections under `## Heading`, each a list of items. */
import type { Diagnostic } from '../engine/diagnostic.ts';

/** One bullet or paragraph of a section. */
export interface Item {
	/** The `###` heading it stands under; empty when it stands under none. */
	readonly group: string;
	readonly bullet: boolean;
	readonly text: string;
}

/** One section of one file. */
export interface Section {
	readonly heading: string;
	readonly text: string;
	readonly items: readonly Item[];
}

/** A well-formed constitution and the name its sections are attributed to. */
export interface Constitution {
	readonly source: string;
	readonly sections: readonly Section[];
}

export type ParsedConstitution =
	| { readonly ok: true; readonly constitution: Constitution }
	| { readonly ok: false; readonly diagnostic: Diagnostic };

/** Parses a file's text; `source` is how the user names the file. */
export function parseConstitution(source: string, text: string): ParsedConstitution {
	if (text.trim() === '')
		return malformed(source, 'the constitution is empty', 'write a `## Standards` section, or remove the file');
	const lines = text
		.replace(/^\ufeff/, '')
		.replaceAll(/\r\n?/g, '\n')
		.split('\n');
	const scanned = scan(lines);
	if (scanned.open !== null) return unclosed(source, lines, scanned.open);
	const sections = splitSections(scanned.lines);
	if (sections.length > 0) return { ok: true, constitution: { source, sections } };
	return malformed(
		source,
		'the constitution has no section',
		'put its text under headings such as `## Rules` and `## Standards`',
	);
}

/** A diagnostic about a constitution as a whole. */
export function malformed(
	file: string,
	message: string,
	remedy: string,
): { readonly ok: false; readonly diagnostic: Diagnostic } {
	const code = 'CONSTITUTION_MALFORMED';
	return { ok: false, diagnostic: { code, severity: 'error', message, file, line: 0, column: 0, remedy } };
}

interface Line {
	readonly text: string;
	/** Inside a fenced block of code nothing is a heading or a bullet. */
	readonly code: boolean;
}

interface Open {
	readonly kind: 'fence' | 'comment';
	readonly line: number;
	readonly mark: string;
}

/** Marks the lines of code blocks, leaves out comments, and tells what was never closed. */
function scan(lines: readonly string[]): { readonly lines: readonly Line[]; readonly open: Open | null } {
	const scanned: Line[] = [];
	let open: Open | null = null;
	for (const [index, text] of lines.entries()) {
		if (open === null) open = opening(text, index + 1);
		else if (closes(text, open)) {
			if (open.kind === 'fence') scanned.push({ text, code: true });
			open = null;
			continue;
		}
		if (open?.kind !== 'comment') scanned.push({ text, code: open !== null });
		else if (open.line === index + 1 && text.includes('-->')) open = null;
	}
	return { lines: scanned, open };
}

function opening(text: string, line: number): Open | null {
	if (/^ {0,3}<!--/.test(text)) return { kind: 'comment', line, mark: '-->' };
	const mark = /^\s*(?:(?:[-*+]|\d+[.)])\s+)?(`{3,}(?=[^`]*$)|~{3,})/.exec(text)?.[1];
	return mark === undefined ? null : { kind: 'fence', line, mark };
}

function closes(text: string, open: Open): boolean {
	const bare = text.trim();
	if (open.kind === 'comment') return bare.includes(open.mark);
	return bare.length >= open.mark.length && bare === open.mark.charAt(0).repeat(bare.length);
}

function unclosed(source: string, lines: readonly string[], open: Open): ParsedConstitution {
	const snippet = lines[open.line - 1] ?? '';
	const column = snippet.search(/\S/) + 1;
	const [what, end] = open.kind === 'fence' ? ['block of code', open.mark] : ['comment', '-->'];
	const message = `this ${what} is never closed, so the sections after it would be lost`;
	const { diagnostic } = malformed(source, message, `close it with \`${end}\``);
	return { ok: false, diagnostic: { ...diagnostic, line: open.line, column, length: snippet.trim().length, snippet } };
}

/** What stands before the first `##` is a title and an introduction: it belongs to no section. */
function splitSections(lines: readonly Line[]): readonly Section[] {
	const sections: Section[] = [];
	let body: Line[] = [];
	let heading: string | null = null;
	const finish = () => {
		if (heading !== null) sections.push({ heading, text: textOf(body), items: splitItems(body) });
	};
	for (const line of lines) {
		const next = line.code ? '' : headingOf(line.text);
		if (next === '') {
			body.push(line);
			continue;
		}
		finish();
		heading = next;
		body = [];
	}
	finish();
	return sections;
}

/** The words of a `## Heading`, without the hashes that may close it; empty when the line is none. */
function headingOf(text: string): string {
	const words = /^ {0,3}##[ \t]+(\S.*)$/.exec(text)?.[1] ?? '';
	return words
		.trimEnd()
		.replace(/(?:^|[ \t])#+$/, '')
		.trimEnd();
}

function textOf(lines: readonly Line[]): string {
	const text = lines.map((line) => line.text.trimEnd()).join('\n');
	return text.replace(/^(?:[ \t]*\n)+/, '').trimEnd();
}

interface Growing {
	readonly bullet: boolean;
	readonly indent: number;
	readonly lines: string[];
	/** A blank line was seen: only an indented line still belongs to a bullet. */
	blank: boolean;
}

function splitItems(lines: readonly Line[]): readonly Item[] {
	const items: Item[] = [];
	let group = '';
	let now: Growing | null = null;
	const finish = () => {
		if (now !== null) items.push({ group, bullet: now.bullet, text: now.lines.join('\n').trimEnd() });
		now = null;
	};
	for (const line of lines) {
		const subheading = line.code ? null : /^ {0,3}#{3,6}[ \t]+\S/.exec(line.text);
		if (subheading !== null) {
			finish();
			group = groupAfter(group, line.text.trim(), items.at(-1)?.group === group);
		} else if (belongs(line, now)) grow(now, line);
		else {
			finish();
			now = begin(line);
		}
	}
	finish();
	return items;
}

/** A heading that is followed only by a deeper one stays with it: `### Code`, then `#### Tests`. */
function groupAfter(group: string, heading: string, used: boolean): string {
	const level = (text: string) => text.slice(text.lastIndexOf('\n') + 1).indexOf(' ');
	return group === '' || used || level(heading) <= level(group) ? heading : `${group}\n\n${heading}`;
}

function belongs(line: Line, now: Growing | null): now is Growing {
	if (now === null) return false;
	if (line.text.trim() === '') return true;
	const indent = indentOf(line.text);
	if (!line.code && isBullet(line.text) && (!now.bullet || indent <= now.indent + 1)) return false;
	return now.blank && !(line.code && !now.bullet) ? now.bullet && indent > now.indent : true;
}

function grow(now: Growing, line: Line): void {
	now.blank = line.text.trim() === '';
	now.lines.push(line.text.trimEnd());
}

function begin(line: Line): Growing | null {
	if (line.text.trim() === '') return null;
	const bullet = isBullet(line.text);
	return { bullet, indent: indentOf(line.text), lines: [line.text.trimEnd()], blank: false };
}

function isBullet(text: string): boolean {
	return /^\s*(?:[-*+]|\d+[.)])\s+\S/.test(text);
}

function indentOf(text: string): number {
	return text.search(/\S/);
}
