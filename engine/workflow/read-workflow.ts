/** Reads a workflow, the project's settings and its agents, and proves the shape of each. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import type { OverlayDefinition } from '../contract.ts';
import { type Diagnostic, quote } from '../diagnostic.ts';
import { checkShape, type FileKind, whyFirstOnly } from './check-shape.ts';
import { loadSource } from './load.ts';
import { ID_PATTERN } from './schema-parts.ts';
import { aboutFile, type Findings, type Problem, type Source } from './source.ts';
import type { AgentDefinition, Workflow } from './workflow.ts';
import type { AgentEntry, ConfigFile, WorkflowFile } from './workflow-file.ts';

/** What is read, and how its files are named to the user. */
export interface Reading {
	/** The workflow, absolute. */
	readonly path: string;
	/** The project's root, absolute. */
	readonly project: string;
	readonly definitions: readonly OverlayDefinition[];
	/** How the user names an absolute path. */
	readonly show: (path: string) => string;
	readonly findings: Findings;
}

/** The workflow and all beside it; null when so much is wrong that nothing more can be checked. */
export async function readWorkflow(reading: Reading): Promise<Workflow | null> {
	const workflow = await readShaped<WorkflowFile>('workflow', reading.path, reading);
	const settings = await readSettings(reading);
	const projectAgents = await readAgents(reading);
	if (workflow === null) return null;
	const { source, file } = workflow;
	const own = Object.entries(file.agents ?? {}).map(([name, entry]) => {
		return { name, entry, source, pointer: ['agents', name] };
	});
	const agents = new Map([...projectAgents.read, ...own].map((agent) => [agent.name, agent]));
	const writtenAgents = new Set([...projectAgents.broken, ...keysOf(source.value, 'agents')]);
	return { name: file.name ?? nameFrom(reading.path), source, file, settings, agents, writtenAgents };
}

function keysOf(value: unknown, section: string): readonly string[] {
	const part = (value as { readonly [key: string]: unknown })[section];
	return part !== null && typeof part === 'object' ? Object.keys(part) : [];
}

interface Shaped<T> {
	readonly source: Source;
	readonly file: T;
}

async function readShaped<T>(kind: FileKind, path: string, reading: Reading): Promise<Shaped<T> | null> {
	const loaded = loadSource(path, reading.show(path));
	if (!loaded.ok) {
		note(loaded.problem, reading.findings);
		return null;
	}
	const { source } = loaded;
	const problems = await checkShape(kind, source, reading.definitions);
	if (problems.length === 0) return { source, file: source.value as T };
	reading.findings.problems.push(...problems);
	const salvaged = await salvage<T>(kind, source, problems, reading.definitions);
	const why = salvaged === null ? whyFirstOnly(source) : null;
	if (why !== null) reading.findings.diagnostics.push(onlyFirst(source.file, why));
	return salvaged;
}

function onlyFirst(file: string, why: string): Diagnostic {
	const message = `only the first problem is shown, because ${why}; there may be more`;
	return { ...aboutFile('WORKFLOW_MORE_PROBLEMS', file, message, 'fix it, then validate again'), severity: 'warning' };
}

function note(problem: Problem | Diagnostic, findings: Findings): void {
	if ('place' in problem) findings.problems.push(problem);
	else findings.diagnostics.push(problem);
}

/** What is left of a malformed file, if it makes sense: then people learn of all their mistakes at once. */
async function salvage<T>(
	kind: FileKind,
	source: Source,
	problems: readonly Problem[],
	definitions: readonly OverlayDefinition[],
): Promise<Shaped<T> | null> {
	if (problems.some((problem) => problem.code === 'WORKFLOW_VERSION')) return null;
	const { cutOut } = await import('./cut-out.ts');
	const value = cutOut(source.value, problems);
	const left = await checkShape(kind, { ...source, value }, definitions);
	return left.length === 0 ? { source, file: value as T } : null;
}

async function readSettings(reading: Reading): Promise<Workflow['settings']> {
	const path = join(reading.project, '.ai-sdd', 'ai-sdd.yaml');
	return existsSync(path) ? readShaped<ConfigFile>('config', path, reading) : null;
}

interface ProjectAgents {
	readonly read: readonly AgentDefinition[];
	readonly broken: readonly string[];
}

async function readAgents(reading: Reading): Promise<ProjectAgents> {
	const folder = join(reading.project, '.ai-sdd', 'agents');
	const read: AgentDefinition[] = [];
	const broken: string[] = [];
	for (const file of namesIn(folder).filter((name) => /\.ya?ml$/.test(name))) {
		const path = join(folder, file);
		const name = file.replace(/\.ya?ml$/, '');
		if (read.some((agent) => agent.name === name) || broken.includes(name))
			reading.findings.diagnostics.push(twice(name, reading.show(path)));
		if (!new RegExp(ID_PATTERN).test(name)) reading.findings.diagnostics.push(badName(name, reading.show(path)));
		const agent = await readShaped<AgentEntry>('agent', path, reading);
		if (agent === null) broken.push(name);
		else read.push({ name, entry: agent.file, source: agent.source, pointer: [] });
	}
	return { read, broken };
}

/** A folder's entries in a fixed order; none where there is no folder. */
function namesIn(folder: string): readonly string[] {
	try {
		return readdirSync(folder).sort();
	} catch (error) {
		const { code = '' } = error as NodeJS.ErrnoException;
		if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(code)) return [];
		throw error;
	}
}

function badName(name: string, file: string): Diagnostic {
	const remedy = 'rename the file: 1 to 64 lower-case letters, digits, "-" and "_", starting with a letter or digit';
	return aboutFile('WORKFLOW_BAD_ID', file, `${quote(name)} cannot be the name of an agent`, remedy);
}

function twice(name: string, file: string): Diagnostic {
	const message = `agent ${quote(name)} is defined by two files: ${quote(`${name}.yaml`)} and ${quote(`${name}.yml`)}`;
	return aboutFile('AGENT_DUPLICATE', file, message, 'remove one of them');
}

/** A workflow without a name is called like its file. */
function nameFrom(path: string): string {
	const name = basename(path, extname(path)).toLowerCase();
	const id = name.replace(/[^a-z0-9_-]+/g, '-').replace(/^[-_]+|-+$/g, '');
	return id.slice(0, 64) || 'workflow';
}
