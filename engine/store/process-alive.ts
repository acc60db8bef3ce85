/** Whether a process is still the one that left its id behind. */
import { readFileSync } from 'node:fs';
import { errnoOf } from './fs-errors.ts';

/** Whether a process with this id runs on this machine. */
export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
	} catch (error) {
		return errnoOf(error) === 'EPERM';
	}
	// One that was killed still takes signals until its parent asks how it ended: in a container perhaps never.
	return !/^[ZX]$/.test(fieldsOf(pid)[0] ?? '');
}

/** When the process started, in the kernel's ticks: tells a reused id apart. Null where the system does not say. */
export function startOf(pid: number): string | null {
	return fieldsOf(pid)[START] ?? null;
}

/** Where the 22nd field of `/proc/<pid>/stat` stands among those after the name; the first of them is the state. */
const START = 19;

function fieldsOf(pid: number): readonly string[] {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
		// The name, in parentheses, may itself hold spaces and parentheses.
		return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	} catch {
		return [];
	}
}
