/** The agent adapters a plan needs; each is loaded only if some agent uses it. */
import type { AgentAdapter } from '../engine/agent.ts';
import type { Plan } from '../engine/plan/plan.ts';

export interface AdapterOptions {
	readonly project: string;
	readonly plan: Plan;
	readonly env: { readonly [name: string]: string | undefined };
	readonly mask: (path: string) => unknown;
}

/** By name. */
export async function createAdapters(options: AdapterOptions): Promise<ReadonlyMap<string, AgentAdapter>> {
	const { project, plan, env, mask } = options;
	const needed = new Set(plan.agents.map((agent) => agent.adapter));
	const adapters = new Map<string, AgentAdapter>();
	if (needed.has('command'))
		adapters.set('command', (await import('../agents/command.ts')).createCommandAdapter({ env, mask }));
	if (needed.has('scripted'))
		adapters.set('scripted', (await import('../agents/scripted.ts')).createScriptedAdapter({ project }));
	return adapters;
}
