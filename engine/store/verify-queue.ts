/** Checks the queue of questions against the journal: what the run asked, and what was decided. */
import { SddError } from '../errors.ts';
import type { HilItem, HilResolution, JournalRecord } from '../events.ts';
import type { JsonObject } from '../json.ts';
import { canonical } from './canonical.ts';
import { itemDigest, itemIds, readResolution, readView, statusOf } from './hil-store.ts';
import { itemFile, resolutionFile } from './layout.ts';
import { REDACTED } from './redact.ts';
import type { Findings } from './verification.ts';

/** The queue as it lies on the disk, read once for all runs. */
export interface Queue {
	readonly items: ReadonlyMap<string, HilItem>;
}

/** Reads the views of all items; one that cannot be read is a problem. */
export function readQueue(project: string, findings: Findings, name: (path: string) => string): Queue {
	const items = new Map<string, HilItem>();
	for (const id of itemIds(project)) {
		try {
			items.set(id, readView(project, id));
		} catch (error) {
			addProblem(findings, name(itemFile(project, id)), error);
		}
	}
	return { items };
}

/** Compares the items and decisions of one run with its journal. */
export function checkQueue(
	project: string,
	run: { readonly id: string; readonly records: readonly JournalRecord[] },
	queue: Queue,
	findings: Findings,
	name: (path: string) => string,
): void {
	const asked = new Map<string, HilItem>();
	const decided = new Map<string, HilResolution>();
	for (const record of run.records) {
		if (record.kind === 'hil_opened') asked.set(record.item.id, record.item);
		if (record.kind === 'hil_resolved') decided.set(record.item, record.resolution);
	}
	for (const [id, item] of asked) checkView(name(itemFile(project, id)), item, queue.items.get(id), findings);
	const stray = [...queue.items.values()].filter((item) => item.run_id === run.id && !asked.has(item.id));
	for (const item of stray) checkStray(project, item, findings, name);
	for (const [id, item] of asked) {
		checkDecision(project, item, { decided: decided.get(id) ?? null, view: queue.items.get(id) }, findings, name);
	}
}

function checkView(file: string, asked: HilItem, view: HilItem | undefined, findings: Findings): void {
	if (view === undefined)
		findings.notes.push({ file, message: 'the item is not in the queue; `sdd run` puts it there again' });
	else if (itemDigest(view) !== itemDigest(asked)) {
		findings.problems.push(problem(file, 'the question is not the one that the journal holds'));
	}
}

/** The journal comes first, so an item that it does not know was not asked by this run, or its tail was cut. */
function checkStray(project: string, item: HilItem, findings: Findings, name: (path: string) => string): void {
	const file = name(itemFile(project, item.id));
	try {
		const decision = readResolution(project, item.id, item);
		if (decision === null) findings.notes.push({ file, message: 'the journal does not know this item' });
		else findings.problems.push(problem(file, 'the item was decided, but the journal does not know that it was asked'));
	} catch (error) {
		addProblem(findings, name(resolutionFile(project, item.id)), error);
	}
}

/** What the journal, and the view of the item, say was decided. */
interface Told {
	readonly decided: HilResolution | null;
	readonly view: HilItem | undefined;
}

function checkDecision(
	project: string,
	asked: HilItem,
	{ decided, view }: Told,
	findings: Findings,
	name: (path: string) => string,
): void {
	const file = name(resolutionFile(project, asked.id));
	try {
		const there = readResolution(project, asked.id, asked);
		if (there === null) {
			if (decided !== null) findings.notes.push({ file, message: 'the decision is in the journal only' });
		} else if (decided === null) findings.notes.push({ file, message: 'the run has not taken up this decision yet' });
		else if (!isSame(there, decided)) {
			findings.problems.push(problem(file, 'the decision is not the one that the journal holds'));
		}
		if (view !== undefined && !isTrue(view, decided ?? there))
			findings.problems.push(problem(name(itemFile(project, asked.id)), 'it tells of another decision than was made'));
	} catch (error) {
		addProblem(findings, file, error);
	}
}

/** People read in the view what was decided: it may be behind, but must not say anything else. */
function isTrue({ status, resolution }: HilItem, decision: HilResolution | null): boolean {
	if (resolution == null) return status === 'PENDING' || status === 'ACKED';
	return decision !== null && status === statusOf(decision) && isSame(resolution, decision);
}

/**
 * Whether a decision is the one that is known. Whoever decided may not have had the secrets of the run at hand: then the
 * journal lacks a word that stands in the queue.
 */
function isSame(decision: HilResolution, known: HilResolution): boolean {
	const { by, notes, ...rest } = decision;
	return isSameText(by, known.by) && isSameText(notes, known.notes) && textOf(rest) === textOf(withoutWords(known));
}

function withoutWords({ by: _by, notes: _notes, ...rest }: HilResolution): object {
	return rest;
}

function isSameText(text: string | null, known: string | null): boolean {
	if (text === known) return true;
	if (typeof text !== 'string' || known === null || !known.includes(REDACTED)) return false;
	const parts = known.split(REDACTED).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
	return new RegExp(`^${parts.join('[^]+')}$`).test(text);
}

function textOf(value: object): string {
	return canonical(value as JsonObject);
}

function problem(file: string, what: string) {
	return {
		kind: 'hil',
		file,
		where: '',
		what,
		remedy: 'the journal is what counts: restore the file from a backup',
	} as const;
}

function addProblem(findings: Findings, file: string, error: unknown): void {
	if (!(error instanceof SddError) || error.code === 'HIL_NOT_FOUND') throw error;
	findings.problems.push({ kind: 'hil', file, where: '', what: error.message, remedy: error.remedy });
}
