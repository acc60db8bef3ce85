/**
 * The heads of journals, noted when a run ends or pauses.
 *
 * A hash chain alone cannot show that its tail was cut off or that all of it was recomputed; a head kept elsewhere can.
 * The lines are chained themselves, so that removing one shows.
 */
import { existsSync, truncateSync } from 'node:fs';
import { SddError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { canonical } from './canonical.ts';
import { appendDurable } from './durable.ts';
import { storeError } from './fs-errors.ts';
import { sha256 } from './hash.ts';
import { headsFile, journalDir } from './layout.ts';
import { textOfFile } from './read-file.ts';
import { readSegment } from './read-journal.ts';
import { listSegments, segmentPath, ZERO_HASH } from './segments.ts';

/** What is noted of a journal. */
export interface HeadNote {
	readonly run: string;
	readonly seq: number;
	readonly head: string;
	readonly at: string;
	readonly state: 'finished' | 'paused';
}

/** A line of heads.ndjson. */
export interface HeadLine extends HeadNote {
	readonly prev: string;
	readonly hash: string;
}

/** All that heads.ndjson says. */
export interface Heads {
	readonly lines: readonly HeadLine[];
	/** Bytes of a torn last line, which is ignored. */
	readonly torn: number;
	/** The first line that is not sound, or null; lines from there on are not returned. */
	readonly damage: { readonly line: number; readonly reason: string } | null;
}

/** Notes the head of a journal, durably; refuses to build on a damaged file. */
export function appendHead(project: string, note: HeadNote): HeadLine {
	const path = headsFile(project);
	const { lines, torn, damage } = readHeads(project);
	if (damage !== null) throw damaged(path, damage);
	if (torn > 0) cut(path, torn);
	const { run, seq, head, at, state } = note;
	const body = { prev: lines.at(-1)?.hash ?? ZERO_HASH, run, seq, head, at, state };
	const line: HeadLine = { ...body, hash: hashOf(body) };
	appendDurable(path, `${canonical(line as unknown as JsonObject)}\n`);
	return line;
}

/** Throws unless the file of heads is sound: whoever cannot note the end of their work had better not begin it. */
export function assertHeadsSound(project: string): void {
	const { damage } = readHeads(project);
	if (damage !== null) throw damaged(headsFile(project), damage);
}

/**
 * Throws where the newest head that was noted of a run is not in its journal. Going on from a cut tail would bury what was there,
 * and make a backup worthless: the next segment says from which record on all else is void.
 */
export function assertTailThere(project: string, run: string): void {
	const noted = readHeads(project).lines.findLast((line) => line.run === run);
	if (noted === undefined) return;
	const dir = journalDir(project, run);
	const end = `,"hash":"${noted.head}"}\n`;
	if (listSegments(dir).some((segment) => readSegment(segmentPath(dir, segment)).includes(end))) return;
	throw new SddError(
		'STORE_JOURNAL_DAMAGED',
		`the journal is damaged: ${dir}: record ${noted.seq}, noted at ${noted.at}, is not there: the tail was cut off, or written anew`,
		'see what is wrong with `sdd audit verify`, then restore the run from a backup, or start over with `sdd run --fresh`',
	);
}

/** Reads heads.ndjson; damage is reported, not thrown, as an audit must go on. */
export function readHeads(project: string): Heads {
	const path = headsFile(project);
	const text = readText(path);
	const rows = text.split('\n');
	const torn = Buffer.byteLength(rows.pop() ?? '');
	const lines: HeadLine[] = [];
	const known = new Set([ZERO_HASH]);
	for (const [i, row] of rows.entries()) {
		const line = parseLine(row);
		const reason = line === null ? 'is not a head' : wrongWith(line, row, known);
		if (line === null || reason !== null) return { lines, torn, damage: { line: i + 1, reason: reason ?? '' } };
		known.add(line.hash);
		lines.push(line);
	}
	return { lines, torn, damage: null };
}

function readText(path: string): string {
	try {
		return existsSync(path) ? textOfFile(path) : '';
	} catch (error) {
		throw storeError(error, path, 'read');
	}
}

function parseLine(row: string): HeadLine | null {
	try {
		const line = JSON.parse(row) as HeadLine | null;
		return typeof line?.run === 'string' && typeof line.seq === 'number' && typeof line.head === 'string' ? line : null;
	} catch {
		return null;
	}
}

/** Two runs that end at the same moment may both follow the same line: any earlier one will do. */
function wrongWith(line: HeadLine, row: string, known: ReadonlySet<string>): string | null {
	const { hash, ...body } = line;
	if (hash !== hashOf(body) || canonical(line as unknown as JsonObject) !== row)
		return 'its hash does not fit its content';
	if (known.has(hash)) return 'it stands there twice';
	return known.has(line.prev) ? null : 'it continues from a line that is not there';
}

function hashOf(body: Omit<HeadLine, 'hash'>): string {
	return sha256(canonical(body as unknown as JsonObject));
}

function cut(path: string, torn: number): void {
	try {
		truncateSync(path, Buffer.byteLength(readText(path)) - torn);
	} catch (error) {
		throw storeError(error, path, 'repair');
	}
}

function damaged(path: string, damage: { readonly line: number; readonly reason: string }): SddError {
	return new SddError(
		'STORE_HEADS_DAMAGED',
		`the heads are damaged: ${path}, line ${damage.line}: ${damage.reason}`,
		'restore the file from a backup; without one, move it away: `sdd audit verify` tells which runs are sound, and `--repair` notes their heads anew',
	);
}
