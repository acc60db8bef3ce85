/** What an audit reports, and how its checks report it. */
import { SddError } from '../errors.ts';
import type { HeadLine } from './heads.ts';

/** What a problem is about. A `stale` or `missing` view can be written anew; a `stray` file is one that no journal explains. */
export type ProblemKind =
	| 'journal'
	| 'head'
	| 'anchor'
	| 'plan'
	| 'brief'
	| 'hil'
	| 'view'
	| 'stale'
	| 'missing'
	| 'stray';

/** Something that is not as it was recorded. */
export interface Problem {
	readonly kind: ProblemKind;
	/** Relative to the project. */
	readonly file: string;
	/** The place in the file, as `line 3 (record 7)`; empty where it is the file as such. */
	readonly where: string;
	readonly what: string;
	readonly remedy: string;
}

/** Something odd but harmless. */
export interface AuditNote {
	readonly file: string;
	readonly message: string;
}

/** The last record of a run's journal: what to keep elsewhere, to prove later that nothing was cut off. */
export interface RunHead {
	readonly run: string;
	readonly seq: number;
	readonly hash: string;
	readonly at: string;
}

/** The outcome of an audit. */
export interface Verification {
	readonly problems: readonly Problem[];
	readonly notes: readonly AuditNote[];
	/** How many records were checked. */
	readonly records: number;
	/** Per run that has a record, the head of its journal. */
	readonly heads: readonly RunHead[];
}

/** Where the checks of one audit put what they find. */
export interface Findings {
	readonly problems: Problem[];
	readonly notes: AuditNote[];
}

/** Does one part of an audit; what cannot be read there is a problem among the others, and null is returned. */
export function attempt<T>(findings: Findings, kind: ProblemKind, file: string, act: () => T): T | null {
	try {
		return act();
	} catch (error) {
		if (!(error instanceof SddError)) throw error;
		findings.problems.push({ kind, file, where: '', what: error.message, remedy: error.remedy });
		return null;
	}
}

/** A head that was noted, with the line of heads.ndjson that notes it. */
export interface NotedHead {
	readonly line: number;
	readonly head: HeadLine;
}
