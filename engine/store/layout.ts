/**
 * Where everything lies below `.ai-sdd/state`. Pure: nothing here touches the disk.
 *
 * Every id is checked before it becomes part of a path, so that none can lead outside.
 */
import { join } from 'node:path';
import { SddError } from '../errors.ts';

/** What a task id looks like. */
export const TASK_ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;
/** What a run id looks like. */
export const RUN_ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;
/** What the id of a HIL item looks like; it may be built from a run's and a task's id. */
export const ITEM_ID = /^[a-z0-9][a-z0-9_-]{0,191}$/;

/** `.ai-sdd`, the folder of everything that sdd keeps in a project. */
export function sddDir(project: string): string {
	return join(project, '.ai-sdd');
}

/** `.ai-sdd/state`, never under version control. */
export function stateDir(project: string): string {
	return join(sddDir(project), 'state');
}

/** The folder of all runs. */
export function runsDir(project: string): string {
	return join(stateDir(project), 'runs');
}

/** The folder of one run. */
export function runDir(project: string, run: string): string {
	return join(runsDir(project), checked('run', RUN_ID, run));
}

/** The journal of a run: a folder of segments. */
export function journalDir(project: string, run: string): string {
	return join(runDir(project, run), 'journal');
}

/** The plan that a run froze. */
export function planFile(project: string, run: string): string {
	return join(runDir(project, run), 'plan.json');
}

/** The briefs of a run; takes the run's folder. */
export function briefsDir(run: string): string {
	return join(run, 'briefs');
}

/** One brief, named by its sha256; takes the run's folder. */
export function briefFile(run: string, sha256: string): string {
	return join(briefsDir(run), `${checked('brief', /^[0-9a-f]{64}$/, sha256)}.md`);
}

/** The view of the newest run. */
export function workflowStateFile(project: string): string {
	return join(stateDir(project), 'workflow-state.json');
}

/** An overlay's log of a task in the newest run, as `review-logs/<task-id>.json`. */
export function logFile(project: string, folder: string, task: string): string {
	return join(logDir(project, folder), `${checked('task', TASK_ID, task)}.json`);
}

/** The same log of an earlier run. */
export function archivedLogFile(project: string, folder: string, run: string, task: string): string {
	const archive = join(logDir(project, folder), 'archive', checked('run', RUN_ID, run));
	return join(archive, `${checked('task', TASK_ID, task)}.json`);
}

/** The folder of an overlay's logs. */
export function logDir(project: string, folder: string): string {
	return join(stateDir(project), checked('log folder', LOG_FOLDER, folder));
}

/** The report on a task. */
export function reportFile(project: string, task: string): string {
	return join(stateDir(project), 'reports', `${checked('task', TASK_ID, task)}.md`);
}

/** The queue of questions to people. */
export function hilDir(project: string): string {
	return join(stateDir(project), 'hil');
}

/** The view of an item. */
export function itemFile(project: string, item: string): string {
	return join(hilDir(project), `${checked('item', ITEM_ID, item)}.json`);
}

/** The one resolution of an item, created exclusively. */
export function resolutionFile(project: string, item: string): string {
	return join(hilDir(project), `${checked('item', ITEM_ID, item)}.resolution.json`);
}

/** Says that a person has seen the item. */
export function ackFile(project: string, item: string): string {
	return join(hilDir(project), `${checked('item', ITEM_ID, item)}.ack.json`);
}

/** The heads of the journals, the anchors of an audit. */
export function headsFile(project: string): string {
	return join(stateDir(project), 'heads.ndjson');
}

/** The polite lock of a run: a folder while it is held. */
export function lockDir(project: string): string {
	return join(stateDir(project), 'run.lock');
}

/** Who holds that lock. */
export function holderFile(project: string): string {
	return join(stateDir(project), 'run.holder.json');
}

/** Not the names of the store's own folders: an overlay's logs must not mix with them. */
export const LOG_FOLDER = /^(?!(?:runs|hil|reports)$)[a-z0-9][a-z0-9_-]{0,63}$/;

function checked(what: string, pattern: RegExp, id: string): string {
	if (pattern.test(id)) return id;
	throw new SddError(
		'STORE_BAD_ID',
		`"${printable(id)}" is not a valid ${what} id`,
		'ids are lower-case letters, digits, "-" and "_", beginning with a letter or digit, 64 characters at most',
	);
}

function printable(id: string): string {
	return JSON.stringify(id.slice(0, 80)).slice(1, -1);
}
