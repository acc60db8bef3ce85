/** Reads and checks a file of scripted replies, and writes the files that a reply brings. Loaded only where there is such a file. */
import { lstatSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import type { Usage } from '../engine/contract.ts';
import { type Diagnostic, quote } from '../engine/diagnostic.ts';
import { SddError } from '../engine/errors.ts';
import { loadSource } from '../engine/workflow/load.ts';
import { errorAt, type Pointer, type Problem } from '../engine/workflow/source.ts';

/** One reply, with every default filled in. */
export interface Reply {
	readonly text: string;
	readonly exit: number;
	readonly files: readonly { readonly path: string; readonly content: string }[];
	/** How long it takes; infinite for one that hangs. */
	readonly waitMs: number;
	readonly usage: Usage | null;
	/** What the brief must hold. */
	readonly expect: string | null;
}

/** Replies by task id, `task/role`, agent name or `*`. No list is empty. */
export type Replies = ReadonlyMap<string, readonly Reply[]>;

/** Loads a file of replies; throws SCRIPT_INVALID, with the place, when it cannot be used. */
export async function loadReplies(project: string, file: string): Promise<Replies> {
	const { replies, problems } = readReplies(resolve(project, file), file);
	const [first] = await told(problems);
	if (first !== undefined) throw invalid(first);
	return replies;
}

/** All that is wrong with a file of replies; `shown` is how the user names it. */
export async function checkReplies(path: string, shown: string): Promise<readonly Diagnostic[]> {
	return await told(readReplies(path, shown).problems);
}

/** Writes the files of a reply below `cwd`; says what is wrong where a path leads out of it. */
export function writeFiles(cwd: string, files: Reply['files']): string | null {
	const root = realpathSync(cwd);
	for (const { path, content } of files) {
		const file = resolve(root, path);
		if (!staysBelow(root, file)) return `the file ${quote(path)} of its reply lies outside its working directory`;
		try {
			mkdirSync(dirname(file), { recursive: true });
			writeFileSync(file, content);
		} catch (error) {
			return `the file ${quote(path)} of its reply cannot be written (${(error as NodeJS.ErrnoException).code})`;
		}
	}
	return null;
}

/** Looks through links too: what exists of the path must lie below the root as well. */
function staysBelow(root: string, file: string): boolean {
	if (!isBelow(root, file)) return false;
	let existing = file;
	while (!exists(existing)) existing = dirname(existing);
	try {
		return existing === root || isBelow(root, realpathSync(existing));
	} catch {
		// A link that leads nowhere: writing through it would make a file who knows where.
		return false;
	}
}

function exists(path: string): boolean {
	try {
		return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
	} catch {
		// Below a file, or in a folder that may not be read.
		return false;
	}
}

function isBelow(root: string, file: string): boolean {
	const path = relative(root, file);
	return path !== '' && path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

interface Read {
	readonly replies: Replies;
	readonly problems: readonly (Problem | Diagnostic)[];
}

function readReplies(path: string, shown: string): Read {
	const loaded = loadSource(path, shown);
	if (!loaded.ok) return { replies: new Map(), problems: [loaded.problem] };
	const { source } = loaded;
	const problems: Problem[] = [];
	const note: Note = (pointer, message, on = 'value') =>
		problems.push(errorAt({ source, pointer, on }, { code: 'SCRIPT_INVALID', message, remedy: REMEDY }));
	return { replies: toReplies(source.value, note), problems };
}

const REMEDY =
	'each key (a task, task/role, an agent or "*") has a reply or a list of replies: a text, or {text, exit, files, …}';

/** Takes down what does not fit; reading goes on, so that all of it is told at once. */
type Note = (pointer: Pointer, message: string, on?: 'key' | 'value') => void;

function toReplies(value: unknown, note: Note): Replies {
	if (isMap(value)) return new Map(Object.entries(value).map(([key, list]) => [key, toList(list, [key], note)]));
	note([], 'the file must map tasks, agents or "*" to replies');
	return new Map();
}

function toList(value: unknown, pointer: Pointer, note: Note): readonly Reply[] {
	if (!Array.isArray(value)) return [toReply(value, pointer, note)];
	if (value.length === 0) note(pointer, 'a list of replies needs at least one');
	return value.map((one, index) => toReply(one, [...pointer, index], note));
}

const KEYS = ['text', 'exit', 'files', 'delay', 'usage', 'hang', 'expect'];

function toReply(value: unknown, pointer: Pointer, note: Note): Reply {
	if (typeof value === 'string') return { ...PLAIN, text: value };
	if (!isMap(value)) {
		note(pointer, 'a reply must be a text or a map');
		return PLAIN;
	}
	for (const key of Object.keys(value).filter((one) => !KEYS.includes(one)))
		note([...pointer, key], `a reply has no ${quote(key)}; it may have ${KEYS.join(', ')}`, 'key');
	const at = <T>(key: string, read: (value: unknown, pointer: Pointer, note: Note) => T, absent: T): T =>
		value[key] === undefined ? absent : read(value[key], [...pointer, key], note);
	return {
		text: at('text', toText, ''),
		exit: at('exit', toExit, 0),
		files: at('files', toFiles, []),
		waitMs: at('hang', toFlag, false) ? Number.POSITIVE_INFINITY : at('delay', toNumber, 0),
		usage: at<Usage | null>('usage', toUsage, null),
		expect: at<string | null>('expect', toText, null),
	};
}

const PLAIN: Reply = { text: '', exit: 0, files: [], waitMs: 0, usage: null, expect: null };

function toText(value: unknown, pointer: Pointer, note: Note): string {
	if (typeof value === 'string') return value;
	note(pointer, `${last(pointer)} must be a text`);
	return '';
}

function toFlag(value: unknown, pointer: Pointer, note: Note): boolean {
	if (typeof value !== 'boolean') note(pointer, `${last(pointer)} must be true or false`);
	return value === true;
}

function toNumber(value: unknown, pointer: Pointer, note: Note): number {
	if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
	note(pointer, `${last(pointer)} must be a number, 0 or more`);
	return 0;
}

function toExit(value: unknown, pointer: Pointer, note: Note): number {
	if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255) return value as number;
	note(pointer, 'exit must be a whole number from 0 to 255');
	return 0;
}

function toFiles(value: unknown, pointer: Pointer, note: Note): Reply['files'] {
	if (!isMap(value)) {
		note(pointer, 'files must map paths to contents');
		return [];
	}
	return Object.entries(value).map(([path, content]) => ({ path, content: toText(content, [...pointer, path], note) }));
}

const USAGE_KEYS = ['input_tokens', 'output_tokens', 'cost_usd'];

function toUsage(value: unknown, pointer: Pointer, note: Note): Usage | null {
	if (!isMap(value) || !Object.keys(value).every((key) => USAGE_KEYS.includes(key))) {
		note(pointer, `usage must be a map with ${USAGE_KEYS.join(', ')}`);
		return null;
	}
	const at = (key: string) => (value[key] === undefined ? null : toNumber(value[key], [...pointer, key], note));
	return { inputTokens: at('input_tokens'), outputTokens: at('output_tokens'), costUsd: at('cost_usd') };
}

function isMap(value: unknown): value is { readonly [key: string]: unknown } {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function last(pointer: Pointer): string {
	const name = pointer.at(-1);
	return typeof name === 'string' ? quote(name) : 'this';
}

async function told(found: Read['problems']): Promise<readonly Diagnostic[]> {
	if (found.length === 0) return [];
	const { toDiagnostics } = await import('../engine/workflow/diagnose.ts');
	const problems = found.flatMap((one) => ('place' in one ? [one] : []));
	const diagnostics = found.flatMap((one) => ('place' in one ? [] : [one]));
	return toDiagnostics({ problems, diagnostics });
}

function invalid({ file, line, column, message, remedy }: Diagnostic): SddError {
	const where = line > 0 ? `${file}:${line}:${column}` : file;
	return new SddError('SCRIPT_INVALID', `scripted replies, ${where}: ${message}`, remedy);
}
