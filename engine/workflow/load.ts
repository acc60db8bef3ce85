/** Reads a YAML file into a value: bounded in size, depth and aliases, and free of keys that reach prototypes. */
import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import { load as parseYaml, YAMLException } from 'js-yaml';
import { type Diagnostic, quote } from '../diagnostic.ts';
import { aboutFile, type Pointer, type Problem, type Source } from './source.ts';

/** A file that could be read, or why not. */
export type Loaded =
	| { readonly ok: true; readonly source: Source }
	| { readonly ok: false; readonly problem: Problem | Diagnostic };

/** Ten thousand tasks take one or two megabytes. */
export const MAX_BYTES = 8 * 1024 * 1024;
const MAX_ALIASES = 50;
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/** Loads the file at `path`; `file` is how the user names it. */
export function loadSource(path: string, file: string): Loaded {
	const read = readText(path, file);
	if (typeof read !== 'string') return { ok: false, problem: read };
	const text = read.charCodeAt(0) === 0xfeff ? read.slice(1) : read;
	const parsed = parse(text, file);
	if ('problem' in parsed) return { ok: false, problem: parsed.problem };
	const source: Source = { file, text, value: parsed.value };
	const unsafe = findUnsafe(source);
	return unsafe === undefined ? { ok: true, source } : { ok: false, problem: unsafe };
}

/** The text of a UTF-8 file that is not too large, unchanged. */
export function readText(path: string, file: string, maxBytes: number = MAX_BYTES): string | Diagnostic {
	try {
		const stat = statSync(path, { throwIfNoEntry: false });
		if (stat === undefined) return notFound(file);
		if (!stat.isFile()) return notAFile(file, stat.isDirectory());
		if (stat.size > maxBytes) return tooLarge(file, stat.size, maxBytes);
		return decode(readFileSync(path), file);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === undefined) throw error;
		return aboutFile('WORKFLOW_UNREADABLE', file, `cannot be read (${code})`, 'check its permissions');
	}
}

function notFound(file: string): Diagnostic {
	return aboutFile('WORKFLOW_NOT_FOUND', file, 'there is no such file', 'check the path, or write the file first');
}

function notAFile(file: string, folder: boolean): Diagnostic {
	const what = folder ? 'this is a folder, not a file' : 'this is not a regular file';
	return aboutFile('WORKFLOW_NOT_A_FILE', file, what, 'name a YAML file');
}

function tooLarge(file: string, bytes: number, maxBytes: number): Diagnostic {
	const [is, may] = [bytes, maxBytes].map((size) => `${(size / 1_048_576).toFixed(1)} MB`);
	const message = `the file is too large: ${is}, the limit is ${may}`;
	return aboutFile('WORKFLOW_TOO_LARGE', file, message, 'split it into smaller files');
}

function decode(bytes: Buffer, file: string): string | Diagnostic {
	if (bytes.includes(0) || !isUtf8(bytes)) {
		return aboutFile('WORKFLOW_BINARY', file, 'the file is not UTF-8 text', 'save it as UTF-8 text');
	}
	return bytes.toString('utf8');
}

function parse(text: string, file: string): { readonly value: unknown } | { readonly problem: Diagnostic } {
	const empty = () =>
		aboutFile('WORKFLOW_EMPTY', file, 'the file is empty', 'write something into it; docs/workflow.md shows what');
	try {
		if (text.trim() === '') return { problem: empty() };
		const value = parseYaml(text, { maxAliases: MAX_ALIASES });
		return value === null || value === undefined ? { problem: empty() } : { value };
	} catch (error) {
		if (!(error instanceof YAMLException)) throw error;
		if (error.reason.includes('input is empty')) return { problem: empty() };
		return { problem: yamlProblem(error, text, file) };
	}
}

function yamlProblem(error: YAMLException, text: string, file: string): Diagnostic {
	const { reason } = error;
	// Only of a second document the parser does not say where it is.
	const mark = error.mark ?? secondDocument(text);
	if (mark === null) return { ...whatYamlSaid(reason, ''), severity: 'error', file, line: 0, column: 0 };
	const snippet = text.split('\n', mark.line + 1)[mark.line]?.replace(/\r$/, '') ?? '';
	const said = whatYamlSaid(reason, snippet.slice(mark.column));
	return { ...said, severity: 'error', file, line: mark.line + 1, column: mark.column + 1, snippet };
}

