/** What the tests of audits share: a project with one finished run, and what an audit says of it, in short. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { RunEvent } from '../../engine/events.ts';
import { putBrief } from '../../engine/store/blobs.ts';
import { replaceFile } from '../../engine/store/durable.ts';
import { sha256 } from '../../engine/store/hash.ts';
import { appendHead } from '../../engine/store/heads.ts';
import { publishItem, resolveItem } from '../../engine/store/hil-store.ts';
import { openJournal } from '../../engine/store/journal.ts';
import { journalDir, planFile, runDir } from '../../engine/store/layout.ts';
import { ensureState } from '../../engine/store/state-folder.ts';
import type { Verification } from '../../engine/store/verification.ts';
import { decision, itemOf, runStarted, steppingClock } from './rig.ts';

/** The one run. */
export const RUN = 'run-1';
const PLAN = '{"tasks":[]}\n';
/** What its coder was told. */
export const BRIEF = 'Implement it.\n';
/** Where things lie, as an audit names them. */
export const STATE = '.ai-sdd/state';
export const JOURNAL = `${STATE}/runs/${RUN}/journal`;

const ATTEMPT = { task: 'implement', attempt: 1 } as const;
/** Where its question was asked. */
export const HOOK = { ...ATTEMPT, hook: 'before', overlay: 'hil' } as const;

function events(brief: string): readonly RunEvent[] {
	const output = { text: '', bytes: 0, sha256: sha256('') };
	return [
		runStarted(RUN, sha256(PLAN)),
		{ kind: 'hil_opened', ...HOOK, question: 'q', item: itemOf('hil-1') },
		{ kind: 'hil_resolved', task: 'implement', item: 'hil-1', resolution: decision('approve') },
		{ kind: 'attempt_finished', ...ATTEMPT, agent: 'dev', output, artifacts: [], ms: 1, brief },
		{ kind: 'run_finished', outcome: 'completed' },
	];
}

/** Makes the folder a project with one finished run to which nothing was done. */
export async function finishedRun(project: string): Promise<string> {
	ensureState(project);
	mkdirSync(runDir(project, RUN), { recursive: true });
	replaceFile(planFile(project, RUN), PLAN);
	publishItem(project, itemOf('hil-1'));
	resolveItem(project, 'hil-1', decision('approve'));
	await record(project, events(putBrief(runDir(project, RUN), BRIEF)), 'finished');
	return project;
}

/** Appends events to a journal, and notes its head if told in which state. */
export async function record(project: string, list: readonly RunEvent[], state?: 'finished' | 'paused', run = RUN) {
	const { writer } = openJournal(journalDir(project, run), { version: '0.1.0', now: steppingClock() });
	await writer.append(list);
	await writer.close();
	const { seq, hash: head, at } = writer.head();
	if (state !== undefined) appendHead(project, { run, seq, head, at, state });
	return writer.head();
}

/** Problems in short: kind, file and place, what. */
export function problemsOf({ problems }: Verification): readonly string[] {
	for (const problem of problems) expect(problem.remedy).not.toBe('');
	return problems.map(({ kind, file, where, what }) => `${kind} ${file}${where === '' ? '' : `, ${where}`}: ${what}`);
}

/** Notes in short. */
export function notesOf({ notes }: Verification): readonly string[] {
	return notes.map(({ file, message }) => `${file}: ${message}`);
}

/** Changes the text of a file. */
export function edit(path: string, change: (text: string) => string): void {
	writeFileSync(path, change(readFileSync(path, 'utf8')));
}
