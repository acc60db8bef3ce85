/** Keeps the logs of runs apart: those of the run that is worked on lie in their first place, all others in `archive/<run-id>/`. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OverlayLog } from '../contract.ts';
import { SddError } from '../errors.ts';
import type { Plan } from '../plan/plan.ts';
import { fsyncFolder, sweepTemps } from '../store/durable.ts';
import { archivedLogFile, logDir, logFile, RUN_ID } from '../store/layout.ts';
import { textOfFile } from '../store/read-file.ts';

/** Puts the logs of other runs aside, and those of this one back into their place. */
export function putOtherLogsAside(
	project: string,
	run: string,
	plan: Plan,
	logOf: (overlay: string) => OverlayLog | null,
): void {
	const logs = plan.tasks.flatMap((task) => task.overlays.flatMap(({ name }) => logOf(name) ?? []));
	for (const folder of new Set(logs.map((log) => log.folder))) {
		putAside(project, run, folder);
		bringBack(project, run, folder);
		sweep(logDir(project, folder));
	}
}

function putAside(project: string, run: string, folder: string): void {
	for (const task of tasksIn(logDir(project, folder))) {
		const path = logFile(project, folder, task);
		const owner = ownerOf(path);
		if (owner !== run) move(path, archivedLogFile(project, folder, owner, task));
	}
}

/** A run that is gone on with after another one: a log in both places would be one too many. */
function bringBack(project: string, run: string, folder: string): void {
	const archive = join(logDir(project, folder), 'archive', run);
	for (const task of tasksIn(archive)) {
		const path = logFile(project, folder, task);
		if (!existsSync(path)) move(archivedLogFile(project, folder, run, task), path);
	}
	try {
		rmdirSync(archive);
	} catch {
		// It is not there, or something is left in it.
	}
}

/** Whatever keeps a log from being written is told of when it is: not here. */
function sweep(folder: string): void {
	try {
		sweepTemps(folder);
	} catch (error) {
		if (!(error instanceof SddError)) throw error;
	}
}

function move(from: string, to: string): void {
	mkdirSync(dirname(to), { recursive: true });
	renameSync(from, to);
	fsyncFolder(dirname(to));
}

function tasksIn(folder: string): readonly string[] {
	try {
		return readdirSync(folder).flatMap((name) => /^([a-z0-9][a-z0-9_-]{0,63})\.json$/.exec(name)?.[1] ?? []);
	} catch {
		return [];
	}
}

function ownerOf(path: string): string {
	try {
		const { run_id } = JSON.parse(textOfFile(path)) as { run_id?: unknown };
		return typeof run_id === 'string' && RUN_ID.test(run_id) ? run_id : 'unknown';
	} catch {
		return 'unknown';
	}
}
