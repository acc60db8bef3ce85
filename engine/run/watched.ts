/**
 * The files that an overlay watches, by what is in them. Found by walking, not by git: whoever may write in a workspace may
 * also tell git what to overlook.
 */
import { isUtf8 } from 'node:buffer';
import { lstatSync, readdirSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { digestFile } from '../brief/digest-file.ts';

/** All files at and below these places, one a line with what identifies it. Two listings are equal if nothing differs. */
export function listWatched(project: string, places: readonly string[]): string {
	const marks = new Map<string, string>();
	for (const place of places.map(bare)) {
		noteLinksAbove(project, place, marks);
		noteAll({ file: Buffer.from(join(project, place)), path: place }, marks, true);
	}
	return [...marks]
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.map((line) => `${JSON.stringify(line)}\n`)
		.join('');
}

/** A file that differs between two listings: empty or null where it is not there. */
export interface WatchedChange {
	readonly path: string;
	readonly was: string;
	readonly now: string | null;
}

/** What differs between two listings, and what could not be read: nobody can say that it does not differ. */
export function changesIn(before: string, after: string): readonly WatchedChange[] {
	const [was, now] = [marksIn(before), marksIn(after)];
	const paths = [...new Set([...was.keys(), ...now.keys()])].sort();
	return paths.flatMap((path) => {
		const [old, current] = [was.get(path), now.get(path)];
		if (old === current && !isUnreadable(current)) return [];
		return [{ path, was: old ?? '', now: current ?? null }];
	});
}

/** Where a path is one of these places, below one, or a folder that leads to one. */
export function concerns(path: string, places: readonly string[]): boolean {
	const leadsTo = (one: string, other: string): boolean => one === other || other.startsWith(`${one}/`);
	return places.map(bare).some((place) => leadsTo(place, path) || leadsTo(path, place));
}

/** Relative, without `./` and a slash at the end. */
function bare(place: string): string {
	return place
		.split('/')
		.filter((part) => part !== '' && part !== '.')
		.join('/');
}

/** Written by this program itself, all the time. */
const OWN = '.ai-sdd/state';

/** A file, and how it is called here. Its name is made of bytes, which need be no text. */
interface Found {
	readonly file: Buffer;
	readonly path: string;
}

/** Whoever puts a link in the place of a folder above decides what lies below. */
function noteLinksAbove(project: string, place: string, marks: Map<string, string>): void {
	const parts = place.split('/');
	for (let count = 1; count < parts.length; count++) {
		const path = parts.slice(0, count).join('/');
		const file = Buffer.from(join(project, path));
		reading(path, marks, () => {
			if (lstatSync(file).isSymbolicLink()) marks.set(path, markOf(file, lstatSync(file)));
		});
	}
}

/** A place may itself be a link to a folder, and then means what lies there; links below are not followed. */
function noteAll({ file, path }: Found, marks: Map<string, string>, isPlace = false): void {
	if (path === OWN || path.startsWith(`${OWN}/`)) return;
	reading(path, marks, () => {
		const stat = lstatSync(file);
		if (!stat.isDirectory()) marks.set(path, markOf(file, stat));
		const isFolder = stat.isDirectory() || (isPlace && statSync(file, { throwIfNoEntry: false })?.isDirectory());
		if (!isFolder) return;
		for (const name of readdirSync(file, { encoding: 'buffer' })) {
			const below = Buffer.concat([file, SLASH, name]);
			noteAll({ file: below, path: `${path}/${textOf(name)}` }, marks);
		}
	});
}

const SLASH = Buffer.from('/');

/** Two names must not become one, and none holds a zero byte. */
function textOf(name: Buffer): string {
	return isUtf8(name) ? name.toString('utf8') : `\0${name.toString('hex')}`;
}

function reading(path: string, marks: Map<string, string>, read: () => void): void {
	try {
		read();
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === undefined) throw error;
		if (code !== 'ENOENT' && code !== 'ENOTDIR') marks.set(path, `${UNREADABLE} ${code}`);
	}
}

const UNREADABLE = 'unreadable';

function isUnreadable(mark: string | undefined): boolean {
	return mark?.startsWith(UNREADABLE) ?? false;
}

function markOf(file: Buffer, stat: Stats): string {
	if (stat.isSymbolicLink()) return `link to ${readlinkSync(file)}`;
	// Opening a pipe would wait for a writer.
	if (!stat.isFile()) return 'no regular file';
	const { sha256 } = digestFile(file);
	return (stat.mode & 0o111) === 0 ? sha256 : `${sha256} executable`;
}

function marksIn(listing: string): ReadonlyMap<string, string> {
	const lines = listing.split('\n').filter((line) => line !== '');
	return new Map(lines.map((line) => JSON.parse(line) as [string, string]));
}
