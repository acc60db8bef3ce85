/** Whether a process is still the one that left its id behind. */
import { readFileSync } from 'node:fs';
import { errnoOf } from './fs-errors.ts';

/** Whether a process with this id exists on this machine. */
export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return errnoOf(error) === 'EPERM';
	}
}

/** When the process started, in the kernel's ticks: tells a reused id apart. Null where the system does not say. */
export function startOf(pid: number): string | null {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
		// The name, in parentheses, may itself hold spaces and parentheses; the 22nd field is the 20th after it.
		return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
	} catch {
		return null;
	}
}
