/** What every overlay is held to, in any language: the checks by name, and what each says. */

/** Every check, in the order in which it is made and shown. */
export const CHECKS = {
	starts: 'it starts (a module: it loads), and says in time what it is',
	handshake: 'what it says of itself is whole: protocol, name, hooks',
	options_schema: 'its options are described by a JSON Schema, and options that fit it can be given',
	version: 'a host that speaks only other versions of the protocol is refused with an error',
	verdicts: 'each of its hooks answers every standard moment with a well-formed verdict that the hook takes',
	unknown_hook: 'a hook it does not declare is answered with an error',
	questions: 'its questions come to an end, and one that is answered is not asked again',
	concurrency: 'of several calls at once each gets its answer',
	cancellation: 'a call that is cancelled ends, and the next one is answered',
	clean_stdout: 'nothing but messages goes to stdout',
	one_answer: 'every request is answered once, by its own id',
	shutdown: 'it ends when it is asked to, and leaves nothing running',
	host_gone: 'it ends when its stdin is closed, as when the host was killed',
} as const;

export type CheckName = keyof typeof CHECKS;

/** What is wrong, and which check it fails. */
export interface Problem {
	readonly check: CheckName;
	readonly words: string;
}

/** How a check came out. `words` says what is wrong, or why it was not made; null if there is nothing to say. */
export interface CheckOutcome {
	readonly check: CheckName;
	readonly about: string;
	readonly status: 'passed' | 'failed' | 'skipped';
	readonly words: string | null;
}

/** What the suite found out about an overlay. */
export interface Report {
	/** What it calls itself; null if it never said. */
	readonly name: string | null;
	readonly ok: boolean;
	readonly checks: readonly CheckOutcome[];
}
