/** The state folder itself: made on first use, git-ignored, one sub-folder per run. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SddError } from '../errors.ts';
import { mkdirDurable, replaceFile } from './durable.ts';
import { errnoOf, storeError } from './fs-errors.ts';
import { RUN_ID, runsDir, sddDir, stateDir } from './layout.ts';
import { textOfFile } from './read-file.ts';

/** Creates `.ai-sdd/state`, and sees to it that git ignores it; what a person wrote is kept. */
export function ensureState(project: string): void {
	assertFolder(sddDir(project));
	assertFolder(stateDir(project));
	mkdirDurable(stateDir(project));
	ignoreState(join(sddDir(project), '.gitignore'));
}

/** A new run id: sorts by time, as in `20261118-084002-0ga1b2`, and after the run before it, though the clock went back. */
export function newRunId(now: Date, before?: string): string {
	const id = idAt(now);
	if (before === undefined || id > before) return id;
	const [, year, month, day, hour, minute, second, millis = ''] = RUN_TIME.exec(before) ?? [];
	const then = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) + Number.parseInt(millis, 36);
	return Number.isNaN(then) ? id : idAt(new Date(then + 1));
}

const RUN_TIME = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-([0-9a-z]{2})/;

function idAt(now: Date): string {
	const [date = '', time = ''] = now.toISOString().split('T');
	const millis = now.getUTCMilliseconds().toString(36).padStart(2, '0');
	const random = Math.random().toString(36).slice(2, 6).padEnd(4, '0');
	return `${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}-${millis}${random}`;
}

/** The ids of all runs, the newest last. */
export function listRuns(project: string): readonly string[] {
	try {
		return readdirSync(runsDir(project))
			.filter((name) => RUN_ID.test(name))
			.sort();
	} catch (error) {
		if (errnoOf(error) === 'ENOENT') return [];
		throw storeError(error, runsDir(project), 'list the runs in');
	}
}

function assertFolder(path: string): void {
	const stat = statSync(path, { throwIfNoEntry: false });
	if (stat === undefined || stat.isDirectory()) return;
	throw new SddError(
		'STORE_NOT_A_FOLDER',
		`${path} is a file, but sdd needs a folder there`,
		'move that file away, or run sdd in another project',
	);
}

function ignoreState(path: string): void {
	try {
		const text = existsSync(path) ? textOfFile(path) : '';
		if (text.split(/\r?\n/).some((line) => IGNORES_STATE.test(line))) return;
		replaceFile(path, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}state/\n`);
	} catch (error) {
		throw storeError(error, path, 'write');
	}
}

const IGNORES_STATE = /^(?:\/?state\/?(?:\*\*?)?|\*)\s*$/;
