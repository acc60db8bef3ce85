/** Finds what no journal explains: logs that somebody put there, and whatever names a run that is gone. */
import { type Dirent, existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isTempName } from './durable.ts';
import { errnoOf, storeError } from './fs-errors.ts';
import { LOG_FOLDER, RUN_ID, runDir, stateDir, workflowStateFile } from './layout.ts';
import { textOfFile } from './read-file.ts';
import type { Findings, Problem } from './verification.ts';

/** What is known once the journals were read. */
export interface Explained {
	readonly project: string;
	/** Where views of sound journals lie; null where views were not asked for. */
	readonly views: ReadonlySet<string> | null;
	/** Runs whose journal is damaged: what they explain cannot be told. */
	readonly damaged: ReadonlySet<string>;
	/** Only what names this run is looked at; null for everything. */
	readonly only: string | null;
	/** Why the views of a run's overlay cannot be told; null if they can. */
	readonly whyUnknown: (run: string, overlay: string) => string | null;
}

/**
 * The view of the state and all that lies in folders of logs, those of earlier runs included. Which overlays there were
 * is not known here: every folder counts that an overlay could name. List them before the journals are read: then each
 * one was written after its record, and a run that is under way explains it as well.
 */
export function listViewFiles(project: string): readonly string[] {
	const state = stateDir(project);
	const folders = entriesIn(state).filter((entry) => LOG_FOLDER.test(entry.name) && isFolder(state, entry));
	const view = workflowStateFile(project);
	return [...(existsSync(view) ? [view] : []), ...folders.flatMap(({ name }) => filesIn(join(state, name), 'archive'))];
}

/** Names every file that no journal explains. */
export function checkStrays(
	files: readonly string[],
	known: Explained,
	findings: Findings,
	name: (path: string) => string,
): void {
	for (const path of files) {
		if (known.views?.has(path) === true) continue;
		if (basename(path).startsWith('.')) {
			const message = isTempName(basename(path)) ? LEFT_BEHIND : NOT_OURS;
			if (known.only === null) findings.notes.push({ file: name(path), message });
		} else checkStray(path, known, findings, name(path));
	}
}

const LEFT_BEHIND = 'a process that was killed left this file behind; it can be removed';
const NOT_OURS = 'this is not a log, and sdd did not write it';

/** Whether a run that something names is not there, or cannot be one. */
export function isGone(project: string, run: string): boolean {
	return !RUN_ID.test(run) || !existsSync(runDir(project, run));
}

/** What to do about something whose run is gone. */
export const RESTORE_RUN =
	'restore the folder of the run from a backup; if it was moved away on purpose, move this file away as well';

function checkStray(path: string, known: Explained, findings: Findings, file: string): void {
	const about = subjectOf(path);
	if (about === 'gone' || (known.only !== null && about?.run !== known.only)) return;
	if (about === null) {
		if (known.views === null) return;
		findings.problems.push(stray(file, 'no run wrote this: it does not say of which run it is', PLANTED));
	} else if (isGone(known.project, about.run)) {
		findings.problems.push(stray(file, `it is of run ${about.run}, which is missing`, RESTORE_RUN));
	} else if (known.views !== null && !known.damaged.has(about.run)) {
		const why = known.whyUnknown(about.run, about.overlay);
		if (why === null)
			findings.problems.push(stray(file, `the journal of run ${about.run} does not explain it`, PLANTED));
		else findings.notes.push({ file, message: `it was not compared with the journal: ${why}` });
	}
}

const PLANTED =
	'somebody put it there, or copied it: find out who, and move it out of .ai-sdd/state; `--repair` leaves it alone';

function stray(file: string, what: string, remedy: string): Problem {
	return { kind: 'stray', file, where: '', what, remedy };
}

/** What a file says it is about; null where it says nothing that makes sense. */
function subjectOf(path: string): { readonly run: string; readonly overlay: string } | null | 'gone' {
	try {
		const { run_id: run, overlay } = JSON.parse(textOfFile(path)) as { run_id?: unknown; overlay?: unknown };
		return typeof run === 'string' ? { run, overlay: typeof overlay === 'string' ? overlay : '' } : null;
	} catch (error) {
		// A run that began meanwhile puts the logs of others aside.
		return errnoOf(error) === 'ENOENT' ? 'gone' : null;
	}
}

/** The entries of a folder; with `archive`, those of the folders below it instead of it. */
function filesIn(folder: string, archive?: string): readonly string[] {
	return entriesIn(folder).flatMap((entry) => {
		const path = join(folder, entry.name);
		if (entry.name !== archive || !isFolder(folder, entry)) return [path];
		return entriesIn(path).flatMap((run) =>
			isFolder(path, run) ? filesIn(join(path, run.name)) : [join(path, run.name)],
		);
	});
}

function entriesIn(folder: string): readonly Dirent[] {
	try {
		return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
	} catch (error) {
		if (errnoOf(error) === 'ENOENT') return [];
		throw storeError(error, folder, 'read the folder');
	}
}

function isFolder(parent: string, entry: Dirent): boolean {
	if (!entry.isSymbolicLink()) return entry.isDirectory();
	return statSync(join(parent, entry.name), { throwIfNoEntry: false })?.isDirectory() === true;
}
