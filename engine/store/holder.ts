/** Which process is at work on a run. Looks only: what takes the lock is `run-lock.ts`, which costs more to load. */
import { hostname } from 'node:os';
import { holderFile } from './layout.ts';
import { isAlive, startOf } from './process-alive.ts';
import { textOfFile } from './read-file.ts';
import type { Holder } from './run-lock.ts';

/** The process that holds the lock for this run, if it lives on this machine. */
export function processAtWork(project: string, run: string): number | null {
	try {
		const holder = JSON.parse(textOfFile(holderFile(project))) as Holder;
		const { pid, host, start } = holder;
		return holder.run === run && host === hostname() && isAlive(pid) && startOf(pid) === start ? pid : null;
	} catch {
		return null;
	}
}
