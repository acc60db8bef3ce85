/** What is wrong with a file the user wrote: where, what, and what to do about it. */
import type { ErrorCode } from './errors.ts';

/** One thing to tell about a file. */
export interface Diagnostic {
	readonly code: ErrorCode;
	readonly severity: 'error' | 'warning';
	readonly message: string;
	/** As the user would name it: relative to where they stand. */
	readonly file: string;
	/** Counted from 1; 0 when the file as a whole is meant. */
	readonly line: number;
	readonly column: number;
	/** How many characters to underline. */
	readonly length?: number;
	/** The source line. */
	readonly snippet?: string;
	readonly remedy: string;
}

const WINDOW = 110;

/** Prints a diagnostic for a terminal: place, message and code, the line with a caret, the remedy. */
export function formatDiagnostic(diagnostic: Diagnostic, options: { readonly color: boolean }): string {
	const paint = options.color ? inColor : plainly;
	const place = diagnostic.line > 0 ? `:${diagnostic.line}:${diagnostic.column}` : '';
	const word = paint(diagnostic.severity, diagnostic.severity === 'error' ? 31 : 33);
	const [message = '', ...below] = diagnostic.message.split('\n').map(escaped);
	const head = `${escaped(diagnostic.file)}${place} ${word}: ${message} [${diagnostic.code}]`;
	// Such as the end of a traceback: indented, so that it can be taken for nothing else.
	const more = below.map((line) => `      ${line}`);
	return [head, ...more, ...snippetLines(diagnostic, paint), `  remedy: ${escaped(diagnostic.remedy)}`].join('\n');
}

/** Text that cannot move the cursor, change colours or reorder what is shown: such characters are written as escapes. */
export function escaped(text: string): string {
	return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, escapeOf);
}

/** Quotes a piece of somebody's text for a message, shortened to one printable line. */
export function quote(text: string, max = 80): string {
	const short = text.length > max ? `${text.slice(0, max)}…` : text;
	return `"${escaped(short)}"`;
}

type Paint = (text: string, color: number) => string;

const plainly: Paint = (text) => text;
const inColor: Paint = (text, color) => `\u001b[${color}m${text}\u001b[0m`;

const NAMED: { readonly [character: string]: string } = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escapeOf(character: string): string {
	return NAMED[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function snippetLines(diagnostic: Diagnostic, paint: Paint): readonly string[] {
	if (diagnostic.snippet === undefined || diagnostic.line === 0) return [];
	const shown = windowAround(diagnostic.snippet, diagnostic.column - 1);
	// Escapes are wider than what they stand for, so the caret follows the printed text before it.
	const before = asShown(shown.text.slice(0, shown.column));
	const marked = asShown(shown.text.slice(shown.column, shown.column + Math.max(1, diagnostic.length ?? 1)));
	const gutter = String(diagnostic.line);
	const carets = paint('^'.repeat(Math.max(1, marked.length)), diagnostic.severity === 'error' ? 31 : 33);
	return [
		`  ${gutter} | ${asShown(shown.text)}`.trimEnd(),
		`  ${' '.repeat(gutter.length)} | ${' '.repeat(before.length)}${carets}`,
	];
}

function asShown(text: string): string {
	return escaped(text.replaceAll('\t', ' '));
}

/** Cuts a very long line down to the part around the column. */
function windowAround(line: string, column: number): { readonly text: string; readonly column: number } {
	if (line.length <= WINDOW) return { text: line, column };
	const start = Math.max(0, Math.min(column - 40, line.length - WINDOW));
	const end = Math.min(line.length, start + WINDOW);
	const head = start > 0 ? '…' : '';
	const tail = end < line.length ? '…' : '';
	return { text: head + line.slice(start, end) + tail, column: column - start + head.length };
}
