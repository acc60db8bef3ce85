/** The state of a run: what the fold of its journal gives, and nothing else. */
import type { Answer, CheckResult, Finding, Fixer, Hook, Past, Question, Verdict } from '../contract.ts';
import type { Digest, HilItem, HilResolution, TaskStatus, Worker } from '../events.ts';
import type { JsonObject } from '../json.ts';

export interface TaskState {
	readonly status: TaskStatus;
	readonly startedAt: string | null;
	readonly endedAt: string | null;
	/** Why it failed or was skipped. */
	readonly reason: string | null;
	/** The overlay whose breakdown ended it: what was not judged can be gone on with once that is mended. */
	readonly fault: string | null;
	/** Whether it was left out on purpose (`when`), so that its dependents may go on. */
	readonly omitted: boolean;
	/** The attempt at hand; 0 before the first. */
	readonly attempt: number;
	/** Attempts that no person made: what `max_attempts` counts. */
	readonly machineAttempts: number;
	/** Crashes in a row: what `retry` counts. */
	readonly crashes: number;
	readonly phase: Phase;
	readonly work: Work | null;
	readonly judging: Judging | null;
	/** Overlays' additions to the brief. */
	readonly amendments: readonly string[];
	/** Checks that failed on the attempt before this one. */
	readonly failedChecks: readonly CheckResult[];
	/** What the last judgement asked to change. */
	readonly feedback: Feedback | null;
	/** What each overlay has said and recorded so far, in order. */
	readonly past: { readonly [overlay: string]: readonly Past[] };
	/** The content that was approved when the task completed. */
	readonly artifacts: readonly Digest[];
}

/** Where in its life a running task is. */
export type Phase =
	| { readonly kind: 'before' }
	/** `by` is at work; after a crash of the process the same attempt is begun again. */
	| { readonly kind: 'working'; readonly by: Worker }
	| { readonly kind: 'worked' }
	| { readonly kind: 'crashed'; readonly code: string; readonly reason: string }
	| { readonly kind: 'retrying'; readonly due: string }
	/** Approved content changed: what lies there now has to be judged. */
	| { readonly kind: 'voided' };

/** What the attempt at hand has brought. */
export interface Work {
	/** Who made it; null where a person did. */
	readonly agent: string | null;
	readonly text: string;
	readonly artifacts: readonly Digest[];
	readonly checks: readonly CheckResult[] | null;
	/** Git trees before the first attempt and after this one. */
	readonly baseTree: string | null;
	readonly tree: string | null;
	/** Listings of what overlays watch, by their sha256, before the first attempt and after this one. */
	readonly baseWatched: string | null;
	readonly watched: string | null;
}

/** One hook of one attempt being judged. */
export interface Judging {
	readonly hook: Hook;
	readonly attempt: number;
	readonly by: { readonly [overlay: string]: Consultation };
}

/** What one overlay said at one hook of one attempt, and what it was answered. */
export interface Consultation {
	readonly rounds: number;
	readonly verdict: Verdict;
	/** It broke down instead of giving a verdict. */
	readonly isFault: boolean;
	readonly answers: { readonly [question: string]: Answer };
	/** HIL items opened for its questions, by question id. */
	readonly items: { readonly [question: string]: string };
}

export interface Feedback {
	readonly overlay: string;
	readonly text: string;
	readonly attempt: number;
	/** The problems that were listed besides. */
	readonly findings: readonly Finding[];
	/** Who repairs it, when not the task's own agent. */
	readonly fixers: readonly Fixer[];
	/** What people said when they were asked about that attempt. */
	readonly guidance: readonly { readonly from: string; readonly text: string }[];
}

/** A person's open question, found by the item's id. */
export interface OpenItem {
	readonly task: string;
	readonly hook: Hook;
	readonly attempt: number;
	readonly overlay: string;
	readonly question: string;
	/** The item as it was asked; null once it is decided. */
	readonly item: HilItem | null;
	readonly resolution: HilResolution | null;
}

export interface RunState {
	readonly run: string;
	readonly workflow: string;
	readonly file: string;
	readonly project: string;
	readonly plan: string;
	readonly startedAt: string;
	readonly status: 'running' | 'paused' | 'finished';
	readonly outcome: 'completed' | 'failed' | 'cancelled' | null;
	readonly pausedFor: string | null;
	/** Hash of the run's first event: where every log's own chain begins. */
	readonly genesis: string;
	readonly tasks: Map<string, TaskState>;
	readonly items: Map<string, OpenItem>;
	readonly warnings: number;
}

const NO_RECORDS: { readonly [overlay: string]: readonly Past[] } = Object.freeze({});
const NOTHING: readonly never[] = Object.freeze([]);

/** A task of which nothing is known yet. */
export const PENDING_TASK: TaskState = Object.freeze({
	status: 'PENDING',
	startedAt: null,
	endedAt: null,
	reason: null,
	fault: null,
	omitted: false,
	attempt: 0,
	machineAttempts: 0,
	crashes: 0,
	phase: Object.freeze({ kind: 'before' } as const),
	work: null,
	judging: null,
	amendments: NOTHING,
	failedChecks: NOTHING,
	feedback: null,
	past: NO_RECORDS,
	artifacts: NOTHING,
});

/** Whether nothing more will happen to a task by itself. */
export function isEnded(status: TaskStatus): boolean {
	return status === 'COMPLETED' || status === 'FAILED' || status === 'SKIPPED' || status === 'CANCELLED';
}

/** The records an overlay's verdicts carried for a task, in order. */
export function recordsOf(task: TaskState, overlay: string): readonly JsonObject[] {
	return (task.past[overlay] ?? []).flatMap((past) => (past.record === null ? [] : [past.record]));
}

/** How many attempts an overlay (or, without a name, any of them) has judged at a hook, leaving out the one at hand. */
export function attemptsJudged(task: TaskState, hook: Hook, attempt: number, overlay?: string): number {
	const names = overlay === undefined ? Object.keys(task.past) : [overlay];
	const counts = names.map((name) => {
		const judged = (task.past[name] ?? []).filter((past) => past.hook === hook && past.attempt !== attempt);
		return new Set(judged.map((past) => past.attempt)).size;
	});
	return Math.max(0, ...counts);
}

/** The questions of a consultation that still want an answer; their ids may be what every object has, such as `constructor`. */
export function unanswered(consultation: Consultation): readonly Question[] {
	if (consultation.verdict.kind !== 'ask') return [];
	return consultation.verdict.questions.filter(({ id }) => !Object.hasOwn(consultation.answers, id));
}
