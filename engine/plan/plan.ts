/**
 * The plan: what will run, with nothing left to decide but time and verdicts.
 *
 * It is frozen into `runs/<run-id>/plan.json` when a run starts, so that editing the workflow cannot change a run.
 */
import type { Hook } from '../contract.ts';
import type { Expression } from '../expression.ts';
import type { JsonObject } from '../json.ts';
import type { OverlayUse } from '../overlay-use.ts';

export interface Plan {
	readonly workflow: string;
	/** Relative to the project. */
	readonly file: string;
	readonly agents: readonly AgentPlan[];
	/** In planned order: every task after those it depends on. */
	readonly tasks: readonly TaskPlan[];
	/** Distinct merged constitutions; a task points at one by index. */
	readonly constitutions: readonly { readonly [section: string]: string }[];
	/** Texts of prompt templates that replace the built-in ones, by name (`developer`, `reviewer` …). */
	readonly templates: { readonly [name: string]: string };
}

export interface AgentPlan {
	readonly name: string;
	readonly adapter: string;
	/** Argument list, or one string for the shell. Only for adapters that run a command. */
	readonly run: readonly string[] | string | null;
	readonly model: string | null;
	readonly timeoutMs: number | null;
	/** Names of environment variables the agent gets besides the basic ones; `*` at the end matches the rest. */
	readonly env: readonly string[];
	readonly readOnly: boolean;
	/** The persona file's text, put whole at the head of the brief. */
	readonly persona: string | null;
	/** What only this adapter understands (for `scripted`: `replies`, a file relative to the project). */
	readonly options: JsonObject;
}

export interface TaskPlan {
	readonly id: string;
	readonly agent: string;
	readonly description: string;
	readonly acceptanceCriteria: readonly string[];
	readonly dependsOn: readonly string[];
	readonly inputs: readonly string[];
	readonly outputs: readonly string[];
	readonly checks: readonly CheckPlan[];
	readonly when: Expression | null;
	readonly timeoutMs: number;
	readonly maxAttempts: number;
	readonly retry: RetryPlan;
	/** Words by which a coder says that it cannot go on. */
	readonly stopMarkers: readonly string[];
	/** In the order in which they judge. */
	readonly overlays: readonly OverlayPlan[];
	/** Index into `Plan.constitutions`. */
	readonly constitution: number;
	/** Hops to the end of the graph: the scheduler starts the longest remaining path first. */
	readonly tail: number;
}

export interface CheckPlan {
	readonly name: string;
	readonly run: readonly string[] | string;
	readonly required: boolean;
	readonly kind: string;
	readonly timeoutMs: number;
}

/** How often a crashed attempt is tried again, and how long to wait before it. Never for verdicts. */
export interface RetryPlan {
	readonly times: number;
	readonly backoffMs: number;
	readonly factor: number;
	readonly maxBackoffMs: number;
}

export interface OverlayPlan {
	readonly name: string;
	/** Null for a built-in. */
	readonly use: OverlayUse | null;
	readonly hooks: readonly Hook[];
	readonly options: JsonObject;
	readonly order: number;
	readonly timeoutMs: number;
	/** What an overlay's own breakdown (a throw, a timeout) means; a malformed verdict is always `fail`. */
	readonly onError: 'fail' | 'warn' | 'skip';
	/** Files and folders that it watches. */
	readonly watches?: readonly string[];
	/** Only for an overlay in a process of its own that keeps a log: its views must be written and audited without starting it. */
	readonly log?: { readonly folder: string; readonly name: string; readonly members?: readonly string[] };
}
