/** Reads the project's Markdown: which files there are, their code blocks, their tables. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's root. */
export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url));

/** A fenced block of code. */
export interface Block {
	readonly language: string;
	/** From `file=…` in the block's first line: where a reader is meant to put it. */
	readonly file: string | null;
	/** An example of what is refused. */
	readonly isWrong: boolean;
	readonly text: string;
	/** `docs/x.md:12`, for messages. */
	readonly place: string;
}

/** Every Markdown file of the project, relative to its root. */
export function markdownFiles(): readonly string[] {
	return filesBelow('.').filter((file) => file.endsWith('.md'));
}

/** The guides for users that exist: the README and what lies directly in docs/. */
export function guides(): readonly string[] {
	return markdownFiles().filter((file) => file === 'README.md' || /^docs\/[^/]+\.md$/.test(file));
}

/** TypeScript files of the program itself. */
export function sourceFiles(): readonly string[] {
	return ['engine', 'agents', 'overlays', 'constitution', 'cli']
		.flatMap((folder) => filesBelow(folder))
		.filter((file) => file.endsWith('.ts'));
}

/** A file's text. */
export function read(file: string): string {
	return readFileSync(join(ROOT, file), 'utf8');
}

/** The code blocks of a Markdown file. */
export function blocksOf(file: string): readonly Block[] {
	const text = read(file);
	return [...text.matchAll(/^```(\S*)([^\n]*)\n([\s\S]*?)^```$/gm)].map(
		([, language = '', info = '', code = ''], i) => ({
			language,
			file: /\bfile=(\S+)/.exec(info)?.[1] ?? null,
			isWrong: /\bwrong\b/.test(info),
			text: code,
			place: `${file}, block ${i + 1}`,
		}),
	);
}

/** The rows of the table right below a line: the cells of each, without the heading. */
export function tableBelow(text: string, line: string): readonly (readonly string[])[] {
	const at = text.split('\n').indexOf(line);
	if (at < 0) throw new Error(`there is no line ${JSON.stringify(line)}`);
	const lines = text.split('\n').slice(at + 1);
	const end = lines.findIndex((one) => !one.startsWith('|'));
	return lines.slice(2, end < 0 ? undefined : end).map(cellsOf);
}

/** The cells of one row. */
export function cellsOf(row: string): readonly string[] {
	return row
		.split(/(?<!\\)\|/)
		.slice(1, -1)
		.map((cell) => cell.trim());
}

/** What stands between backticks in a cell. */
export function codesIn(cell: string): readonly string[] {
	return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

const SKIPPED = new Set(['node_modules', 'dist', 'generated', '.git', '.quickstart', 'state', 'cases']);

function filesBelow(folder: string): readonly string[] {
	return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
		const path = folder === '.' ? entry.name : `${folder}/${entry.name}`;
		if (!entry.isDirectory()) return [path];
		return SKIPPED.has(entry.name) ? [] : filesBelow(path);
	});
}
