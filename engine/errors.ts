/**
 * Every error code, once. `docs/errors.md` documents each; a test holds the two together.
 *
 * Three kinds of wrong are never mixed: the file or the usage is wrong (exit 2, diagnostics); the work went wrong
 * (events and verdicts, exit 1); the program is wrong (a thrown error that is no SddError, exit 70).
 */

/** What `sdd` exits with. */
export const EXIT = {
	done: 0,
	failed: 1,
	usage: 2,
	waiting: 3,
	paused: 4,
	bug: 70,
	interrupted: 130,
} as const;

/** Code → the exit code it leads to when it ends the command. */
export const ERROR_CODES = {
	// the command line
	CLI_USAGE: 2,
	CLI_UNKNOWN_COMMAND: 2,
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** An expected failure that ends a command: what happened, where, and what to do. */
export class SddError extends Error {
	readonly code: ErrorCode;
	readonly remedy: string;

	constructor(code: ErrorCode, message: string, remedy: string, options?: { readonly cause?: unknown }) {
		super(message, options);
		this.name = 'SddError';
		this.code = code;
		this.remedy = remedy;
	}

	/** What the command exits with when this error ends it. */
	get exit(): number {
		return ERROR_CODES[this.code];
	}
}
