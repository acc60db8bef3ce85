/**
 * The audit of what is stored: journals against their hashes and noted heads, files against the journals.
 *
 *   journal ─ every byte, every link      heads, anchor ─ is it all there, and the same as before?
 *   plan, briefs ─ by their sha256        queue, views  ─ do they say what the journal says?
 *   logs ─ does a journal explain each?   a part that cannot be read is one problem, and the rest is still checked
 */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import type { JournalRecord } from '../events.ts';
import { sha256 } from './hash.ts';
import type { Heads } from './heads.ts';
import { briefsDir, headsFile, hilDir, itemFile, journalDir, planFile, runDir, stateDir } from './layout.ts';
import { walkJournal } from './read-journal.ts';
import { listRuns } from './state-folder.ts';
import { attempt, type Findings, type RunHead, type Verification } from './verification.ts';
import { checkBriefs, checkPlan } from './verify-files.ts';
import { checkHeads, checkHeadsFile } from './verify-heads.ts';
import { type CheckedJournal, checkJournal } from './verify-journal.ts';
import { checkQueue, type Queue, readQueue } from './verify-queue.ts';
import { checkStrays, type Explained, isGone, listViewFiles, RESTORE_RUN } from './verify-strays.ts';
import { checkViews, type ViewedRun, type ViewsOf } from './verify-views.ts';

/** What to hold the store against besides itself. */
export interface VerifyOptions {
	/** The hash of a record, kept elsewhere: it must still be in a journal. */
	readonly anchor?: string;
	/** The views that follow from a run's records; without it no view is compared. */
	readonly views?: ViewsOf;
	/** Why the views of a run's overlay cannot be told; null if they can. */
	readonly whyUnknown?: (run: string, overlay: string) => string | null;
}

/** Checks one run. */
export function verifyRun(project: string, run: string, options: VerifyOptions = {}): Verification {
	return verify(project, [run], options, run);
}

/** Checks all runs, and that none is missing. */
export function verifyAll(project: string, options: VerifyOptions = {}): Verification {
	return verify(project, listRuns(project), options, null);
}

interface Audit extends Findings {
	readonly project: string;
	readonly options: VerifyOptions;
	readonly heads: Heads;
	readonly queue: Queue;
	readonly name: (path: string) => string;
	/** What lay in the places of views before any journal was read. */
	readonly viewFiles: readonly string[];
	readonly explained: Set<string>;
	readonly damaged: Set<string>;
	readonly runHeads: RunHead[];
	records: number;
	anchored: boolean;
}

function verify(project: string, runs: readonly string[], options: VerifyOptions, only: string | null): Verification {
	const audit = startAudit(project, options);
	for (const run of runs) checkRun(audit, run);
	if (only === null) checkNamedRuns(audit);
	checkStrays(audit.viewFiles, explainedBy(audit, only), audit, audit.name);
	if (options.anchor !== undefined && !audit.anchored) audit.problems.push(missingAnchor(options.anchor, runs));
	return { problems: audit.problems, notes: audit.notes, records: audit.records, heads: audit.runHeads };
}

function startAudit(project: string, options: VerifyOptions): Audit {
	const findings: Findings = { problems: [], notes: [] };
	const name = (path: string) => relative(project, path).replaceAll('\\', '/');
	const heads = checkHeadsFile(project, name(headsFile(project)), findings);
	const queue = attempt(findings, 'hil', name(hilDir(project)), () => readQueue(project, findings, name)) ?? NO_QUEUE;
	const viewFiles = attempt(findings, 'stray', name(stateDir(project)), () => listViewFiles(project)) ?? [];
	const found = { viewFiles, explained: new Set<string>(), damaged: new Set<string>(), runHeads: [] };
	return { ...findings, project, options, heads, queue, name, ...found, records: 0, anchored: false };
}

const NO_QUEUE: Queue = { items: new Map() };

function checkRun(audit: Audit, run: string): void {
	const { project, name } = audit;
	const dir = runDir(project, run);
	if (!existsSync(dir)) {
		audit.problems.push({ kind: 'journal', file: name(dir), where: '', ...GONE });
		return;
	}
	const before = audit.problems.length;
	const folder = journalDir(project, run);
	const journal = attempt(audit, 'journal', name(folder), () => checkJournal(folder, audit, name)) ?? UNREADABLE;
	const isSound = audit.problems.length === before;
	audit.records += journal.checked;
	if (journal.head !== null) audit.runHeads.push({ run, ...journal.head });
	if (audit.options.anchor !== undefined) audit.anchored ||= journal.chain.has(audit.options.anchor);
	checkHeads({ id: run, journal }, audit.heads, name(headsFile(project)), audit);
	const plan = planFile(project, run);
	attempt(audit, 'plan', name(plan), () => checkPlan(plan, journal.records, audit, name));
	attempt(audit, 'brief', name(briefsDir(dir)), () => checkBriefs(dir, journal.records, audit, name));
	if (isSound) compare(audit, { id: run, records: journal.records, readAgain: () => recordsIn(folder) });
	else {
		audit.damaged.add(run);
		audit.notes.push({ file: name(dir), message: 'its journal is damaged: queue and views were not compared with it' });
	}
}

const UNREADABLE: CheckedJournal = { records: [], chain: new Map(), head: null, checked: 0 };

const GONE = {
	what: 'the run is missing',
	remedy: 'check the run id with `sdd audit list`, or restore the folder from a backup',
} as const;

function recordsIn(folder: string): readonly JournalRecord[] {
	const records: JournalRecord[] = [];
	walkJournal(folder, { hasher: sha256, onRecord: (record) => records.push(record) });
	return records;
}

function compare(audit: Audit, run: ViewedRun): void {
	checkQueue(audit.project, run, audit.queue, audit, audit.name);
	if (audit.options.views === undefined) return;
	for (const path of checkViews(run, audit.options.views, audit, audit.name)) audit.explained.add(path);
}

function explainedBy({ project, options, explained, damaged }: Audit, only: string | null): Explained {
	const views = options.views === undefined ? null : explained;
	return { project, views, damaged, only, whyUnknown: options.whyUnknown ?? (() => null) };
}

/** Heads and items of runs that are not there. */
function checkNamedRuns(audit: Audit): void {
	const { project, name } = audit;
	const seen = new Set<string>();
	for (const [i, { run }] of audit.heads.lines.entries()) {
		if (seen.has(run)) continue;
		seen.add(run);
		if (!isGone(project, run)) continue;
		const what = `run ${run} is missing, though a head of its journal was noted`;
		audit.problems.push({
			kind: 'head',
			file: name(headsFile(project)),
			where: `line ${i + 1}`,
			what,
			remedy: GONE.remedy,
		});
	}
	for (const { id, run_id } of audit.queue.items.values()) {
		if (!isGone(project, run_id)) continue;
		const what = `the run ${run_id} that asked it is missing`;
		audit.problems.push({ kind: 'hil', file: name(itemFile(project, id)), where: '', what, remedy: RESTORE_RUN });
	}
}

function missingAnchor(anchor: string, runs: readonly string[]) {
	const where = runs.length === 1 ? `run ${runs[0]}` : `the ${runs.length} runs here`;
	return {
		kind: 'anchor',
		file: '',
		where: '',
		what: `no record of ${where} has the hash ${anchor}: the journal was cut off or written anew since it was noted`,
		remedy: 'check that the anchor is complete and belongs to this project; if so, restore the run from a backup',
	} as const;
}
