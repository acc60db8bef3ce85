/** Finds out whether another `sdd run` was quicker, while this one read its files and had no lock yet. */
import { SddError } from '../engine/errors.ts';
import { newestRunOf } from '../engine/run/find-run.ts';
import { isKnownToBeOver } from '../engine/run/open-run.ts';

/** What a command found before it held the lock. */
export interface Seen {
	readonly project: string;
	/** The workflow file, relative to the project. */
	readonly file: string;
	/** The newest run of that file; null where there was none. */
	readonly newest: string | null;
	/** Whether that run is not over, and is what the command is about. */
	readonly isOpen: boolean;
}

/** What is there now. */
export function lookAtRuns(project: string, file: string): Seen {
	return { project, file, newest: newestRunOf(project, file)?.run ?? null, isOpen: false };
}

/** Throws RUN_OVERTAKEN unless all is as it was seen. A run that is over must stay over, and one that waits must not be forgotten. */
export function assertNotOvertaken({ project, file, newest, isOpen }: Seen): void {
	const now = newestRunOf(project, file)?.run ?? null;
	if (now !== newest) throw overtaken(`began the run ${now}`);
	if (isOpen && newest !== null && isKnownToBeOver(project, newest)) throw overtaken(`ended the run ${newest}`);
}

function overtaken(what: string): SddError {
	return new SddError(
		'RUN_OVERTAKEN',
		`another sdd run ${what} while this one was starting; nothing was done`,
		'run the command again: it starts from what there is now',
	);
}
