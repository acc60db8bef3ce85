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
	OVERLAY_NOT_FOUND: 2,
	OVERLAY_EXISTS: 2,
	// the run: how a task fails
	TASK_STOPPED: 1,
	TASK_ATTEMPTS_USED_UP: 1,
	CHECK_DUPLICATE: 2,
	CHECK_FAILED: 1,
	OUTPUT_MISSING: 1,
	OUTPUT_REFUSED: 1,
	DISK_LOW: 1,
	AGENT_REPLY_TOO_LONG: 1,
	AGENT_READ_ONLY: 1,
	OVERLAY_FAILED_TASK: 1,
	OVERLAY_BROKE_DOWN: 1,
	OVERLAY_TIMEOUT: 1,
	OVERLAY_START: 1,
	OVERLAY_CRASHED: 1,
	OVERLAY_PROTOCOL: 1,
	OVERLAY_BAD_VERDICT: 1,
	OVERLAY_CHANGED: 1,
	OVERLAY_ASKS_FOREVER: 1,
	REVIEW_CONTRACT_VIOLATION: 1,
	REVIEW_HARD_CAP: 1,
	GATE_FORBIDDEN_CHANGE: 1,
	GATE_EVIDENCE_UNREADABLE: 1,
	PAIR_CONTRACT_VIOLATION: 1,
	PAIR_HARD_CAP: 1,
	HIL_REJECTED: 1,
	// the run: what stops the command
	RUN_CHANGED: 2,
	RUN_NOT_FOUND: 2,
	RUN_OVERTAKEN: 1,
	RUN_PLAN_DAMAGED: 1,
	TASK_UNKNOWN: 2,
	HIL_RUN_OVER: 2,
	HIL_BY_AGENT: 2,
	// the run: warnings
	VIEW_NOT_WRITTEN: 1,
	RUN_LOCK_LOST: 1,
	OVERLAY_SKIPPED: 1,
	JOURNAL_TAIL_DROPPED: 1,
	// briefs
	TEMPLATE_INVALID: 2,
	// agents: how an attempt failed, and scripted replies that cannot be used
	AGENT_EXIT: 1,
	AGENT_KILLED: 1,
	AGENT_TIMEOUT: 1,
	AGENT_FLOOD: 1,
	AGENT_CANCELLED: 1,
	AGENT_NOT_FOUND: 1,
	AGENT_NOT_EXECUTABLE: 1,
	AGENT_NOT_STARTED: 1,
	AGENT_SCRIPT: 1,
	SCRIPT_INVALID: 2,
	// the store: state on disk
	STORE_DISK_FULL: 1,
	STORE_READ_ONLY: 1,
	STORE_NOT_A_FOLDER: 2,
	STORE_IO: 1,
	STORE_SYNC_FAILED: 1,
	STORE_FENCED: 1,
	STORE_GONE: 1,
	STORE_RECORD_TOO_LARGE: 1,
	STORE_JOURNAL_DAMAGED: 1,
	STORE_HEADS_DAMAGED: 1,
	STORE_BRIEF_DAMAGED: 1,
	STORE_HIL_DAMAGED: 1,
	STORE_BAD_ID: 2,
	RUN_LOCKED: 1,
	HIL_NOT_FOUND: 2,
	HIL_ALREADY_RESOLVED: 1,
	HIL_CHOICE_NOT_OFFERED: 2,
	// the workflow and the files beside it
	WORKFLOW_NOT_FOUND: 2,
	WORKFLOW_NOT_A_FILE: 2,
	WORKFLOW_UNREADABLE: 2,
	WORKFLOW_EMPTY: 2,
	WORKFLOW_BINARY: 2,
	WORKFLOW_TOO_LARGE: 2,
	WORKFLOW_VERSION: 2,
	WORKFLOW_UNKNOWN_KEY: 2,
	WORKFLOW_MISSING_KEY: 2,
	WORKFLOW_TYPE: 2,
	WORKFLOW_VALUE: 2,
	WORKFLOW_BAD_ID: 2,
	WORKFLOW_MORE_PROBLEMS: 2,
	YAML_SYNTAX: 2,
	YAML_DUPLICATE_KEY: 2,
	YAML_ALIAS: 2,
	YAML_FORBIDDEN_KEY: 2,
	AGENT_UNKNOWN: 2,
	AGENT_UNKNOWN_ADAPTER: 2,
	AGENT_EXTENDS_UNKNOWN: 2,
	AGENT_EXTENDS_CYCLE: 2,
	AGENT_WITHOUT_RUN: 2,
	AGENT_DUPLICATE: 2,
	AGENT_FILE: 2,
	AGENT_WITHOUT_REPLIES: 2,
	DEPENDENCY_UNKNOWN: 2,
	DEPENDENCY_CYCLE: 2,
	EXPRESSION_INVALID: 2,
	EXPRESSION_NOT_UPSTREAM: 2,
	PATH_OUTSIDE_PROJECT: 2,
	PATH_RESERVED: 2,
	OUTPUT_SHARED: 2,
	INPUT_MISSING: 2,
	OVERLAY_UNKNOWN: 2,
	OVERLAY_OPTION: 2,
	OVERLAY_CONFLICT: 2,
	OVERLAY_MODULE: 2,
	OVERLAY_UNTRUSTED: 2,
	TEMPLATE_NOT_FOUND: 2,
	TEMPLATE_UNKNOWN: 2,
	STUBS_NOT_FOUND: 2,
	CONSTITUTION_MALFORMED: 2,
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
