/**
 * Everything that can happen in a run, as one closed union.
 *
 * The journal is a list of these; the state of a run is their fold; every reporter is a view of them. Field names are
 * the same in code and on disk: single words, or snake_case where one word will not do.
 */
import type { Answer, CheckResult, Hook, Verdict } from './contract.ts';
import type { JsonObject } from './json.ts';

/** Identity of a file at the moment it was judged. */
export interface Digest {
	readonly path: string;
	readonly sha256: string;
	readonly bytes: number;
}

/** What came out of an agent: its text (capped), and where the whole of it lies. */
export interface OutputRecord {
	readonly text: string;
	readonly bytes: number;
	readonly sha256: string;
	/** Relative to the run's folder; absent when the agent wrote no file. */
	readonly file?: string;
}

/** Who does the work of an attempt: an agent, a person who took over, or nobody (the files changed by themselves). */
export type Worker = 'agent' | 'human' | 'outside';

/** An open question to a person, as stored in the queue. */
export interface HilItem {
	readonly id: string;
	readonly run_id: string;
	readonly workflow: string;
	readonly task_id: string;
	readonly overlay: string;
	readonly trigger: string;
	readonly status: 'PENDING' | 'ACKED' | 'RESOLVED' | 'REJECTED';
	readonly question: string;
	readonly choices: readonly string[];
	readonly context: JsonObject;
	readonly created_at: string;
	readonly resolution: HilResolution | null;
}

/** The one decision on an item. */
export interface HilResolution {
	readonly choice: string;
	readonly by: string;
	readonly via: 'tty' | 'cli' | 'web' | 'ci';
	readonly notes: string | null;
	readonly at: string;
}

interface OfTask {
	readonly task: string;
}
interface OfAttempt extends OfTask {
	readonly attempt: number;
}
interface OfJudgement extends OfAttempt {
	readonly hook: Hook;
	readonly overlay: string;
}

export type RunEvent =
	| {
			readonly kind: 'run_started';
			readonly run: string;
			readonly workflow: string;
			readonly file: string;
			readonly project: string;
			/** sha256 of the frozen plan. */
			readonly plan: string;
			readonly by: string;
			readonly version: string;
			/** Tasks at once, as it began: the frozen plan says what is to be done, not how many at a time. */
			readonly max_parallel?: number;
			/** Only these tasks and what they depend on were asked for (`--task`). */
			readonly only?: readonly string[];
	  }
	| { readonly kind: 'run_resumed'; readonly by: string; readonly version: string }
	| { readonly kind: 'run_paused'; readonly reason: 'waiting' | 'interrupted' | 'step' | 'partial' | 'fault' }
	| { readonly kind: 'run_finished'; readonly outcome: 'completed' | 'failed' | 'cancelled' }
	| ({ readonly kind: 'task_started' } & OfTask)
	| ({ readonly kind: 'task_skipped'; readonly reason: string; readonly upstream?: string } & OfTask)
	| ({ readonly kind: 'task_completed' } & OfTask)
	| ({
			readonly kind: 'task_failed';
			readonly code: string;
			readonly reason: string;
			/** The overlay that broke down, where that was the reason: the work itself was not judged. */
			readonly fault?: string;
	  } & OfTask)
	/** A task that an overlay's breakdown had ended, or kept from starting, is gone on with. */
	| ({ readonly kind: 'task_reopened' } & OfTask)
	| ({ readonly kind: 'task_cancelled'; readonly reason: string } & OfTask)
	| ({
			readonly kind: 'attempt_started';
			readonly by: Worker;
			readonly agent: string | null;
			/** The git tree of the workspace before the first attempt, where there is one. */
			readonly tree?: string;
			/** sha256 of the listing of what overlays watch, before the first attempt; it lies in the run's `briefs/`. */
			readonly watched?: string;
	  } & OfAttempt)
	| ({
			readonly kind: 'attempt_finished';
			readonly agent: string | null;
			readonly output: OutputRecord;
			readonly artifacts: readonly Digest[];
			readonly tree?: string;
			readonly watched?: string;
			readonly ms: number;
			/** sha256 of the brief the agent got; kept for work that is judged. */
			readonly brief?: string;
	  } & OfAttempt)
	| ({
			readonly kind: 'attempt_failed';
			readonly agent: string | null;
			readonly code: string;
			readonly reason: string;
			readonly output: OutputRecord | null;
			readonly ms: number;
			readonly brief?: string;
	  } & OfAttempt)
	| ({ readonly kind: 'attempt_checked'; readonly checks: readonly CheckResult[] } & OfAttempt)
	| ({ readonly kind: 'retry_scheduled'; readonly due: string } & OfAttempt)
	| ({
			readonly kind: 'verdict';
			/** 1 for the first consultation at this hook and attempt, +1 after each round of answers. */
			readonly round: number;
			/** Questions' prompts are replaced by their sha256; the texts lie in the run's `briefs/`. */
			readonly verdict: Verdict;
			/** What was judged: a digest over the artifacts' digests. */
			readonly content: string;
			/** The overlay did not say this: it broke down, and that is never a pass. */
			readonly fault?: true;
	  } & OfJudgement)
	| ({ readonly kind: 'answered'; readonly question: string; readonly answer: Answer } & OfJudgement)
	| ({ readonly kind: 'hil_opened'; readonly question: string; readonly item: HilItem } & OfJudgement)
	| ({ readonly kind: 'hil_resolved'; readonly item: string; readonly resolution: HilResolution } & OfTask)
	| ({
			/** Content changed after it was judged: what was said of it no longer counts. */
			readonly kind: 'approval_voided';
			readonly changed: readonly { readonly path: string; readonly was: string; readonly now: string | null }[];
	  } & OfTask)
	| { readonly kind: 'warning'; readonly code: string; readonly message: string; readonly task?: string };

/** An event as the journal holds it. `prev` is the hash of the record before it; `hash` covers all the rest. */
export type JournalRecord = RunEvent & {
	readonly seq: number;
	readonly prev: string;
	readonly at: string;
	readonly hash: string;
};

/** What a reporter sees: an event with its time. */
export type ReportedEvent = RunEvent & { readonly at: string };

/** The states a task can be in; only `reduce` sets them. */
export const TASK_STATUSES = [
	'PENDING',
	'RUNNING',
	'NEEDS_REWORK',
	'HIL_PENDING',
	'COMPLETED',
	'FAILED',
	'SKIPPED',
	'CANCELLED',
] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];
