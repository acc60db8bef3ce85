/** Checks agents: that tasks name ones that exist, and that each definition is whole. */
import { join } from 'node:path';
import { quote } from '../diagnostic.ts';
import { didYouMean } from '../suggest.ts';
import { inheritance } from './inherit-agent.ts';
import type { FindFault } from './inside-project.ts';
import { readText } from './load.ts';
import type { ResolvedTask } from './resolve-tasks.ts';
import { type Complaint, errorAt, type Findings, type Place } from './source.ts';
import type { AgentDefinition, Workflow } from './workflow.ts';

interface AgentChecks {
	readonly project: string;
	readonly adapters: readonly string[] | null;
	readonly findFault: FindFault;
	readonly findings: Findings;
}

/** A persona is put whole into every brief. */
const MAX_PERSONA = 256 * 1024;

/** Notes what is wrong with agents and with who is named; returns the persona texts, by agent. */
export function checkAgents(
	workflow: Workflow,
	tasks: readonly ResolvedTask[],
	checks: AgentChecks,
): ReadonlyMap<string, string> {
	for (const task of tasks) {
		const complaint = complaintAboutName(task, workflow);
		if (complaint !== undefined) checks.findings.problems.push(errorAt(task.agentPlace(), complaint));
	}
	const personas = new Map<string, string>();
	for (const agent of workflow.agents.values()) {
		const persona = checkAgent(agent, workflow, checks);
		if (persona !== null) personas.set(agent.name, persona);
	}
	return personas;
}

/** What to say of a name that is no agent's; undefined when it is one's. */
export function unknownAgent(name: string, whose: string, workflow: Workflow): Complaint | undefined {
	if (workflow.agents.has(name) || workflow.writtenAgents.has(name)) return undefined;
	const known = [...workflow.agents.keys()];
	const meant = didYouMean(name, known);
	const others = known.length === 0 ? 'define it under `agents:`' : `known agents are ${known.join(', ')}`;
	return {
		code: 'AGENT_UNKNOWN',
		message: `${whose} names agent ${quote(name)}, which is not defined`,
		remedy: meant === undefined ? others : `did you mean "${meant}"?`,
	};
}

function complaintAboutName({ id, agent }: ResolvedTask, workflow: Workflow): Complaint | undefined {
	if (agent !== '') return unknownAgent(agent, `task ${quote(id)}`, workflow);
	return {
		code: 'WORKFLOW_MISSING_KEY',
		message: `task ${quote(id)} has no agent`,
		remedy: 'add `agent:` to the task, or to `defaults`',
	};
}

function checkAgent(agent: AgentDefinition, workflow: Workflow, checks: AgentChecks): string | null {
	const at = (key: string): Place => ({ source: agent.source, pointer: [...agent.pointer, key], on: 'value' });
	const note = (place: Place, complaint: Complaint) => checks.findings.problems.push(errorAt(place, complaint));
	const inherited = inheritance(agent, workflow.agents);
	if (!inherited.ok) {
		if (!workflow.writtenAgents.has(inherited.missing ?? '')) note(at('extends'), inherited.complaint);
		return null;
	}
	const { entry } = inherited;
	const self: Place = { source: agent.source, pointer: agent.pointer, on: 'key' };
	const adapter = entry.adapter ?? 'command';
	const ofAdapter = checks.adapters === null ? undefined : adapterComplaint(agent.name, adapter, checks.adapters);
	if (ofAdapter !== undefined) note(agent.entry.adapter === undefined ? self : at('adapter'), ofAdapter);
	const without = checks.adapters === null ? undefined : withoutNeeded(agent.name, adapter, entry);
	if (without !== undefined) note(self, without);
	checkFile(agent, 'replies', checks, at, note);
	return entry.persona === undefined ? null : checkPersona(agent, entry.persona, checks, at, note);
}

function adapterComplaint(name: string, adapter: string, adapters: readonly string[]): Complaint | undefined {
	if (adapters.includes(adapter)) return undefined;
	const meant = didYouMean(adapter, adapters);
	return {
		code: 'AGENT_UNKNOWN_ADAPTER',
		message: `agent ${quote(name)} has the adapter ${quote(adapter)}, which does not exist`,
		remedy: meant === undefined ? `choose one of ${adapters.join(', ')}` : `did you mean "${meant}"?`,
	};
}
