/** Reads and checks a file of scripted replies, and writes the files that a reply brings. Loaded at the first reply. */
import { lstatSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import type { Usage } from '../engine/contract.ts';
import { quote } from '../engine/diagnostic.ts';
import { SddError } from '../engine/errors.ts';
import { loadSource } from '../engine/workflow/load.ts';
import type { Pointer, Source } from '../engine/workflow/source.ts';

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
	const loaded = loadSource(resolve(project, file), file);
	if (!loaded.ok) throw await unusable(loaded.problem);
	try {
		return toReplies(loaded.source.value);
	} catch (error) {
		if (error instanceof Misfit) throw await misplaced(loaded.source, error);
		throw error;
	}
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

/** Thrown at the first thing that does not fit; becomes an error with its place. */
class Misfit extends Error {
	readonly pointer: Pointer;

	constructor(pointer: Pointer, message: string) {
		super(message);
		this.pointer = pointer;
	}
}

function toReplies(value: unknown): Replies {
	if (!isMap(value)) throw new Misfit([], 'the file must map tasks, agents or "*" to replies');
	return new Map(Object.entries(value).map(([key, list]) => [key, toList(list, [key])]));
}

function toList(value: unknown, pointer: Pointer): readonly Reply[] {
	if (!Array.isArray(value)) return [toReply(value, pointer)];
	if (value.length === 0) throw new Misfit(pointer, 'a list of replies needs at least one');
	return value.map((one, index) => toReply(one, [...pointer, index]));
}

const KEYS = ['text', 'exit', 'files', 'delay', 'usage', 'hang', 'expect'];

function toReply(value: unknown, pointer: Pointer): Reply {
	if (typeof value === 'string') return { ...PLAIN, text: value };
	if (!isMap(value)) throw new Misfit(pointer, 'a reply must be a text or a map');
	for (const key of Object.keys(value)) {
		if (!KEYS.includes(key)) {
			throw new Misfit([...pointer, key], `a reply has no ${quote(key)}; it may have ${KEYS.join(', ')}`);
		}
	}
	const at = <T>(key: string, check: (value: unknown, pointer: Pointer) => T, absent: T): T =>
		value[key] === undefined ? absent : check(value[key], [...pointer, key]);
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

function toText(value: unknown, pointer: Pointer): string {
	if (typeof value === 'string') return value;
	throw new Misfit(pointer, `${last(pointer)} must be a text`);
}

function toFlag(value: unknown, pointer: Pointer): boolean {
	if (typeof value === 'boolean') return value;
	throw new Misfit(pointer, `${last(pointer)} must be true or false`);
}

function toNumber(value: unknown, pointer: Pointer): number {
	if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
	throw new Misfit(pointer, `${last(pointer)} must be a number, 0 or more`);
}

function toExit(value: unknown, pointer: Pointer): number {
	if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255) return value as number;
	throw new Misfit(pointer, 'exit must be a whole number from 0 to 255');
}

function toFiles(value: unknown, pointer: Pointer): Reply['files'] {
	if (!isMap(value)) throw new Misfit(pointer, 'files must map paths to contents');
	return Object.entries(value).map(([path, content]) => ({ path, content: toText(content, [...pointer, path]) }));
}

const USAGE_KEYS = ['input_tokens', 'output_tokens', 'cost_usd'];

function toUsage(value: unknown, pointer: Pointer): Usage {
	const fits = isMap(value) && Object.keys(value).every((key) => USAGE_KEYS.includes(key));
	if (!fits) throw new Misfit(pointer, `usage must be a map with ${USAGE_KEYS.join(', ')}`);
	const at = (key: string) => (value[key] === undefined ? null : toNumber(value[key], [...pointer, key]));
	return { inputTokens: at('input_tokens'), outputTokens: at('output_tokens'), costUsd: at('cost_usd') };
}

function isMap(value: unknown): value is { readonly [key: string]: unknown } {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function last(pointer: Pointer): string {
	const name = pointer.at(-1);
	return typeof name === 'string' ? quote(name) : 'this';
}

async function misplaced(source: Source, misfit: Misfit): Promise<SddError> {
	const { locator } = await import('../engine/workflow/locate.ts');
	const { line, column } = locator(source.text)(misfit.pointer, 'value');
	return invalid(`${source.file}:${line}:${column}`, misfit.message, REMEDY);
}

type Unloadable = Extract<ReturnType<typeof loadSource>, { ok: false }>['problem'];

async function unusable(problem: Unloadable): Promise<SddError> {
	const { toDiagnostics } = await import('../engine/workflow/diagnose.ts');
	const findings =
		'place' in problem ? { problems: [problem], diagnostics: [] } : { problems: [], diagnostics: [problem] };
	const { file, line, column, message, remedy } = toDiagnostics(findings)[0]!;
	return invalid(line > 0 ? `${file}:${line}:${column}` : file, message, remedy);
}

const REMEDY =
	'each key (a task, task/role, an agent or "*") has a reply or a list of replies: a text, or {text, exit, files, …}';

function invalid(where: string, message: string, remedy: string): SddError {
	return new SddError('SCRIPT_INVALID', `scripted replies, ${where}: ${message}`, remedy);
}
