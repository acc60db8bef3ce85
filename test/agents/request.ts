import type { AgentRequest } from '../../engine/agent.ts';
import type { AgentPlan } from '../../engine/plan/plan.ts';

/** An agent with nothing special about it. */
export function anAgent(more: Partial<AgentPlan> = {}): AgentPlan {
	return {
		name: 'dev',
		adapter: 'command',
		run: null,
		model: null,
		timeoutMs: null,
		env: [],
		readOnly: false,
		persona: null,
		options: {},
		...more,
	};
}

/** A coder's first attempt in a folder that is project and run folder at once. */
export function aRequest(dir: string, agent: AgentPlan, more: Partial<AgentRequest> = {}): AgentRequest {
	return {
		key: 'implement#1',
		agent,
		task: 'implement',
		attempt: 1,
		iteration: 1,
		role: 'coder',
		prompt: 'Do it.\n',
		cwd: dir,
		runDir: dir,
		env: { SDD_RUN_ID: 'run-1', SDD_TASK_ID: 'implement' },
		timeoutMs: 30_000,
		signal: new AbortController().signal,
		keep: 50_000,
		...more,
	};
}
