/** `sdd audit verify`: proves that what is stored is what was recorded. */
import { existsSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OverlayLog } from '../../engine/contract.ts';
import { EXIT, SddError } from '../../engine/errors.ts';
import type { JournalRecord } from '../../engine/events.ts';
import { printable } from '../../engine/printable.ts';
import { runNamed } from '../../engine/run/find-run.ts';
import { readPlan } from '../../engine/run/read-run.ts';
import { type RunViewOptions, viewsOfRun } from '../../engine/run/run-views.ts';
import { mkdirDurable, replaceFile } from '../../engine/store/durable.ts';
import { errnoOf } from '../../engine/store/fs-errors.ts';
import { appendHead, readHeads } from '../../engine/store/heads.ts';
import { processAtWork } from '../../engine/store/holder.ts';
import { workflowStateFile } from '../../engine/store/layout.ts';
import { textOfFile } from '../../engine/store/read-file.ts';
import { listRuns } from '../../engine/store/state-folder.ts';
import type { Problem, Verification } from '../../engine/store/verification.ts';
import { verifyAll, verifyRun } from '../../engine/store/verify.ts';
import type { ExpectedView } from '../../engine/store/verify-views.ts';
import type { Arguments } from '../arguments.ts';
import { definitionsFor } from '../hosts.ts';
import { asJson, type Terminal } from '../terminal.ts';

export async function auditVerify(terminal: Terminal, args: Arguments): Promise<number> {
	const project = terminal.project();
	const given = args.positionals[0];
	const run = given === undefined ? null : runNamed(project, given);
	const anchor = anchorIn(args);
	let books = await openBooks(terminal, project);
	const verify = (): Verification => {
		const options = { views: books.viewsOf, whyUnknown: books.whyUnknown, ...(anchor === null ? {} : { anchor }) };
		return run === null ? verifyAll(project, options) : verifyRun(project, run, options);
	};
	let found = verify();
	// Where another run has begun meanwhile, it may have put views aside that were where they belong.
	for (let again = 0; again < 3 && books.areOutdated(); again++) {
		books = await openBooks(terminal, project);
		found = verify();
	}
	const repaired = args.has('repair') ? repair(project, books, found) : [];
	if (repaired.length > 0) found = verify();
	const bad = found.problems.filter((problem) => !isExpected(problem, project, books));
	if (args.has('json')) terminal.out(asJson({ ok: bad.length === 0, ...found, problems: bad, repaired }));
	else terminal.out(report(found, bad, repaired));
	return bad.length === 0 ? EXIT.done : EXIT.failed;
}

function anchorIn(args: Arguments): string | null {
	const anchor = args.value('anchor');
	if (anchor === null || /^[0-9a-f]{64}$/.test(anchor)) return anchor;
	throw new SddError(
		'CLI_USAGE',
		'sdd audit verify: --anchor needs a whole sha256, 64 hex digits',
		'copy the journal head that `sdd run` printed',
	);
}

/** What the views of all runs should be, as their journals were read. */
interface Books {
	viewsOf(records: readonly JournalRecord[], run: string): readonly ExpectedView[];
	/** Why the logs of a run's overlay cannot be told; null if they can. */
	whyUnknown(run: string, overlay: string): string | null;
	/** The newest answer of `viewsOf` for every path, with whether its run is over. */
	readonly views: Map<string, { readonly expected: string; readonly isOver: boolean }>;
	/** Finished runs, with their last record. */
	readonly finished: Map<string, JournalRecord>;
	/** How many heads were noted before anything was checked. */
	readonly headsBefore: number;
	/** Whether another run has begun since, or was gone on with. */
	areOutdated(): boolean;
}

async function openBooks(terminal: Terminal, project: string): Promise<Books> {
	const runs = listRuns(project);
	const options = new Map<string, BookOptions>();
	const stateOwner = ownerOf(workflowStateFile(project));
	const shown = stateOwner !== null && runs.includes(stateOwner) ? stateOwner : runs.at(-1);
	for (const run of runs) {
		const read = await optionsFor(terminal, project, run, runs, run === shown);
		if (read !== null) options.set(run, read);
	}
	const books: Books = {
		views: new Map(),
		finished: new Map(),
		headsBefore: readHeads(project).lines.length,
		areOutdated: () => listRuns(project).length !== runs.length || ownerOf(workflowStateFile(project)) !== stateOwner,
		whyUnknown(run, overlay) {
			const of = options.get(run);
			if (of === undefined) return 'the plan of its run cannot be read';
			return of.unloaded.has(overlay) ? `the overlay "${overlay}" cannot be loaded, or you do not trust it yet` : null;
		},
		viewsOf(records, run) {
			const of = options.get(run);
			const last = records.at(-1);
			if (of === undefined || last === undefined) return [];
			// Its views were written when it was left; only a run that is under way, or was killed, may be ahead of them.
			const isOver =
				records.findLast((record) => record.kind !== 'warning')?.kind.match(/^run_(finished|paused)$/) != null;
			if (records.some((record) => record.kind === 'run_finished')) books.finished.set(run, last);
			const views = viewsOfRun(records, of);
			for (const { path, expected } of views) if (!books.views.has(path)) books.views.set(path, { expected, isOver });
			return views;
		},
	};
	return books;
}

