/** Checks agents: that tasks name ones that exist, and that each definition is whole. */
import { join } from 'node:path';
import { quote } from '../diagnostic.ts';
import { didYouMean } from '../suggest.ts';
import { inheritAgent } from './inherit-agent.ts';
import type { FindFault } from './inside-project.ts';
import { readText } from './load.ts';
import type { ResolvedTask } from './resolve-tasks.ts';
import { type Complaint, errorAt, type Findings } from './source.ts';
import { type AgentDefinition, isWritten, type Workflow } from './workflow.ts';
import type { AgentEntry } from './workflow-file.ts';

/** What checking agents needs. */
export interface AgentChecks {
	readonly project: string;
	/** Null when stubs stand in for all agents. */
	readonly adapters: readonly string[] | null;
	readonly findFault: FindFault;
	readonly findings: Findings;
}

/** A persona is put whole into every brief. */
const MAX_PERSONA = 256 * 1024;

/** The files that agents name and that could be read. */
export interface AgentFiles {
	/** Texts of the persona files, by their path as written. */
	readonly personas: ReadonlyMap<string, string>;
	/** Files of scripted replies, by their path as written. */
	readonly replies: ReadonlySet<string>;
}

/** Notes what is wrong with agents and with who is named; returns the files that they name. */
export function checkAgents(workflow: Workflow, tasks: readonly ResolvedTask[], checks: AgentChecks): AgentFiles {
	for (const task of tasks) {
		const complaint = complaintAboutName(task, workflow);
		if (complaint !== undefined) checks.findings.problems.push(errorAt(task.naming.place(), complaint));
	}
	const files = { personas: new Map<string, string>(), replies: new Set<string>() };
	for (const agent of workflow.agents.values()) {
		checkDefinition(agent, workflow, checks);
		readFilesOf(agent, checks, files);
	}
	return files;
}

/** What to say of a name that is no agent's; undefined when it is one's. */
export function unknownAgent(name: string, whose: string, workflow: Workflow): Complaint | undefined {
	if (workflow.agents.has(name) || workflow.writtenAgents.has(name)) return undefined;
	return {
		code: 'AGENT_UNKNOWN',
		message: `${whose} ${whose === 'the defaults' ? 'name' : 'names'} agent ${quote(name)}, which is not defined`,
		remedy: knownAgents(workflow),
		guess: () => didYouMean(name, workflow.agents.keys()),
	};
}

/** As many agents are named. */
const NAMED = 20;

function knownAgents({ agents }: Workflow): string {
	if (agents.size === 0) return 'define it under `agents:`';
	const named: string[] = [];
	for (const name of agents.keys()) if (named.push(name) === NAMED) break;
	const more = agents.size > NAMED ? ` and ${agents.size - NAMED} more` : '';
	return `known agents are ${named.join(', ')}${more}`;
}

function complaintAboutName({ id, agent, naming }: ResolvedTask, workflow: Workflow): Complaint | undefined {
	if (agent !== '') return unknownAgent(agent, naming.whose, workflow);
	if (isWritten(workflow.source, ['tasks', id, 'agent'])) return undefined;
	return {
		code: 'WORKFLOW_MISSING_KEY',
		message: `task ${quote(id)} has no agent`,
		remedy: 'add `agent:` to the task, or to `defaults`',
	};
}

function checkDefinition(agent: AgentDefinition, workflow: Workflow, checks: AgentChecks): void {
	const inherited = inheritAgent(agent.name, workflow.agents);
	if (!inherited.ok) {
		// Told once, by the agent whose word it is.
		if (inherited.at === agent.name && !isBroken(agent.entry.extends, workflow))
			note(agent, 'extends', inherited.complaint, checks);
		return;
	}
	if (checks.adapters === null) return;
	const { entry } = inherited;
	const adapter = entry.adapter ?? 'command';
	const complaint = aboutAdapter(agent.name, adapter, checks.adapters) ?? aboutNeeds(agent, adapter, entry);
	if (complaint !== undefined) note(agent, 'adapter', complaint, checks);
}

/** An agent that is written down but could not be kept has its own problem already. */
function isBroken(name: string | undefined, { agents, writtenAgents }: Workflow): boolean {
	return name !== undefined && writtenAgents.has(name) && !agents.has(name);
}

function note(agent: AgentDefinition, key: string, complaint: Complaint, { findings }: AgentChecks): void {
	const { source, entry } = agent;
	const isOwn = Object.hasOwn(entry, key);
	const pointer = isOwn ? [...agent.pointer, key] : agent.pointer;
	findings.problems.push(errorAt({ source, pointer, on: isOwn ? 'value' : 'key' }, complaint));
}

function aboutAdapter(name: string, adapter: string, adapters: readonly string[]): Complaint | undefined {
	if (adapters.includes(adapter)) return undefined;
	const meant = didYouMean(adapter, adapters);
	return {
		code: 'AGENT_UNKNOWN_ADAPTER',
		message: `agent ${quote(name)} has the adapter ${quote(adapter)}, which does not exist`,
		remedy: meant === undefined ? `choose one of ${adapters.join(', ')}` : `did you mean "${meant}"?`,
	};
}

function aboutNeeds(agent: AgentDefinition, adapter: string, entry: AgentEntry): Complaint | undefined {
	const lacks = (key: 'run' | 'replies') =>
		entry[key] === undefined && !isWritten(agent.source, [...agent.pointer, key]);
	const name = quote(agent.name);
	if (adapter === 'command' && lacks('run')) {
		const message = `agent ${name} has nothing to run`;
		return { code: 'AGENT_WITHOUT_RUN', message, remedy: 'add `run:`, such as ["./agent.sh"]' };
	}
	if (adapter === 'scripted' && lacks('replies')) {
		const message = `agent ${name} is scripted and has no replies`;
		return { code: 'AGENT_WITHOUT_REPLIES', message, remedy: 'add `replies:`, the file with what it says' };
	}
	return undefined;
}

function readFilesOf(
	agent: AgentDefinition,
	checks: AgentChecks,
	files: { readonly personas: Map<string, string>; readonly replies: Set<string> },
): void {
	const { persona, replies } = agent.entry;
	if (persona !== undefined) {
		const text = readFileOf(agent, 'persona', persona, checks);
		if (text !== null) files.personas.set(persona, text);
	}
	// What replies say is the adapter's business; here it is enough that they are there.
	if (replies !== undefined && checks.adapters !== null && readFileOf(agent, 'replies', replies, checks) !== null)
		files.replies.add(replies);
}

function readFileOf(
	agent: AgentDefinition,
	key: 'persona' | 'replies',
	path: string,
	checks: AgentChecks,
): string | null {
	const whole = `the ${key} file ${quote(path)} of agent ${quote(agent.name)}`;
	const fault = checks.findFault(path);
	if (fault !== null) {
		note(agent, key, { code: fault.code, message: `${whole} ${fault.fault}`, remedy: fault.remedy }, checks);
		return null;
	}
	const text = readText(join(checks.project, path), path, key === 'persona' ? MAX_PERSONA : undefined);
	if (typeof text === 'string') return text;
	const remedy = "check the path: it is relative to the project's root";
	note(agent, key, { code: 'AGENT_FILE', message: `${whole} cannot be used: ${text.message}`, remedy }, checks);
	return null;
}
