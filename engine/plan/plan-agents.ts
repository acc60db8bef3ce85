/** Plans the agents a run can need. Pure. */
import { parseDuration } from '../duration.ts';
import type { JsonObject } from '../json.ts';
import { inheritAgent } from '../workflow/inherit-agent.ts';
import { attachmentOf } from '../workflow/resolve-tasks.ts';
import type { ValidWorkflow } from '../workflow/validate.ts';
import type { AgentEntry } from '../workflow/workflow-file.ts';
import type { AgentPlan } from './plan.ts';

/** The workflow's own agents, and those of the project that something names; by name. */
export function planAgents(valid: ValidWorkflow, stubs: string | undefined): readonly AgentPlan[] {
	const { agents, file } = valid.workflow;
	const names = new Set([...Object.keys(file.agents ?? {}), ...namedAgents(valid)]);
	const plans: AgentPlan[] = [];
	for (const name of [...names].sort()) {
		const inherited = inheritAgent(name, agents);
		if (inherited.ok) plans.push(planAgent(name, inherited.entry, valid.personas, stubs));
	}
	return plans;
}

function namedAgents({ tasks }: ValidWorkflow): ReadonlySet<string> {
	const names = new Set<string>();
	for (const task of tasks) {
		names.add(task.agent);
		for (const overlay of task.overlays) {
			if (!overlay.enabled) continue;
			for (const name of overlay.definition?.agents?.(attachmentOf(task, overlay)) ?? []) names.add(name);
		}
	}
	return names;
}

function planAgent(
	name: string,
	entry: AgentEntry,
	personas: ReadonlyMap<string, string>,
	stubs: string | undefined,
): AgentPlan {
	return {
		name,
		adapter: stubs === undefined ? (entry.adapter ?? 'command') : 'scripted',
		run: entry.run ?? null,
		model: entry.model ?? null,
		timeoutMs: entry.timeout === undefined ? null : (parseDuration(entry.timeout) ?? null),
		env: entry.env ?? [],
		readOnly: entry.read_only ?? false,
		persona: entry.persona === undefined ? null : (personas.get(entry.persona) ?? null),
		options: optionsOf(entry, stubs),
	};
}

function optionsOf({ replies, max_output }: AgentEntry, stubs: string | undefined): JsonObject {
	const file = stubs ?? replies;
	return {
		...(file === undefined ? {} : { replies: file }),
		...(max_output === undefined ? {} : { max_output: toBytes(max_output) }),
	};
}

const UNITS: { readonly [unit: string]: number } = { B: 1, KB: 1024, MB: 1024 * 1024 };

function toBytes(size: number | string): number {
	if (typeof size === 'number') return size;
	const [, count, unit] = /^(\d+)(B|KB|MB)$/.exec(size)!;
	return Number(count) * UNITS[unit!]!;
}
