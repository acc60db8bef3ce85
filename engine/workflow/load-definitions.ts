/** Finds the definitions of all overlays a workflow uses: built-ins by name, others by their module. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { OverlayDefinition } from '../contract.ts';
import { quote } from '../diagnostic.ts';
import { type OverlayUse, useText } from '../overlay-use.ts';
import type { FindFault } from './inside-project.ts';
import { placeOf } from './merge-overlays.ts';
import { type FindDefinition, type ResolvedOverlay, type ResolvedTask, resolveTasks } from './resolve-tasks.ts';
import { type Complaint, errorAt, type Findings } from './source.ts';
import type { Workflow } from './workflow.ts';

/** Loads the module of an overlay; what is wrong with it, if it cannot; a complaint, if it may not be loaded. */
export type ResolveOverlay = (
	name: string,
	use: OverlayUse,
) => Promise<OverlayDefinition | { readonly error: string; readonly remedy?: string } | Complaint>;

/** What finding definitions needs. */
export interface DefinitionSources {
	readonly project: string;
	readonly definitions: readonly OverlayDefinition[];
	readonly resolveOverlay: ResolveOverlay;
	readonly findFault: FindFault;
	readonly findings: Findings;
}

/** The tasks with the definitions of their overlays; modules are loaded only if some task has them enabled. */
export async function tasksWithDefinitions(
	workflow: Workflow,
	sources: DefinitionSources,
): Promise<readonly ResolvedTask[]> {
	const builtins = new Map(sources.definitions.map((definition) => [definition.name, definition]));
	const builtin: FindDefinition = (name, use) => (use === null ? (builtins.get(name) ?? null) : null);
	const tasks = resolveTasks(workflow, builtin);
	const modules = modulesOf(tasks);
	if (modules.size === 0) return tasks;
	const loaded = await loadAll(modules, sources);
	return resolveTasks(workflow, (name, use) => builtin(name, use) ?? loaded.get(keyOf(name, use)) ?? null);
}

function keyOf(name: string, use: OverlayUse | null): string {
	return `${name} ${use === null ? '' : useText(use)}`;
}

function modulesOf(tasks: readonly ResolvedTask[]): ReadonlyMap<string, ResolvedOverlay> {
	const modules = new Map<string, ResolvedOverlay>();
	for (const { overlays } of tasks) {
		for (const overlay of overlays) {
			const key = keyOf(overlay.merged.name, overlay.use);
			if (overlay.enabled && overlay.use !== null && !modules.has(key)) modules.set(key, overlay);
		}
	}
	return modules;
}

async function loadAll(
	modules: ReadonlyMap<string, ResolvedOverlay>,
	sources: DefinitionSources,
): Promise<ReadonlyMap<string, OverlayDefinition>> {
	const loaded = new Map<string, OverlayDefinition>();
	for (const [key, overlay] of modules) {
		const { name } = overlay.merged;
		const found = await loadOne(name, overlay.use!, sources);
		if ('create' in found) loaded.set(key, found);
		else sources.findings.problems.push(errorAt(placeOf(overlay.merged, ['use']), found));
	}
	return loaded;
}

async function loadOne(
	name: string,
	use: OverlayUse,
	sources: DefinitionSources,
): Promise<OverlayDefinition | Complaint> {
	const module = `the ${typeof use === 'string' ? 'module' : 'command'} ${quote(useText(use))} of overlay ${quote(name)}`;
	if (typeof use === 'string' && /^(?:[./~]|[A-Za-z]:[\\/])/.test(use)) {
		const fault = sources.findFault(use);
		if (fault !== null) return { code: fault.code, message: `${module} ${fault.fault}`, remedy: fault.remedy };
		if (!existsSync(join(sources.project, use))) {
			const remedy = "write the path relative to the project's root, such as ./.ai-sdd/overlays/mine.ts";
			return { code: 'OVERLAY_MODULE', message: `${module} does not exist`, remedy };
		}
	}
	const found = await sources.resolveOverlay(name, use);
	if (!('error' in found)) return found;
	const remedy = found.remedy ?? 'correct the module; see docs/overlays.md for what it must export';
	return { code: 'OVERLAY_MODULE', message: `${module} cannot be used: ${found.error}`, remedy };
}