/** Where a second document begins: at the start of a line `---` can be nothing else. */
function secondDocument(text: string): { readonly line: number; readonly column: number } | null {
	const lines = text.split('\n');
	const first = lines.findIndex((line) => !/^(?:\s*(?:#.*)?|%.*)$/.test(line));
	const line = lines.findIndex((one, index) => index > first && /^(?:---|\.\.\.)(?:\s|$)/.test(one));
	return line < 0 ? null : { line, column: 0 };
}

function whatYamlSaid(reason: string, there: string): Pick<Diagnostic, 'code' | 'message' | 'remedy' | 'length'> {
	if (reason.startsWith('duplicated mapping key')) {
		const key = /^[^:]*/.exec(there)![0].trim();
		const message = `the key ${quote(key.replace(/^(["'])(.*)\1$/, '$2'))} is there twice`;
		return { code: 'YAML_DUPLICATE_KEY', message, remedy: 'keep one of the two', length: key.length };
	}
	if (reason.startsWith('aliases exceeded')) {
		const message = `more than ${MAX_ALIASES} aliases (*name)`;
		return { code: 'YAML_ALIAS', message, remedy: 'write the values out, or put them into `defaults`' };
	}
	const length = reason.startsWith(TWO_DOCUMENTS) ? 3 : 1;
	return { code: 'YAML_SYNTAX', message: `not valid YAML: ${reason}`, remedy: yamlRemedy(reason), length };
}

const TWO_DOCUMENTS = 'expected a single document';

function yamlRemedy(reason: string): string {
	if (reason.startsWith('tab characters')) return 'indent with spaces';
	if (reason.startsWith(TWO_DOCUMENTS)) return 'keep one document per file: remove the `---` line';
	if (reason.startsWith('unknown') && reason.includes(' tag ')) return 'remove the tag (the word that begins with `!`)';
	if (reason.startsWith('nesting exceeded')) return 'nest less deeply';
	if (reason.startsWith('object-based map')) return 'use a text as key: no list, no map';
	if (reason.startsWith('unidentified alias'))
		return 'define it with &name before it is used, or put the text in quotes';
	return 'check indentation, quotes and brackets here and on the line before';
}

/** Looks for keys that reach prototypes, and for aliases that contain themselves or multiply. */
function findUnsafe(source: Source): Problem | undefined {
	// Without aliases a document cannot have more values than characters.
	const walk: Walk = { source, left: 4 * source.text.length + 10_000, above: [] };
	return unsafeBelow(source.value, [], walk);
}

interface Walk {
	readonly source: Source;
	left: number;
	readonly above: object[];
}

function unsafeBelow(value: unknown, pointer: (string | number)[], walk: Walk): Problem | undefined {
	if (value === null || typeof value !== 'object') return undefined;
	if (walk.above.includes(value)) return aliasProblem(walk, pointer, 'this alias contains itself');
	walk.above.push(value);
	for (const key of Object.keys(value)) {
		pointer.push(Array.isArray(value) ? Number(key) : key);
		if (walk.left-- < 0) return aliasProblem(walk, [], 'its aliases unfold to far more than the file says');
		if (FORBIDDEN.has(key)) return forbiddenKey(walk.source, pointer);
		const found = unsafeBelow((value as { readonly [name: string]: unknown })[key], pointer, walk);
		if (found !== undefined) return found;
		pointer.pop();
	}
	walk.above.pop();
	return undefined;
}

function aliasProblem(walk: Walk, pointer: Pointer, message: string): Problem {
	const place = { source: walk.source, pointer: [...pointer], on: 'value' } as const;
	return { code: 'YAML_ALIAS', severity: 'error', message, remedy: 'write the values out', place };
}

function forbiddenKey(source: Source, pointer: Pointer): Problem {
	const name = String(pointer.at(-1));
	return {
		code: 'YAML_FORBIDDEN_KEY',
		severity: 'error',
		message: `the key ${quote(name)} is not allowed`,
		remedy: 'use another name',
		place: { source, pointer: [...pointer], on: 'key' },
	};
}
