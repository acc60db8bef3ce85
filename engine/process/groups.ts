/** Process groups: which of ours are running, and how they are ended. Loads no child_process, so that it is cheap. */
import { readdirSync, readFileSync } from 'node:fs';

/** How long a group gets between SIGTERM and SIGKILL. */
export const GRACE_MS = 2000;

/** The running groups, by their leaders' pids. */
const running = new Set<number>();
let guarded = false;

/** Remembers a group until it is forgotten; should this process exit before that, the group is killed. */
export function rememberGroup(pgid: number): void {
	running.add(pgid);
	if (guarded) return;
	guarded = true;
	process.once('exit', () => {
		for (const group of running) signalGroup(group, 'SIGKILL');
	});
}

/** Forgets a group that has ended. */
export function forgetGroup(pgid: number): void {
	running.delete(pgid);
}

/** Ends one group: SIGTERM, the grace, SIGKILL. Resolves when it is gone. */
export async function endGroup(pgid: number, graceMs: number): Promise<void> {
	if (!signalGroup(pgid, 'SIGTERM')) return;
	if (await isGone(() => groupIsAlive(pgid), graceMs)) return;
	signalGroup(pgid, 'SIGKILL');
	await isGone(() => groupIsAlive(pgid), KILL_WAIT_MS);
}

/** Sends a signal to a group; false when there is no such group any more. */
export function signalGroup(pgid: number, signal: NodeJS.Signals | 0): boolean {
	try {
		process.kill(-pgid, signal);
		return true;
	} catch {
		return false;
	}
}

/** Waits until `alive` says no, looking again in growing steps; false when it still says yes after `ms`. */
export async function isGone(alive: () => boolean, ms: number): Promise<boolean> {
	const deadline = performance.now() + ms;
	for (let pause = 2; alive(); pause = Math.min(pause * 2, 50)) {
		const left = deadline - performance.now();
		if (left <= 0) return false;
		await new Promise((resolve) => setTimeout(resolve, Math.min(pause, left)));
	}
	return true;
}

// SIGKILL cannot be refused, but a process in an uninterruptible wait takes its time: it must not hold up the run.
const KILL_WAIT_MS = 1000;

/** Whether anything in a group still runs. */
export function groupIsAlive(pgid: number): boolean {
	if (!signalGroup(pgid, 0)) return false;
	return process.platform !== 'linux' || hasLivingMember(pgid);
}

/** A zombie still takes signals; where init does not reap, asking by signal alone would wait for ever. */
function hasLivingMember(pgid: number): boolean {
	const pids = pidsOf();
	// Where nobody can tell (too many files are open), the signal's word is taken: the group is waited for, then killed.
	if (pids === null) return true;
	for (const pid of pids) {
		if (!/^\d+$/.test(pid)) continue;
		const stat = statOf(pid);
		if (stat !== null && stat.pgid === pgid && stat.state !== 'Z' && stat.state !== 'X') return true;
	}
	return false;
}

function pidsOf(): readonly string[] | null {
	try {
		return readdirSync('/proc');
	} catch {
		return null;
	}
}

/** State, parent and group of a process, from `/proc/<pid>/stat`; null when it is gone. */
export function statOf(
	pid: number | string,
): { readonly state: string; readonly ppid: number; readonly pgid: number } | null {
	try {
		const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
		// The name stands in parentheses and may itself hold spaces and parentheses.
		const [state = '', ppid, pgid] = text.slice(text.lastIndexOf(')') + 2).split(' ');
		return { state, ppid: Number(ppid), pgid: Number(pgid) };
	} catch {
		return null;
	}
}