interface BookOptions extends RunViewOptions {
	/** Overlays of the run whose code is not at hand. */
	readonly unloaded: ReadonlySet<string>;
}

async function optionsFor(
	terminal: Terminal,
	project: string,
	run: string,
	runs: readonly string[],
	ownsState: boolean,
): Promise<BookOptions | null> {
	try {
		const plan = readPlan(project, run);
		const definitionOf = await definitionsFor(terminal, project, plan);
		const logs = new Map<string, OverlayLog>();
		const unloaded = new Set<string>();
		for (const overlay of plan.tasks.flatMap((task) => task.overlays)) {
			const definition = definitionOf(overlay);
			if (definition === undefined) unloaded.add(overlay.name);
			else if (definition.log !== undefined) logs.set(overlay.name, definition.log);
		}
		return {
			project,
			plan,
			logOf: (name) => logs.get(name) ?? null,
			ownsState,
			unloaded,
			isInPlace: (path, archived) => isInPlace(path, archived, run, runs),
		};
	} catch (error) {
		if (error instanceof SddError) return null;
		throw error;
	}
}

/** A log is put aside when another run begins or goes on; one that belongs to nobody here is held against its own run. */
function isInPlace(path: string, archived: string, run: string, runs: readonly string[]): boolean {
	const owner = ownerOf(path);
	if (owner === run) return true;
	return (owner === null || !runs.includes(owner)) && !existsSync(archived);
}

/** The run that a view says it is of. */
function ownerOf(path: string): string | null {
	try {
		const { run_id } = JSON.parse(textOfFile(path)) as { run_id?: unknown };
		return typeof run_id === 'string' ? run_id : null;
	} catch {
		return null;
	}
}

/** A run that is under way, or was killed, may have views that are behind, or be over but for its head: no sign of tampering. */
function isExpected(problem: Problem, project: string, books: Books): boolean {
	const unnoted = problem.kind === 'head' ? UNNOTED.exec(problem.what)?.[1] : undefined;
	// The head is the last thing that a process writes down.
	if (unnoted !== undefined) return isStillToBeNoted(project, unnoted, books);
	if (problem.kind !== 'stale' && problem.kind !== 'missing') return false;
	return books.views.get(join(project, problem.file))?.isOver === false;
}

function isStillToBeNoted(project: string, run: string, books: Books): boolean {
	if (processAtWork(project, run) !== null) return true;
	return readHeads(project)
		.lines.slice(books.headsBefore)
		.some((line) => line.run === run && line.state === 'finished');
}

/** Views are written anew from sound journals; a finished run whose head nobody noted gets its note. Nothing else. */
function repair(project: string, books: Books, found: Verification): readonly string[] {
	const isCut = found.problems.some(({ kind, what }) => kind === 'anchor' || (kind === 'head' && !UNNOTED.test(what)));
	// What a journal has lost may stand in its views alone; and of one that was written anew no head is to be noted.
	if (isCut) return [];
	const repaired: string[] = [];
	for (const { kind, file } of found.problems) {
		const path = join(project, file);
		const view = kind === 'view' || kind === 'stale' || kind === 'missing' ? books.views.get(path) : undefined;
		if (view !== undefined && writeAnew(path, view.expected)) repaired.push(file);
	}
	for (const { kind, what } of found.problems) {
		const run = kind === 'head' ? UNNOTED.exec(what)?.[1] : undefined;
		const last = run === undefined ? undefined : books.finished.get(run);
		if (run === undefined || last === undefined || isStillToBeNoted(project, run, books)) continue;
		appendHead(project, { run, seq: last.seq, head: last.hash, at: last.at, state: 'finished' });
		repaired.push(`head of run ${run}`);
	}
	return repaired;
}

/** False where something is in the way: what that is, the problem says, and it is not for us to remove it. */
function writeAnew(path: string, text: string): boolean {
	try {
		if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) rmdirSync(path);
		mkdirDurable(dirname(path));
		replaceFile(path, text);
		return true;
	} catch (error) {
		if (error instanceof SddError || errnoOf(error) !== null) return false;
		throw error;
	}
}

const UNNOTED = /^run (\S+) has finished, but no head/;

function report(found: Verification, bad: readonly Problem[], repaired: readonly string[]): string {
	const problems = bad.map(({ file, where, what, remedy }) => {
		const place = [file, where].filter((part) => part !== '').join(', ');
		return `${printable(place === '' ? what : `${place}: ${what}`)}\n  remedy: ${printable(remedy)}\n`;
	});
	const notes = found.notes.map(({ file, message }) => `note: ${printable(`${file}: ${message}`)}\n`);
	const fixed = repaired.map((what) => `repaired: ${printable(what)}\n`);
	const heads = found.heads.map(({ run, seq, hash }) => `run ${run}: ${seq} records, head ${hash}\n`);
	const verdict = bad.length === 0 ? 'ok' : `${bad.length} problem${bad.length === 1 ? '' : 's'}`;
	return [...problems, ...notes, ...fixed, ...heads, `${verdict}: ${found.records} records checked\n`].join('');
}
