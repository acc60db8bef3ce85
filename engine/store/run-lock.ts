/**
 * The polite lock of a run: "another `sdd run` is at work here".
 *
 * It only keeps people from starting two runs by mistake. What keeps two processes from acting on one run is the fencing
 * in the journal: proper-lockfile can have two holders after a stop, a blocked event loop or a jump of the clock.
 */
import { existsSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { lock } from 'proper-lockfile';
import { SddError } from '../errors.ts';
import { putIfAbsent, replaceFile } from './durable.ts';
import { storeError } from './fs-errors.ts';
import { holderFile, lockDir } from './layout.ts';
import { isAlive, startOf } from './process-alive.ts';
import { textOfFile } from './read-file.ts';
import { ensureState } from './state-folder.ts';

/** Who holds the lock. */
export interface Holder {
	readonly pid: number;
	readonly host: string;
	/** When that process started, to tell it from a later one with the same id; null where the system does not say. */
	readonly start: string | null;
	readonly run: string | null;
	readonly since: string;
}

/** A lock that is held; it is also released when the process exits. */
export interface RunLock {
	readonly holder: Holder;
	/** The run that a process was at work on which died without giving the lock back; its agents may still be there. */
	readonly left: string | null;
	release(): Promise<void>;
}

/** Takes the lock of the project, at once from a dead process, or throws RUN_LOCKED; `onLost` says that it slipped away. */
export async function acquireRunLock(
	project: string,
	options: { readonly onLost: (reason: Error) => void; readonly run?: string; readonly now?: Date },
): Promise<RunLock> {
	ensureState(project);
	surviveFileSizeLimits();
	const before = readHolder(project);
	if (existsSync(lockDir(project)) && isRunning(before)) throw locked(before);
	const holder = ourselves(options.run ?? null, options.now ?? new Date());
	const unlock = await takeLock(project, holder, options.onLost);
	const left = before !== null && isDead(before) ? (before.run ?? null) : null;
	return { holder, left, release: () => release(project, holder, unlock) };
}

/** proper-lockfile has SIGXFSZ end the process; with a listener of our own, a write beyond `ulimit -f` fails as an error. */
function surviveFileSizeLimits(): void {
	if (!process.listeners('SIGXFSZ').includes(leaveAlone)) process.on('SIGXFSZ', leaveAlone);
}

function leaveAlone(): void {}

/** How long a lock of which we cannot tell whether its holder lives is honoured. */
const STALE_MS = 10_000;

function readHolder(project: string): Holder | null {
	return readHolderFile(holderFile(project));
}

function readHolderFile(path: string): Holder | null {
	try {
		const holder = JSON.parse(textOfFile(path)) as Holder | null;
		return typeof holder?.pid === 'number' && typeof holder.host === 'string' ? holder : null;
	} catch {
		return null;
	}
}

function isRunning(holder: Holder | null): holder is Holder {
	return holder !== null && holder.host === hostname() && !isDead(holder);
}

function isDead(holder: Holder): boolean {
	if (holder.host !== hostname()) return false;
	return !isAlive(holder.pid) || (holder.start !== null && startOf(holder.pid) !== holder.start);
}

function ourselves(run: string | null, now: Date): Holder {
	return { pid: process.pid, host: hostname(), start: startOf(process.pid), run, since: now.toISOString() };
}

type Unlock = () => Promise<void>;

async function takeLock(project: string, holder: Holder, onLost: (reason: Error) => void): Promise<Unlock> {
	const unlock = (await tryLock(project, onLost)) ?? (await takeOver(project, holder, onLost));
	if (unlock === null) throw locked(readHolder(project));
	replaceFile(holderFile(project), `${JSON.stringify(holder)}\n`);
	return unlock;
}

async function tryLock(project: string, onLost: (reason: Error) => void): Promise<Unlock | null> {
	const path = lockDir(project);
	try {
		return await lock(path, { lockfilePath: path, realpath: false, stale: STALE_MS, onCompromised: onLost });
	} catch (error) {
		if ((error as { code?: unknown }).code === 'ELOCKED') return null;
		throw storeError(error, path, 'lock');
	}
}

/** Of several processes that find the same dead holder only one may remove its lock: the one that makes this file. */
async function takeOver(project: string, holder: Holder, onLost: (reason: Error) => void): Promise<Unlock | null> {
	const claim = `${lockDir(project)}.takeover`;
	if (!claimTakeOver(claim, holder)) return null;
	try {
		const dead = readHolder(project);
		if (dead === null || !isDead(dead)) return null;
		rmSync(lockDir(project), { recursive: true, force: true });
		const unlock = await tryLock(project, onLost);
		if (unlock !== null) replaceFile(holderFile(project), `${JSON.stringify(holder)}\n`);
		return unlock;
	} finally {
		rmSync(claim, { recursive: true, force: true });
	}
}

/** A claim whose maker was killed over it is removed; one that may be somebody's holds for as long as a lock does. */
function claimTakeOver(claim: string, holder: Holder): boolean {
	const text = `${JSON.stringify(holder)}\n`;
	if (putIfAbsent(claim, text)) return true;
	const left = statSync(claim, { throwIfNoEntry: false });
	const claimer = readHolderFile(claim);
	const isOld = left !== undefined && Date.now() - left.mtimeMs > STALE_MS;
	if (!isOld && (claimer === null || !isDead(claimer))) return false;
	rmSync(claim, { recursive: true, force: true });
	return putIfAbsent(claim, text);
}

async function release(project: string, holder: Holder, unlock: Unlock): Promise<void> {
	const present = readHolder(project);
	if (present?.pid === holder.pid && present.since === holder.since) rmSync(holderFile(project), { force: true });
	// A lock that was lost meanwhile belongs to somebody else: there is nothing to give back.
	await unlock().catch(() => {});
}

function locked(holder: Holder | null): SddError {
	const who = holder === null ? 'another process' : `process ${holder.pid} on ${holder.host}, since ${holder.since}`;
	const run = typeof holder?.run === 'string' ? ` (run ${holder.run})` : '';
	return new SddError(
		'RUN_LOCKED',
		`another sdd run is at work in this project: ${who}${run}`,
		holder === null
			? `wait until it ends; if there is none, the lock frees itself within ${STALE_MS / 1000} seconds`
			: `wait until it ends, or end it with \`kill ${holder.pid}\` and run the command again`,
	);
}
