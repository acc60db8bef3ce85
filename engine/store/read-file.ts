/** Reads files of the state. Anybody may have put something else there: a pipe, say, would be waited for without end. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/** The bytes of a regular file; throws a file error for all else, and never waits. */
export function bytesOfFile(path: string): Buffer {
	const fd = openFile(path);
	try {
		return readFileSync(fd);
	} finally {
		closeSync(fd);
	}
}

/** The same as text. */
export function textOfFile(path: string): string {
	return bytesOfFile(path).toString('utf8');
}

/** Opens a regular file for reading; the same holds. */
export function openFile(path: string): number {
	// Where the system does not know the flag, it has no such pipes either.
	const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
	const stat = fstatSync(fd);
	// A folder is refused by reading it.
	if (stat.isFile() || stat.isDirectory()) return fd;
	closeSync(fd);
	throw Object.assign(new Error(`EFTYPE: not a regular file, open '${path}'`), { code: 'EFTYPE', syscall: 'open' });
}
