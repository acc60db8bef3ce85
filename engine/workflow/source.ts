/** Where things came from: loaded files, places in them, and problems that point at such places. */
import type { Diagnostic } from '../diagnostic.ts';
import type { ErrorCode } from '../errors.ts';

/** A YAML file as it was read. */
export interface Source {
	/** As the user would name it. */
	readonly file: string;
	readonly text: string;
	readonly value: unknown;
}

/** Keys and indexes from the top of a document down to a value. */
export type Pointer = readonly (string | number)[];

/** Whether there is something at a pointer; only own properties count. */
export function isThere(value: unknown, pointer: Pointer): boolean {
	let at = value;
	for (const step of pointer) {
		if (at === null || typeof at !== 'object' || !Object.hasOwn(at, step)) return false;
		at = (at as { readonly [key: string]: unknown })[step];
	}
	return true;
}

/** A spot in a file; its line and column are worked out only if somebody must be told. */
export interface Place {
	readonly source: Source;
	readonly pointer: Pointer;
	/** Whether the key itself is meant, or the value behind it. */
	readonly on: 'key' | 'value';
	/** Characters into the value, where a part of it is meant. */
	readonly offset?: number;
}

/** A problem whose line and column are not worked out yet. */
export interface Problem {
	readonly code: ErrorCode;
	readonly severity: 'error' | 'warning';
	readonly message: string;
	readonly remedy: string;
	/** What was meant, instead of the remedy; worked out only if somebody must be told. */
	readonly guess?: (() => string | undefined) | undefined;
	readonly place: Place;
	/** The task it is about, where the place does not show it: a mistake in the defaults. */
	readonly task?: string;
}

/** Collects problems while checks go on: nothing stops at the first. */
export interface Findings {
	readonly problems: Problem[];
	/** Those that already know their place, or concern a file as a whole. */
	readonly diagnostics: Diagnostic[];
}

/** What a problem says, wherever it is. */
export interface Complaint {
	readonly code: ErrorCode;
	readonly message: string;
	readonly remedy: string;
	/** See `Problem`. */
	readonly guess?: () => string | undefined;
}

/** A problem at a place that forbids going on. */
export function errorAt(place: Place, complaint: Complaint): Problem {
	return { ...complaint, severity: 'error', place };
}

/** A problem at a place that only deserves a word. */
export function warningAt(place: Place, complaint: Complaint): Problem {
	return { ...complaint, severity: 'warning', place };
}

/** Whether anything found forbids going on. */
export function hasErrors(findings: Findings): boolean {
	const isError = (one: { readonly severity: string }) => one.severity === 'error';
	return findings.problems.some(isError) || findings.diagnostics.some(isError);
}

/** A diagnostic about a file as a whole. */
export function aboutFile(code: ErrorCode, file: string, message: string, remedy: string): Diagnostic {
	return { code, severity: 'error', message, file, line: 0, column: 0, remedy };
}
