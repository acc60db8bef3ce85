/** The code behind an overlay: which files are looked at before it is trusted, and in which words that is told. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { type OverlayUse, useText } from '../engine/overlay-use.ts';
import { printableLine } from '../engine/printable.ts';
import { configuredPython } from './configured-python.ts';
import { OVERLAY_FOLDER } from './find-overlay.ts';

/** What identifies the code behind a use. */
export interface Code {
	readonly use: string;
	/** sha256 over the words and all the files. */
	readonly digest: string;
	/** The sha256 of every file that is covered, by its path. */
	readonly files: { readonly [path: string]: string };
	/** Those of them that the words name, or that is the interpreter; the others lie in the folder of overlays beside one. */
	readonly named: readonly string[];
	/** Words of a command that name no file: what they lead to is not covered. */
	readonly uncovered: readonly string[];
}

/** The code behind a use. A package, or a program on the PATH, is known by its name alone: who installed it trusts it. */
export function codeOf(project: string, use: OverlayUse): Code {
	const words = typeof use === 'string' ? [use] : use.command;
	const full = (word: string): string => (isAbsolute(word) ? word : join(project, word));
	const named = [...words.filter((word) => isFile(full(word))).map(full), ...ownInterpreter(project, use)];
	const shared = join(project, OVERLAY_FOLDER);
	const beside = named.some((path) => path.startsWith(`${shared}/`)) ? sourcesBelow(shared) : [];
	const whole = createHash('sha256').update(JSON.stringify(use));
	const files: { [path: string]: string } = {};
	for (const path of new Set([...named, ...beside])) {
		const content = contentOf(path);
		whole.update(`\0${path.slice(project.length)}\0`).update(content);
		files[shownPath(project, path)] = createHash('sha256').update(content).digest('hex');
	}
	return {
		use: useText(use),
		digest: whole.digest('hex'),
		files,
		named: [...new Set(named.map((path) => shownPath(project, path)))],
		uncovered: typeof use === 'string' ? [] : words.filter((word) => !isFile(full(word))),
	};
}

/** A Python that the project brings along is code of the project, too. */
function ownInterpreter(project: string, use: OverlayUse): readonly string[] {
	if (typeof use !== 'string' || !use.endsWith('.py')) return [];
	const configured = configuredPython(project);
	const places = ['.venv/bin/python', '.venv/Scripts/python.exe', ...(configured?.includes('/') ? [configured] : [])];
	const found = places.map((place) => resolve(project, place)).find(isFile);
	// That of a usual environment is a link to the machine's.
	return found !== undefined && realpathSync(found).startsWith(`${realpathSync(project)}/`) ? [found] : [];
}

/** Overlays import what lies beside them. */
function sourcesBelow(folder: string): readonly string[] {
	const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
	return entries.flatMap((entry) => {
		const path = join(folder, entry.name);
		if (entry.isDirectory())
			// Python is told to look for its byte code elsewhere.
			return entry.name === '__pycache__' ? [] : sourcesBelow(path);
		return isFile(path) || entry.isSymbolicLink() ? [path] : [];
	});
}

/** Of a link to a folder, or to nothing, where it leads: what lies there is not looked at, but that it is there is seen. */
function contentOf(path: string): Buffer {
	return isFile(path) ? readFileSync(path) : Buffer.from(readlinkSync(path));
}

function isFile(path: string): boolean {
	return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function shownPath(project: string, path: string): string {
	return path.startsWith(`${project}/`) ? path.slice(project.length + 1) : path;
}

/** Which overlay it is, what is new about it, and what the digests cover, so that the user can check it. */
export function describeCode(code: Code, before: { readonly files: Code['files'] | null } | null): string {
	const changes = before?.files == null ? null : changesSince(before.files, code);
	const told = [`the overlay ${printableLine(code.use)} ${newness(code, before !== null, changes)}`];
	if (code.named.length > 0)
		told.push(code.named.map((path) => `${path} has the sha256 ${code.files[path]}`).join(', '));
	const others = Object.keys(code.files).length - code.named.length;
	if (others > 0)
		told.push(
			`${others === 1 ? 'one other file' : `${others} other files`} in ${OVERLAY_FOLDER}/ ${others === 1 ? 'goes' : 'go'} with it`,
		);
	if (code.uncovered.length > 0)
		told.push(`what these words of its command lead to is not looked at: ${code.uncovered.map(quoted).join(' ')}`);
	return printableLine(told.join('; '), MOST);
}

const MOST = 2000;

function newness({ named }: Code, wasKnown: boolean, changes: readonly Change[] | null): string {
	if (!wasKnown) return 'was never run on this machine';
	const since = 'since it was last run on this machine';
	if (changes === null || changes.length === 0) return `changed ${since}`;
	const list = changes.map(({ path, how }) => `${path} ${how}`).join(', ');
	const isItself = changes.some(({ path }) => named.includes(path));
	return isItself
		? `changed ${since} (${list})`
		: `is as it was last run on this machine, but what lies beside it changed (${list})`;
}

interface Change {
	readonly path: string;
	readonly how: 'changed' | 'was added' | 'is gone';
}

function changesSince(before: Code['files'], { files }: Code): readonly Change[] {
	const paths = [...new Set([...Object.keys(files), ...Object.keys(before)])];
	return paths.flatMap((path): readonly Change[] => {
		if (before[path] === files[path]) return [];
		if (before[path] === undefined) return [{ path, how: 'was added' }];
		return [{ path, how: files[path] === undefined ? 'is gone' : 'changed' }];
	});
}

function quoted(word: string): string {
	return /^[\w./=:@-]+$/.test(word) ? word : JSON.stringify(word);
}
