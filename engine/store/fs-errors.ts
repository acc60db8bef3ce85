/** Turns what the operating system says into an error that a person can act on. */
import { type ErrorCode, SddError } from '../errors.ts';

/**
 * Makes an SddError of a failed file operation; `doing` completes "cannot …", as in "write the journal".
 * Anything that is not a file error is a bug and is thrown as it is.
 */
export function storeError(error: unknown, path: string, doing: string): SddError {
	if (error instanceof SddError) return error;
	const errno = errnoOf(error);
	if (errno === null) throw error;
	const known = KNOWN[errno] ?? OTHER;
	return new SddError(known.code, `cannot ${doing} ${path}: ${known.says} (${errno})`, known.remedy, { cause: error });
}

/** The errno of a file error (`ENOENT`, `ENOSPC` …), or null where it is none. */
export function errnoOf(error: unknown): string | null {
	if (!(error instanceof Error) || !('code' in error)) return null;
	return typeof error.code === 'string' && 'syscall' in error ? error.code : null;
}

interface Explanation {
	readonly code: ErrorCode;
	readonly says: string;
	readonly remedy: string;
}

const FULL = {
	code: 'STORE_DISK_FULL',
	remedy: 'free some space (or raise the limit), then run the same command again: nothing acknowledged is lost',
} as const;
const DENIED = {
	code: 'STORE_READ_ONLY',
	remedy: 'make .ai-sdd/state writable for this user (ls -ld .ai-sdd .ai-sdd/state), then run the command again',
} as const;
const NO_FOLDER = {
	code: 'STORE_NOT_A_FOLDER',
	says: 'a file is in the way of a folder',
	remedy: 'move that file away: sdd keeps its state in the folder .ai-sdd/state',
} as const;

const BROKEN = {
	code: 'STORE_IO',
	remedy: 'look at the disk and its file system (dmesg, df), then run the command again',
} as const;

const KNOWN: { readonly [errno: string]: Explanation } = {
	ENOSPC: { ...FULL, says: 'no space is left on the disk' },
	EDQUOT: { ...FULL, says: 'the disk quota is used up' },
	EFBIG: { ...FULL, says: 'the file would grow beyond the allowed size' },
	EACCES: { ...DENIED, says: 'permission denied' },
	EPERM: { ...DENIED, says: 'operation not permitted' },
	EROFS: { ...DENIED, says: 'the file system is read-only' },
	ENOTDIR: NO_FOLDER,
	EEXIST: NO_FOLDER,
	EFTYPE: {
		...BROKEN,
		says: 'it is not a regular file',
		remedy: 'move away what lies there, then run the command again',
	},
	ENOENT: {
		...BROKEN,
		says: 'there is no such file or folder',
		remedy: 'check that nobody removed .ai-sdd/state meanwhile',
	},
	EIO: { ...BROKEN, says: 'the disk reported an error' },
	EMFILE: {
		...BROKEN,
		says: 'too many files are open',
		remedy: 'raise the limit (ulimit -n), then run the command again',
	},
};

const OTHER: Explanation = { ...BROKEN, says: 'the operating system refused' };
