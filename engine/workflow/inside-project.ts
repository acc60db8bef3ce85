/** Keeps paths inside the project: by name, and through symbolic links. */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, posix, relative, resolve, sep } from 'node:path';
import type { ErrorCode } from '../errors.ts';

/** What is wrong with a path: the end of a sentence that starts with the path, and what to do. */
export interface PathFault {
	readonly code: ErrorCode;
	readonly fault: string;
	readonly remedy: string;
}

/** A function that finds fault with paths relative to the project; `reserved` folders are those agents may not touch. */
export type FindFault = (path: string, reserved?: readonly string[]) => PathFault | null;

/** Where `sdd` and git keep their own state. */
export const RESERVED = ['.ai-sdd', '.git'] as const;

const LONGEST = 4096;
const INSIDE = "write it relative to the project's root, and inside it";

/** Finds fault with paths of one project; folders are looked at once. */
export function faultFinder(project: string): FindFault {
	const looked: Looked = { folders: new Map(), absent: new Set() };
	let root: string | undefined;
	return (path, reserved = []) => {
		const named = faultByName(path, reserved);
		if (named !== null) return named;
		root ??= realpathSync(project);
		return faultByLink(real(join(root, path), looked, 0), root, reserved);
	};
}

/** The one way to write a path: `./src//a.ts` is `src/a.ts`. */
export function normalPath(path: string): string {
	// Most paths are normal already; those keep sharing their memory with the file's text.
	if (!/\/\/|\/$|(?:^|\/)\.\.?(?:\/|$)/.test(path)) return path;
	const normal = posix.normalize(path);
	return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal;
}

function faultByName(path: string, reserved: readonly string[]): PathFault | null {
	if (/[\u0000-\u001f\u007f]/.test(path)) {
		return { code: 'WORKFLOW_VALUE', fault: 'has a control character in it', remedy: 'remove that character' };
	}
	if (path.length > LONGEST) {
		return { code: 'WORKFLOW_VALUE', fault: `is longer than ${LONGEST} characters`, remedy: 'shorten it' };
	}
	if (isAbsolute(path) || /^(?:[A-Za-z]:[\\/]|~(?:\/|$))/.test(path)) {
		return { code: 'PATH_OUTSIDE_PROJECT', fault: 'is not relative to the project', remedy: INSIDE };
	}
	const [first = ''] = normalPath(path).split('/');
	if (first === '..') return { code: 'PATH_OUTSIDE_PROJECT', fault: 'leaves the project', remedy: INSIDE };
	return faultByFolder(first, reserved);
}

function faultByFolder(first: string, reserved: readonly string[]): PathFault | null {
	// Some disks do not tell .Git from .git.
	if (!reserved.includes(first.toLowerCase())) return null;
	const fault = `lies in ${first}/, which is not for agents`;
	return { code: 'PATH_RESERVED', fault, remedy: 'choose a place outside that folder' };
}

function faultByLink(target: string | null, root: string, reserved: readonly string[]): PathFault | null {
	const inside = target === null ? '..' : relative(root, target);
	const [first = ''] = inside.split(sep);
	if (first === '..' || isAbsolute(inside)) {
		const fault = 'leads out of the project through a symbolic link';
		return { code: 'PATH_OUTSIDE_PROJECT', fault, remedy: 'replace the link, or choose another path' };
	}
	return faultByFolder(first, reserved);
}

/** What is known of the disk: where folders really are, and which do not exist. */
interface Looked {
	readonly folders: Map<string, string | null>;
	readonly absent: Set<string>;
}

/** Where a path leads once all links are followed, though its end may not exist yet; null for a circle of links. */
function real(path: string, looked: Looked, depth: number): string | null {
	if (depth > 40) return null;
	const folder = dirname(path);
	if (folder === path) return path;
	let parent = looked.folders.get(folder);
	if (parent === undefined) {
		parent = real(folder, looked, depth);
		looked.folders.set(folder, parent);
	}
	if (parent === null) return null;
	const here = join(parent, path.slice(folder.length));
	const found = looked.absent.has(parent) ? 'absent' : look(here);
	if (found === 'absent') looked.absent.add(here);
	return found === 'link' ? real(resolve(parent, readlinkSync(here)), looked, depth + 1) : here;
}

function look(path: string): 'absent' | 'link' | 'other' {
	try {
		const found = lstatSync(path, { throwIfNoEntry: false });
		if (found === undefined) return 'absent';
		return found.isSymbolicLink() ? 'link' : 'other';
	} catch {
		// A file where a folder should be, or no permission to look: nothing to follow.
		return 'absent';
	}
}
