/** Checks that the views on the disk are what follows from the journal. */
import type { JournalRecord } from '../events.ts';
import { errnoOf, storeError } from './fs-errors.ts';
import { textOfFile } from './read-file.ts';
import { attempt, type Findings } from './verification.ts';

/** A file that follows from a journal: where it lies, and what it must hold. */
export interface ExpectedView {
	readonly path: string;
	readonly expected: string;
}

/** The views of a run whose journal holds these records. */
export type ViewsOf = (records: readonly JournalRecord[], run: string) => readonly ExpectedView[];

/** A run whose views are checked. */
export interface ViewedRun {
	readonly id: string;
	/** What its journal held before the views were read. */
	readonly records: readonly JournalRecord[];
	/** What it holds by now: a run that is under way does not wait for its audit. */
	readAgain(): readonly JournalRecord[];
}

/** Compares every view byte by byte; returns where they lie. */
export function checkViews(
	run: ViewedRun,
	viewsOf: ViewsOf,
	findings: Findings,
	name: (path: string) => string,
): readonly string[] {
	const views = viewsOf(run.records, run.id);
	for (const view of views) {
		const file = name(view.path);
		const there = attempt(findings, 'view', file, () => read(view.path));
		if (there === null || there === view.expected) continue;
		if (there === NOTHING) findings.problems.push({ kind: 'missing', file, where: '', ...MISSING });
		else if (there === FOLDER) findings.problems.push({ kind: 'view', file, where: '', ...IN_THE_WAY });
		else if (isBehind(run, viewsOf, view.path, there))
			findings.problems.push({ kind: 'stale', file, where: '', ...BEHIND });
		else if (!isNewer(run, viewsOf, view.path, there))
			findings.problems.push({ kind: 'view', file, where: firstDifference(there, view.expected), ...EDITED });
	}
	return views.map(({ path }) => path);
}

const NOTHING = Symbol('there is no file');
const FOLDER = Symbol('there is a folder');

const MISSING = {
	what: 'the view is missing',
	remedy: 'nothing is lost: `sdd audit verify --repair` writes it anew, and so does going on with the run',
} as const;
const IN_THE_WAY = {
	what: 'a folder lies where this view belongs',
	remedy: 'move away what is in it: `sdd audit verify --repair` then writes the view anew in place of the empty folder',
} as const;

const BEHIND = {
	what: 'view differs from journal: it is behind',
	remedy: 'nothing is lost: `sdd audit verify --repair` writes it anew, and so does going on with the run',
} as const;
const EDITED = {
	what: 'view differs from journal: it was edited, or it is ahead of a journal whose tail was cut off',
	remedy:
		'the journal is sound: compare its head with one you kept (--anchor), then `sdd audit verify --repair` writes the view anew',
} as const;

/** The first line that is not as it should be. */
function firstDifference(there: string, expected: string): string {
	const lines = there.split('\n');
	const wanted = expected.split('\n');
	const at = wanted.findIndex((line, index) => line !== lines[index]);
	return `line ${(at < 0 ? wanted.length : at) + 1}`;
}

/** A process that was killed leaves a view at most this many records behind. */
const LOOK_BACK = 200;

/** Behind is what equals the view as it once was. */
function isBehind(run: ViewedRun, viewsOf: ViewsOf, path: string, there: string): boolean {
	const count = run.records.length;
	return wasSo(run, run.records, { from: Math.max(1, count - LOOK_BACK), to: count - 1 }, viewsOf, path, there);
}

/** Newer is what equals the view as it became since the journal was read. */
function isNewer(run: ViewedRun, viewsOf: ViewsOf, path: string, there: string): boolean {
	const records = run.readAgain();
	const count = run.records.length;
	if (records[count - 1]?.hash !== run.records.at(-1)?.hash) return false;
	return wasSo(run, records, { from: count + 1, to: records.length }, viewsOf, path, there);
}

/** Whether a view was so after any of these records. */
function wasSo(
	{ id }: ViewedRun,
	records: readonly JournalRecord[],
	{ from, to }: { readonly from: number; readonly to: number },
	viewsOf: ViewsOf,
	path: string,
	there: string,
): boolean {
	for (let until = to; until >= from; until--) {
		const view = viewsOf(records.slice(0, until), id).find((one) => one.path === path);
		if (view?.expected === there) return true;
	}
	return false;
}

function read(path: string): string | typeof NOTHING | typeof FOLDER {
	try {
		return textOfFile(path);
	} catch (error) {
		if (errnoOf(error) === 'ENOENT') return NOTHING;
		if (errnoOf(error) === 'EISDIR') return FOLDER;
		throw storeError(error, path, 'read');
	}
}
