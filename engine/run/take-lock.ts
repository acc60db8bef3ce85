/** Takes the lock of a project for a run. */
import { acquireRunLock, type RunLock } from '../store/run-lock.ts';

/**
 * Takes the lock, or throws RUN_LOCKED. What a killed `sdd` left running is ended before anything else works on the same
 * files, whichever run it was for.
 */
export async function takeLock(project: string, options: Parameters<typeof acquireRunLock>[1]): Promise<RunLock> {
	const lock = await acquireRunLock(project, options);
	if (lock.left === null) return lock;
	const { endOrphans } = await import('../process/orphans.ts');
	await endOrphans({ SDD_RUN_ID: lock.left });
	return lock;
}
