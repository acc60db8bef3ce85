/** Checks journals against the heads that were noted of them: what shows a cut tail, or a chain that was all recomputed. */
import type { JournalRecord } from '../events.ts';
import { type Heads, readHeads } from './heads.ts';
import { attempt, type Findings, type NotedHead, type Problem } from './verification.ts';
import type { CheckedJournal } from './verify-journal.ts';

/** Reads heads.ndjson for an audit: damage becomes a problem, a torn last line a note. */
export function checkHeadsFile(project: string, file: string, findings: Findings): Heads {
	const heads = attempt(findings, 'head', file, () => readHeads(project));
	if (heads === null) return UNREADABLE;
	if (heads.torn > 0) findings.notes.push({ file, message: `the last line was torn: ${heads.torn} bytes dropped` });
	if (heads.damage !== null) {
		const { line, reason } = heads.damage;
		findings.problems.push(problem(file, `line ${line}`, reason, 'restore heads.ndjson from a backup'));
	}
	return heads;
}

/** Nothing can be told by them, so that no run is said to lack one. */
const UNREADABLE: Heads = { lines: [], torn: 0, damage: { line: 1, reason: 'it cannot be read' } };

/** Every head that was noted of a run must be in its chain, and a finished run must have one that covers its end. */
export function checkHeads(
	run: { readonly id: string; readonly journal: CheckedJournal },
	heads: Heads,
	file: string,
	findings: Findings,
): void {
	const noted = heads.lines.flatMap((head, i): NotedHead[] => (head.run === run.id ? [{ line: i + 1, head }] : []));
	for (const entry of noted) {
		const what = wrongWith(entry, run.journal);
		if (what !== null) findings.problems.push(problem(file, `line ${entry.line}`, `run ${run.id}: ${what}`, COMPARE));
	}
	const end = run.journal.records.at(-1);
	if (end?.kind !== 'run_finished' || heads.damage !== null) return;
	if (!noted.some(({ head }) => covers(head.head, end, run.journal))) {
		findings.problems.push(
			problem(file, '', `run ${run.id} has finished, but no head of its journal was noted`, NOTE_AGAIN),
		);
	}
}

const COMPARE = 'restore the journal from a backup: a copy that ends in the noted head is the right one';
const NOTE_AGAIN =
	'if the process was killed at that moment, `sdd run` notes it again; otherwise restore heads.ndjson from a backup';

function wrongWith({ head }: NotedHead, journal: CheckedJournal): string | null {
	const seq = journal.chain.get(head.head);
	if (seq === head.seq) return null;
	if (seq !== undefined) return `the noted head is record ${seq}, not ${head.seq}`;
	const last = journal.head?.seq ?? 0;
	if (last < head.seq)
		return `the tail of the journal was cut off: it ends with record ${last}, its noted head is ${head.seq}`;
	return `record ${head.seq} is not the one that was noted: the journal was written anew`;
}

function covers(hash: string, end: JournalRecord, journal: CheckedJournal): boolean {
	const seq = journal.chain.get(hash);
	return seq !== undefined && seq >= end.seq;
}

function problem(file: string, where: string, what: string, remedy: string): Problem {
	return { kind: 'head', file, where, what, remedy };
}
