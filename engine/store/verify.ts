/**
 * The audit of what is stored: journals against their hashes and noted heads, files against the journals.
 *
 *   journal ─ every byte, every link      heads, anchor ─ is it all there, and the same as before?
 *   plan, briefs ─ by their sha256        queue, views  ─ do they say what the journal says?
 */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import type { Heads } from './heads.ts';
import { headsFile, itemFile, journalDir, planFile, runDir } from './layout.ts';
import { listRuns } from './state-folder.ts';
import type { Findings, RunHead, Verification } from './verification.ts';
import { checkBriefs, checkPlan } from './verify-files.ts';
import { checkHeads, checkHeadsFile } from './verify-heads.ts';
import { checkJournal } from './verify-journal.ts';
import { checkQueue, type Queue, readQueue } from './verify-queue.ts';
import { checkViews, type ViewsOf } from './verify-views.ts';

/** What to hold the store against besides itself. */
export interface VerifyOptions {
	/** The hash of a record, kept elsewhere: it must still be in a journal. */
	readonly anchor?: string;
	/** The views that follow from a run's records; without it no view is compared. */
	readonly views?: ViewsOf;
}

/** Checks one run. */
export function verifyRun(project: string, run: string, options: VerifyOptions = {}): Verification {
	return verify(project, [run], options);
}

/** Checks all runs, and that none is missing. */
export function verifyAll(project: string, options: VerifyOptions = {}): Verification {
	const runs = listRuns(project);
	return verify(project, runs, options, (audit) => checkStrangers(audit, runs));
}

interface Audit extends Findings {
	readonly project: string;
	readonly options: VerifyOptions;
	readonly heads: Heads;
	readonly queue: Queue;
	readonly name: (path: string) => string;
	readonly runHeads: RunHead[];
	records: number;
	anchored: boolean;
}

function verify(
	project: string,
	runs: readonly string[],
	options: VerifyOptions,
	more: (audit: Audit) => void = () => {},
): Verification {
	const audit = startAudit(project, options);
	for (const run of runs) checkRun(audit, run);
	more(audit);
	if (options.anchor !== undefined && !audit.anchored) audit.problems.push(missingAnchor(options.anchor, runs));
	return { problems: audit.problems, notes: audit.notes, records: audit.records, heads: audit.runHeads };
}

function startAudit(project: string, options: VerifyOptions): Audit {
	const findings: Findings = { problems: [], notes: [] };
	const name = (path: string) => relative(project, path).replaceAll('\\', '/');
	const heads = checkHeadsFile(project, name(headsFile(project)), findings);
	const queue = readQueue(project, findings, name);
	return { ...findings, project, options, heads, queue, name, runHeads: [], records: 0, anchored: false };
}

function checkRun(audit: Audit, run: string): void {
	const { project, name } = audit;
	const dir = runDir(project, run);
	if (!existsSync(dir)) {
		audit.problems.push({ kind: 'journal', file: name(dir), where: '', ...GONE });
		return;
	}
	const before = audit.problems.length;
	const journal = checkJournal(journalDir(project, run), audit, name);
	const isSound = audit.problems.length === before;
	audit.records += journal.checked;
	if (journal.head !== null) audit.runHeads.push({ run, ...journal.head });
	if (audit.options.anchor !== undefined) audit.anchored ||= journal.chain.has(audit.options.anchor);
	checkHeads({ id: run, journal }, audit.heads, name(headsFile(project)), audit);
	checkPlan(planFile(project, run), journal.records, audit, name);
	checkBriefs(dir, journal.records, audit, name);
	if (isSound) compare(audit, { id: run, records: journal.records });
	else
		audit.notes.push({ file: name(dir), message: 'its journal is damaged: queue and views were not compared with it' });
}

const GONE = {
	what: 'the run is missing',
	remedy: 'check the run id with `sdd audit list`, or restore the folder from a backup',
} as const;

function compare(audit: Audit, run: Parameters<typeof checkViews>[0]): void {
	checkQueue(audit.project, run, audit.queue, audit, audit.name);
	if (audit.options.views !== undefined) checkViews(run, audit.options.views, audit, audit.name);
}

/** Heads and items of runs that are not there. */
function checkStrangers(audit: Audit, runs: readonly string[]): void {
	const { project, name } = audit;
	for (const [i, { run }] of audit.heads.lines.entries()) {
		if (runs.includes(run) || audit.heads.lines.findIndex((line) => line.run === run) !== i) continue;
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
		if (!runs.includes(run_id))
			audit.notes.push({ file: name(itemFile(project, id)), message: `its run ${run_id} is missing` });
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
