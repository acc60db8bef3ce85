/**
 * Finds the constitutions that hold for a task, from far to near: the built-in defaults, the user's own, the project's,
 * and those of the directories on the way down to the task's files.
 */
import { isUtf8 } from 'node:buffer';
import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, posix, relative, sep } from 'node:path';
import type { Diagnostic } from '../engine/diagnostic.ts';
import defaults from './defaults.md';
import { type Merged, mergeConstitutions } from './merge.ts';
import { type Constitution, malformed, type ParsedConstitution, parseConstitution } from './parse.ts';

/** The constitution that holds, or what is wrong with the files it is made of. */
export type FoundConstitution =
	| ({ readonly ok: true } & Merged)
	| { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** Where constitutions are looked for. */
export interface Places {
	/** The project's root folder. */
	readonly project: string;
	/** The folder of the user's own settings (see `configHome`), or null for none. */
	readonly home: string | null;
	/** How a file is named to the user; by default relative to the project. */
	readonly nameOf?: (path: string) => string;
}

export const BUILT_IN = 'built-in defaults';
const FILE = 'constitution.md';
const MAX_BYTES = 256 * 1024;

/** The merged constitution for a task with these inputs and outputs (relative to the project). */
export function constitutionFor(places: Places & { readonly paths: readonly string[] }): FoundConstitution {
	return constitutionFinder(places)(places.paths);
}

/**
 * A finder that reads each file once. Tasks for which the same files hold get the same object; a file that is wrong
 * gives the same diagnostic object each time.
 */
export function constitutionFinder(places: Places): (paths: readonly string[]) => FoundConstitution {
	const read = fileReader(places);
	const results = new Map<string, FoundConstitution>();
	const always = [builtIn(), ...(places.home === null ? [] : [read.user(places.home)]), read.inProject('.')];
	return (paths) => {
		const nearer = directoriesOf(paths, places.project).map((directory) => read.inProject(directory));
		const found = [...always, ...nearer].filter((file) => file !== null);
		const key = found.map((file) => (file.ok ? file.constitution.source : file.diagnostic.file)).join('\n');
		const known = results.get(key);
		if (known !== undefined) return known;
		const result = merged(found);
		results.set(key, result);
		return result;
	};
}

/** The folder of the user's own settings: `$XDG_CONFIG_HOME/sdd`, or `~/.config/sdd`. */
export function configHome(env: { readonly [name: string]: string | undefined }, home: string): string {
	const xdg = env['XDG_CONFIG_HOME'];
	// A relative one must be ignored: https://specifications.freedesktop.org/basedir-spec/latest/
	return join(xdg !== undefined && isAbsolute(xdg) ? xdg : join(home, '.config'), 'sdd');
}

function merged(found: readonly ParsedConstitution[]): FoundConstitution {
	const layers: Constitution[] = [];
	const diagnostics: Diagnostic[] = [];
	for (const file of found) {
		if (file.ok) layers.push(file.constitution);
		else diagnostics.push(file.diagnostic);
	}
	return diagnostics.length > 0 ? { ok: false, diagnostics } : { ok: true, ...mergeConstitutions(layers) };
}

function builtIn(): ParsedConstitution {
	const parsed = parseConstitution(BUILT_IN, defaults);
	if (!parsed.ok) throw new Error(`the built-in constitution is malformed: ${parsed.diagnostic.message}`);
	return parsed;
}

/** Every directory below the project on the way to the paths, those paths that are directories too, the deeper ones last. */
function directoriesOf(paths: readonly string[], project: string): readonly string[] {
	const directories = new Set<string>();
	for (const path of paths) {
		const whole = posix.normalize(path).replace(/\/$/, '');
		// Paths that leave the project are refused elsewhere, with their place in the workflow.
		if (isAbsolute(whole) || whole === '..' || whole.startsWith('../')) continue;
		let directory = isDirectory(join(project, whole)) ? whole : posix.dirname(whole);
		for (; directory !== '.'; directory = posix.dirname(directory)) directories.add(directory);
	}
	const depth = (directory: string) => directory.split('/').length;
	return [...directories].sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1));
}

function isDirectory(path: string): boolean {
	try {
		return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
	} catch {
		return false;
	}
}

type Read = ParsedConstitution | null;

function fileReader(places: Places) {
	const files = new Map<string, Read>();
	const nameOf = places.nameOf ?? ((path: string) => relative(places.project, path));
	const root = realpathSync(places.project);
	const readOnce = (path: string, name: string, inside: string | null): Read => {
		const known = files.get(path);
		if (known !== undefined) return known;
		const file = readConstitution(path, name, inside);
		files.set(path, file);
		return file;
	};
	return {
		user: (home: string) => readOnce(join(home, FILE), join(home, FILE), null),
		inProject: (directory: string) => {
			const path = join(places.project, directory, FILE);
			return readOnce(path, nameOf(path), root);
		},
	};
}

function readConstitution(path: string, name: string, inside: string | null): Read {
	try {
		if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
		const stat = statSync(path);
		if (inside !== null && !isInside(realpathSync(path), inside)) return leavesProject(name);
		if (!stat.isFile()) return malformed(name, 'this is not a file', 'make it a text file, or remove it');
		if (stat.size > MAX_BYTES)
			return malformed(name, tooLarge(stat.size), 'keep what agents must know, and link to the rest');
		const bytes = readFileSync(path);
		if (bytes.includes(0) || !isUtf8(bytes))
			return malformed(name, 'the constitution is not UTF-8 text', 'save it as UTF-8 text');
		return parseConstitution(name, bytes.toString('utf8'));
	} catch (error) {
		return cannotRead(name, error);
	}
}

function isInside(path: string, folder: string): boolean {
	return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function leavesProject(name: string): ParsedConstitution {
	const message = 'the constitution leads out of the project through a symbolic link';
	const { ok, diagnostic } = malformed(name, message, 'put a copy of the file here, or remove the link');
	return { ok, diagnostic: { ...diagnostic, code: 'PATH_OUTSIDE_PROJECT' } };
}

function tooLarge(bytes: number): string {
	return `the constitution is too large: ${Math.ceil(bytes / 1024)} KB, the limit is ${MAX_BYTES / 1024} KB`;
}

function cannotRead(name: string, error: unknown): Read {
	const { code } = error as NodeJS.ErrnoException;
	if (code === undefined) throw error;
	// What a task's path calls a directory can be a file, or a name that cannot exist: then it holds no constitution.
	if (code === 'ENOTDIR' || code === 'ENAMETOOLONG') return null;
	if (code === 'ENOENT') return malformed(name, 'the constitution is a symbolic link to nothing', 'remove the link');
	return malformed(name, `the constitution cannot be read (${code})`, 'check its permissions');
}
