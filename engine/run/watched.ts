/**
 * The files that an overlay watches, by what is in them. Found by walking, not by git: whoever may write in a workspace may
 * also tell git what to overlook.
 */
import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { digestFile } from '../brief/digest-file.ts';

/** All files at and below these places, one a line with what identifies it. Two listings are equal if nothing differs. */
export function listWatched(project: string, places: readonly string[]): string {
	const marks = new Map<string, string>();
	for (const place of places) note(project, bare(place), marks);
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

/** Where a path is one of these places, or below one. */
export function isAtOrBelow(path: string, places: readonly string[]): boolean {
	return places.map(bare).some((place) => path === place || path.startsWith(`${place}/`));
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

function note(project: string, path: string, marks: Map<string, string>): void {
	if (path === OWN || path.startsWith(`${OWN}/`)) return;
	try {
		const file = join(project, path);
		const stat = lstatSync(file);
		if (!stat.isDirectory()) marks.set(path, markOf(file, stat));
		else for (const name of readdirSync(file)) note(project, path === '' ? name : `${path}/${name}`, marks);
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

function markOf(file: string, stat: Stats): string {
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
