/**
 * Everything outside a run: agents, overlays, people, the workspace, the clock, the disk.
 *
 * The interpreter sees nothing else. Its effects are keyed and idempotent: one that finished is in the journal and never
 * runs again; one that had started when the process died is started again under the same key.
 */
import type { AgentOutcome, AgentRequest } from '../agent.ts';
import type { CheckResult, Hook, Moment, OverlayLog } from '../contract.ts';
import type { Digest, HilItem, HilResolution, RunEvent } from '../events.ts';
import type { Consulted } from '../hosts/host.ts';
import type { JsonObject } from '../json.ts';
import type { AgentPlan, OverlayPlan, TaskPlan } from '../plan/plan.ts';
import type { Feedback } from './state.ts';

export interface World {
	/** The clock. */
	now(): Date;
	/** Runs an agent to its end. */
	startAgent(
		request: Omit<AgentRequest, 'cwd' | 'runDir' | 'env'> & { readonly reviewId?: string },
	): Promise<AgentOutcome>;
	/** Runs a task's checks, one after another. */
	runChecks(task: TaskPlan, attempt: number, signal: AbortSignal): Promise<readonly CheckResult[]>;
	/** Consults one overlay. */
	consult(overlay: OverlayPlan, hook: Hook, moment: Moment, signal: AbortSignal): Promise<Consulted>;
	/** The document an overlay keeps of its records, or null when it keeps none. */
	logOf(overlay: string): OverlayLog | null;
	readonly workspace: Workspace;
	readonly people: People;
	/** Keeps a prompt by its content; returns its sha256. */
	keepPrompt(prompt: string): string;
	/** A kept prompt, checked against its sha256. */
	readPrompt(sha256: string): string;
	/** Takes secrets out of anything that will be written down. */
	redact<T extends RunEvent | string | JsonObject>(value: T): T;
	/** Null if there is room for another agent's output, else what is wrong. */
	spaceProblem(): string | null;
	/** The coder's brief. */
	briefFor(task: TaskPlan, facts: BriefFacts): string;
}

/** The files a task works on. */
export interface Workspace {
	inspect(paths: readonly string[]): Inspection;
	/** Text of a file, at most `cap` characters of it; null where it is not text. */
	read(path: string, cap: number): string | null;
	/** Identity of the whole workspace in git, or null without git. */
	tree(): string | null;
	/** What is at and below these places, as a text that differs when any of it does. */
	listing(places: readonly string[]): string;
	/** What changed between two trees, capped. */
	diff(from: string | null, to: string | null, name: string): string;
	/** Whether the whole output of an agent holds a line with one of these words. */
	outputHolds(file: string, words: readonly string[]): string | null;
}

export interface Inspection {
	readonly artifacts: readonly Digest[];
	readonly missing: readonly string[];
	/** Paths that lead out of the project, or cannot be read, with the reason. */
	readonly refused: readonly string[];
}

/** The queue of questions to people. */
export interface People {
	publish(item: HilItem): void;
	/** The decision on an item, checked against the item as it was asked; null while there is none. */
	resolution(item: HilItem): HilResolution | null;
}

/** What the coder's brief depends on besides the plan. */
export interface BriefFacts {
	readonly attempt: number;
	readonly amendments: readonly string[];
	readonly feedback: Feedback | null;
	readonly failedChecks: readonly CheckResult[];
	readonly agent: AgentPlan;
	/** For a fixer: the files it is to repair, and what is wrong with them. */
	readonly files?: readonly string[];
}
