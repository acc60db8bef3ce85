/** Finds processes that left their group (daemons) or outlived a killed `sdd`, by what is in their environment. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { GRACE_MS, isGone, statOf } from './groups.ts';

/** Environment variables that only processes of one run carry: `{ SDD_RUN_ID: … }`. */
export interface OrphanMarker {
	readonly [name: string]: string;
}

/**
 * Ends this user's processes whose environment carries every variable of the marker; returns their pids.
 * Never ends this process or one it descends from. Does nothing where there is no /proc.
 */
export async function endOrphans(marker: OrphanMarker, graceMs: number = GRACE_MS): Promise<readonly number[]> {
	return endCarriers(marker, graceMs, () => true);
}

/**
 * As `endOrphans`, for what one process started that has just ended, `leader`. Made to be called after each of thousands of
 * processes: it looks only at pids given out since then, and at none where there were none.
 */
export async function endStrays(marker: OrphanMarker, leader: number, graceMs: number): Promise<readonly number[]> {
	const last = process.platform === 'linux' ? lastPid() : leader;
	if (last === leader) return [];
	// Pids start again from below when they run out.
	return endCarriers(marker, graceMs, (pid) => pid > leader || last < leader);
}

/** The pid that was given out last; 0 where the kernel does not tell. */
function lastPid(): number {
	try {
		return Number(readFileSync('/proc/loadavg', 'latin1').trimEnd().split(' ').at(-1));
	} catch {
		return 0;
	}
}

async function endCarriers(
	marker: OrphanMarker,
	graceMs: number,
	isCandidate: (pid: number) => boolean,
): Promise<readonly number[]> {
	const wanted = Object.entries(marker).map(([name, value]) => `\0${name}=${value}\0`);
	// An empty marker would match everything.
	if (process.platform !== 'linux' || wanted.length === 0) return [];
	const spared = selfAndAncestors();
	// Looked for again and again: what is being ended may still start something.
	const find = () => carriers(wanted, (pid) => isCandidate(pid) && !spared.has(pid));
	const found = new Set(find());
	if (found.size === 0) return [];
	signalAll(found, 'SIGTERM');
	if (!(await isGone(() => find().length > 0, graceMs))) {
		await isGone(() => signalAll(remember(found, find()), 'SIGKILL'), 1000);
	}
	return [...found];
}

function remember(all: Set<number>, more: readonly number[]): readonly number[] {
	for (const pid of more) all.add(pid);
	return more;
}

function selfAndAncestors(): ReadonlySet<number> {
	const pids = new Set<number>();
	for (let pid = process.pid; pid > 0 && !pids.has(pid); pid = statOf(pid)?.ppid ?? 0) pids.add(pid);
	return pids;
}

function carriers(wanted: readonly string[], isCandidate: (pid: number) => boolean): readonly number[] {
	const pids: number[] = [];
	for (const name of readdirSync('/proc')) {
		const pid = Number(name);
		if (Number.isInteger(pid) && isCandidate(pid) && isOurs(pid) && carries(pid, wanted)) pids.push(pid);
	}
	return pids;
}

function isOurs(pid: number): boolean {
	try {
		return statSync(`/proc/${pid}`).uid === process.getuid?.();
	} catch {
		return false;
	}
}

/** False as well for a process that is gone or a zombie: their environment is empty. */
function carries(pid: number, wanted: readonly string[]): boolean {
	try {
		const environment = `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}\0`;
		return wanted.every((entry) => environment.includes(entry));
	} catch {
		return false;
	}
}

/** Sends a signal to each one; says whether there was any. */
function signalAll(pids: Iterable<number>, signal: NodeJS.Signals): boolean {
	let any = false;
	for (const pid of pids) {
		any = true;
		try {
			process.kill(pid, signal);
		} catch {
			// It ended between the look and the signal.
		}
	}
	return any;
}
