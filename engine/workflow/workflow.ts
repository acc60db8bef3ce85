/** A workflow with the files beside it: what the user wrote, each file's shape proven. */
import { isThere, type Pointer, type Source } from './source.ts';
import type { AgentEntry, ConfigFile, Settings, WorkflowFile } from './workflow-file.ts';

/** What the user wrote, with nothing settled yet. */
export interface Workflow {
	readonly name: string;
	readonly source: Source;
	readonly file: WorkflowFile;
	/** `.ai-sdd/ai-sdd.yaml`, where there is one. */
	readonly settings: { readonly source: Source; readonly file: ConfigFile } | null;
	/** Those of the workflow and those of `.ai-sdd/agents/`; where both have a name, the workflow's. */
	readonly agents: ReadonlyMap<string, AgentDefinition>;
	/** Names of agents that are written down, though perhaps too wrong to keep. */
	readonly writtenAgents: ReadonlySet<string>;
}

/** An agent as written, and where. */
export interface AgentDefinition {
	readonly name: string;
	readonly entry: AgentEntry;
	readonly source: Source;
	readonly pointer: Pointer;
}

/** Where defaults come from, the farthest first: the project's settings, then the workflow. */
export interface DefaultsLayer {
	readonly source: Source;
	readonly settings: Settings;
}

/** The defaults of a workflow, the farthest first. */
export function defaultsOf(workflow: Workflow): readonly DefaultsLayer[] {
	const { settings, source, file } = workflow;
	const ofProject = settings?.file.defaults;
	return [
		...(ofProject === undefined ? [] : [{ source: settings!.source, settings: ofProject }]),
		...(file.defaults === undefined ? [] : [{ source, settings: file.defaults }]),
	];
}

/** Whether the user wrote anything there, even if it was too wrong to keep: then it has been told already. */
export function isWritten({ value }: Source, pointer: Pointer): boolean {
	return isThere(value, pointer);
}
