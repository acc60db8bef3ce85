/** The contract of an agent adapter: one file each under `agents/`, all of this shape. */
import type { Usage } from './contract.ts';
import type { OutputRecord } from './events.ts';
import type { AgentPlan } from './plan/plan.ts';

/** One run of an agent. */
export interface AgentRequest {
	/** Stable name of this effect: `implement#2`, `implement#2/after/agentic_review/review`. */
	readonly key: string;
	readonly agent: AgentPlan;
	readonly task: string;
	readonly attempt: number;
	readonly iteration: number;
	/** coder, reviewer, fixer … */
	readonly role: string;
	readonly prompt: string;
	/** Working directory: the task's workspace. */
	readonly cwd: string;
	/** The run's folder, absolute; files of this agent run go below `agents/`. */
	readonly runDir: string;
	/** SDD_* variables for the agent's environment. */
	readonly env: { readonly [name: string]: string };
	readonly timeoutMs: number;
	readonly signal: AbortSignal;
	/** How many characters of its output are kept as text. */
	readonly keep: number;
}

/** How an agent run ended. A failure is of that attempt only; its output is never parsed. */
export type AgentOutcome =
	| { readonly ok: true; readonly output: OutputRecord; readonly usage: Usage | null; readonly ms: number }
	| {
			readonly ok: false;
			readonly code: string;
			readonly reason: string;
			readonly output: OutputRecord | null;
			readonly ms: number;
	  };

/** Adapts one kind of agent. */
export interface AgentAdapter {
	readonly name: string;
	run(request: AgentRequest): Promise<AgentOutcome>;
}
