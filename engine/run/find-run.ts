/** Finds runs on the disk without opening them. */
import { closeSync, readSync } from 'node:fs';
import { SddError } from '../errors.ts';
import type { JournalRecord } from '../events.ts';
import { journalDir, workflowStateFile } from '../store/layout.ts';
import { openFile } from '../store/read-file.ts';
import { segmentPath } from '../store/segments.ts';
import { listRuns } from '../store/state-folder.ts';

/** How a run began. */
export type RunStart = Extract<JournalRecord, { kind: 'run_started' }>;

/** The newest run of a workflow file, or null. Only the newest counts: a run that a later one replaced is over. */
export function newestRunOf(project: string, file: string): RunStart | null {
	for (const run of [...listRuns(project)].reverse()) {
		const start = peekRun(project, run);
		if (start?.file === file) return start;
	}
	return null;
}

/** The workflow file of the newest run, relative to the project; null where there is no run. */
export function newestRunFile(project: string): string | null {
	for (const run of [...listRuns(project)].reverse()) {
		const start = peekRun(project, run);
		if (start !== null) return start.file;
	}
	return null;
}

/** How a run began, from the head of its journal; null where it never did (killed before the first event). */
export function peekRun(project: string, run: string): RunStart | null {
	for (const line of firstLines(segmentPath(journalDir(project, run), 1))) {
		try {
			const record = JSON.parse(line) as JournalRecord;
			if (record.kind === 'run_started') return record;
		} catch {
			return null;
		}
	}
	return null;
}

/** The id of a run as a person gave it: whole, or the beginning of just one; the one that was worked on last where they gave none. */
export function runNamed(project: string, given: string | null): string {
	const runs = listRuns(project);
	const found =
		given === null ? lastWorkedOn(project, runs) : runs.filter((run) => run === given || run.startsWith(given));
	if (found.length === 1 && found[0] !== undefined) return found[0];
	if (given !== null && found.includes(given)) return given;
	if (given === null) {
		throw new SddError(
			'RUN_NOT_FOUND',
			`there is no run in ${project} yet`,
			'start one with `sdd run <workflow.yaml>`',
		);
	}
	const many = found.length > 1 ? `${found.length} runs begin with "${given}"` : `there is no run "${given}"`;
	throw new SddError('RUN_NOT_FOUND', many, 'see `sdd runs` for the ids');
}

/** The view of the state names it in its first lines; without one it is the newest. */
function lastWorkedOn(project: string, runs: readonly string[]): readonly string[] {
	const line = firstLines(workflowStateFile(project)).find((text) => text.startsWith('  "run_id": "'));
	const named = /"run_id": "([a-z0-9_-]+)"/.exec(line ?? '')?.[1];
	return named !== undefined && runs.includes(named) ? [named] : newestBegun(project, runs);
}

function newestBegun(project: string, runs: readonly string[]): readonly string[] {
	const newest = runs.findLast((run) => peekRun(project, run) !== null);
	return newest === undefined ? runs.slice(-1) : [newest];
}

/** The lines in the first part of a file; the run's first event is the second of them. */
function firstLines(path: string): readonly string[] {
	try {
		const fd = openFile(path);
		try {
			const buffer = Buffer.allocUnsafe(16 * 1024);
			const length = readSync(fd, buffer, 0, buffer.length, 0);
			return buffer.toString('utf8', 0, length).split('\n').slice(0, -1);
		} finally {
			closeSync(fd);
		}
	} catch {
		return [];
	}
}
