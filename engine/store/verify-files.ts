/** Checks what lies beside a journal and is named in it by its sha256: the frozen plan and the briefs. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { JournalRecord } from '../events.ts';
import { storeError } from './fs-errors.ts';
import { sha256 } from './hash.ts';
import { briefFile, briefsDir } from './layout.ts';
import { bytesOfFile } from './read-file.ts';
import type { Findings } from './verification.ts';

/** The frozen plan must be the one the run started with: its sha256 is that of the file's bytes. */
export function checkPlan(
	path: string,
	records: readonly JournalRecord[],
	findings: Findings,
	name: (path: string) => string,
): void {
	const started = records.find((record) => record.kind === 'run_started');
	if (started === undefined) return;
	const problem = { kind: 'plan', file: name(path), where: '', remedy: 'restore the file from a backup' } as const;
	if (!existsSync(path)) findings.problems.push({ ...problem, what: 'the plan of the run is missing' });
	else if (sha256(read(path)) !== started.plan) {
		findings.problems.push({ ...problem, what: 'the plan was changed: it is not the one the run started with' });
	}
}

/** Every brief must be what its name says, and every one the journal names must be there. */
export function checkBriefs(
	runDir: string,
	records: readonly JournalRecord[],
	findings: Findings,
	name: (path: string) => string,
): void {
	const there = briefsIn(runDir);
	for (const path of there) {
		if (`${sha256(read(path))}.md` !== basename(path)) findings.problems.push(briefProblem(name(path), CHANGED));
	}
	const kept = new Set(there);
	for (const digest of briefsNamed(records)) {
		const path = briefFile(runDir, digest);
		if (!kept.has(path))
			findings.problems.push(briefProblem(name(path), 'the journal names this brief, but it is missing'));
	}
}

const CHANGED = 'the brief was changed: its sha256 is no longer its name';

function briefProblem(file: string, what: string) {
	return { kind: 'brief', file, where: '', what, remedy: 'restore the file from a backup' } as const;
}

function briefsIn(runDir: string): readonly string[] {
	const dir = briefsDir(runDir);
	if (!existsSync(dir)) return [];
	try {
		return readdirSync(dir)
			.filter((file) => file.endsWith('.md'))
			.sort()
			.map((file) => join(dir, file));
	} catch (error) {
		throw storeError(error, dir, 'read the folder');
	}
}

function briefsNamed(records: readonly JournalRecord[]): ReadonlySet<string> {
	const digests = new Set<string>();
	for (const record of records) {
		const digest = briefOf(record);
		if (digest !== undefined && SHA256.test(digest)) digests.add(digest);
	}
	return digests;
}

const SHA256 = /^[0-9a-f]{64}$/;

function briefOf(record: JournalRecord): string | undefined {
	switch (record.kind) {
		case 'attempt_finished':
		case 'attempt_failed':
			return record.brief;
		case 'answered':
			return record.answer.promptSha256;
		default:
			return undefined;
	}
}

function read(path: string): Buffer {
	try {
		return bytesOfFile(path);
	} catch (error) {
		throw storeError(error, path, 'read');
	}
}
