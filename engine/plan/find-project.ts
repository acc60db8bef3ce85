/** Finds the root of the project somebody stands in. */
import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The nearest folder at or above `start` that has `.ai-sdd/` or `.git`; without one, `start` itself. */
export function findProject(start: string): string {
	const from = resolve(start);
	for (let folder = from; ; folder = dirname(folder)) {
		if (isProject(folder)) return folder;
		if (dirname(folder) === folder) return from;
	}
}

/** `.git` is a file in a linked worktree; `.ai-sdd` as a file is a mistake that must not hide the project above. */
function isProject(folder: string): boolean {
	const settings = statSync(join(folder, '.ai-sdd'), { throwIfNoEntry: false });
	return settings?.isDirectory() === true || statSync(join(folder, '.git'), { throwIfNoEntry: false }) !== undefined;
}
