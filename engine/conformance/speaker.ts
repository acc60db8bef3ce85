/** An overlay under test, wherever it lives: the suite speaks to all in the same way. */
import type { Hook, Moment } from '../contract.ts';
import type { Consulted } from '../hosts/host.ts';
import type { Violation } from '../hosts/protocol.ts';
import type { JsonObject } from '../json.ts';
import type { CheckName, Problem } from './checks.ts';

/** How long an overlay may take. */
export interface Limits {
	readonly startMs: number;
	readonly callMs: number;
	readonly graceMs: number;
}

/** What it says of itself. */
export interface About {
	readonly name: string;
	readonly hooks: readonly Hook[];
	/** The JSON Schema of its options. */
	readonly options: JsonObject;
}

export type Heard =
	| Extract<Consulted, { ok: true }>
	| (Extract<Consulted, { ok: false }> & { readonly violation?: Violation });

/** One that was started and said what it is. */
export interface Speaker {
	readonly about: About;
	consult(hook: Hook, moment: Moment, options: JsonObject): Promise<Heard>;
	/** Consults it and takes that back at once; says what is wrong with how it ends. */
	cancel(hook: Hook, moment: Moment, options: JsonObject): Promise<Problem | null>;
	/** Consults it at something that it does not declare; says what is wrong with its answer. */
	overreach(moment: Moment, options: JsonObject): Promise<string | null>;
	close(): Promise<void>;
}

export interface Subject {
	readonly place: 'process' | 'module';
	/** A fresh one. */
	open(): Promise<{ readonly ok: true; readonly speaker: Speaker } | { readonly ok: false; readonly problem: Problem }>;
	/** What only processes are held to. */
	readonly trials: { readonly [C in CheckName]?: () => Promise<Problem | null> };
	/** What it printed to stdout so far that is no message. */
	stray(): string | null;
	close(): Promise<void>;
}

/** What it wrote that no overlay may write fails the check that watches for it, whenever it happens. */
export function problemOf(
	heard: { readonly reason: string; readonly violation?: Violation },
	check: CheckName,
	where = '',
): Problem {
	switch (heard.violation) {
		case 'no_message':
		case 'too_long':
			return { check: 'clean_stdout', words: heard.reason };
		case 'answered_twice':
		case 'unknown_request':
			return { check: 'one_answer', words: heard.reason };
		default:
			return { check, words: `${where}${heard.reason}` };
	}
}
