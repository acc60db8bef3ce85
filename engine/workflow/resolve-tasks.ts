/** Settles, for each task, who does it and which overlays judge it. Pure. */
import type { Attachment, OverlayDefinition } from '../contract.ts';
import { quote } from '../diagnostic.ts';
import type { JsonObject } from '../json.ts';
import type { OverlayUse } from '../overlay-use.ts';
import { type MergedOverlay, mergeOverlays, type OverlayLayer, placeOf } from './merge-overlays.ts';
import type { Place, Source } from './source.ts';
import { defaultsOf, type Workflow } from './workflow.ts';
import { type CheckEntry, DEFAULT_CHECK_KIND, type TaskEntry } from './workflow-file.ts';

/** A task with its defaults settled as far as agents and overlays go. */
export interface ResolvedTask {
	readonly id: string;
	readonly entry: TaskEntry;
	/** Empty when nobody is named. */
	readonly agent: string;
	readonly naming: Naming;
	/** Its own, or those of the defaults. */
	readonly checks: readonly CheckEntry[];
	readonly overlays: readonly ResolvedOverlay[];
}

/** Who names the agent of a task, and where; for nobody, the task itself. */
export interface Naming {
	readonly whose: string;
	readonly place: () => Place;
}

/** An overlay of a task, enabled or not. */
export interface ResolvedOverlay {
	readonly merged: MergedOverlay;
	/** Null when there is no such overlay, or its module cannot be used. */
	readonly definition: OverlayDefinition | null;
	readonly enabled: boolean;
	/** Null for a built-in, and for what is unknown. */
	readonly use: OverlayUse | null;
	readonly options: JsonObject;
}

/** The definition of an overlay by name and module; null when there is none. */
export type FindDefinition = (name: string, use: OverlayUse | null) => OverlayDefinition | null;

/** Every task of the workflow, in its order. */
export function resolveTasks(workflow: Workflow, find: FindDefinition): readonly ResolvedTask[] {
	const layers = defaultOverlays(workflow);
	const shared = resolveOverlays(layers, find);
	const checks = defaultsOf(workflow).findLast(({ settings }) => settings.checks !== undefined)?.settings.checks ?? [];
	return Object.entries(workflow.file.tasks).map(([id, entry]) => {
		const own = overlaysOfTask(workflow, id, entry);
		const overlays = own === null ? shared : resolveOverlays([...layers, own], find);
		return { id, entry, checks: entry.checks ?? checks, overlays, ...agentOf(workflow, id, entry, overlays) };
	});
}

/** What an overlay may know of the task it is attached to. */
export function attachmentOf(
	{ id, agent, entry, checks }: ResolvedTask,
	{ options }: ResolvedOverlay,
): Attachment<JsonObject> {
	const kinds = checks.map(({ name, kind = DEFAULT_CHECK_KIND }) => ({ name, kind }));
	return { options, task: { id, agent, outputs: entry.outputs ?? [], checks: kinds } };
}

function defaultOverlays(workflow: Workflow): readonly OverlayLayer[] {
	return defaultsOf(workflow).flatMap(({ source, settings }) => {
		if (settings.overlays === undefined) return [];
		return [{ source, pointer: ['defaults', 'overlays'], entries: settings.overlays }];
	});
}

function overlaysOfTask({ source }: Workflow, id: string, entry: TaskEntry): OverlayLayer | null {
	if (entry.overlays === undefined) return null;
	return { source, pointer: ['tasks', id, 'overlays'], entries: entry.overlays };
}

function resolveOverlays(layers: readonly OverlayLayer[], find: FindDefinition): readonly ResolvedOverlay[] {
	return mergeOverlays(layers).map((merged) => resolveOverlay(merged, find));
}

function resolveOverlay(merged: MergedOverlay, find: FindDefinition): ResolvedOverlay {
	const { enabled = false, use = null, options, timeout, on_error, ...beside } = merged.entry;
	const definition = find(merged.name, use);
	return { merged, definition, enabled, use, options: use === null ? beside : (options ?? {}) };
}

/** The task's own word counts most, then that of an overlay that knows the worker, then the defaults. */
function agentOf(
	workflow: Workflow,
	id: string,
	entry: TaskEntry,
	overlays: readonly ResolvedOverlay[],
): Pick<ResolvedTask, 'agent' | 'naming'> {
	const { source } = workflow;
	const task = `task ${quote(id)}`;
	if (entry.agent !== undefined) {
		const place = (): Place => ({ source, pointer: ['tasks', id, 'agent'], on: 'value' });
		return { agent: entry.agent, naming: { whose: task, place } };
	}
	for (const overlay of overlays) {
		const worker = overlay.enabled ? workerOf(overlay) : undefined;
		if (worker === undefined) continue;
		const whose = `overlay ${quote(overlay.merged.name)} of ${task}`;
		return { agent: worker, naming: { whose, place: () => placeOfValue(overlay, worker) } };
	}
	const layer = defaultsOf(workflow).findLast((one) => one.settings.agent !== undefined);
	if (layer !== undefined) return { agent: layer.settings.agent!, naming: byDefaults(layer.source) };
	return { agent: '', naming: { whose: task, place: () => ({ source, pointer: ['tasks', id], on: 'key' }) } };
}

function byDefaults(source: Source): Naming {
	return { whose: 'the defaults', place: () => ({ source, pointer: ['defaults', 'agent'], on: 'value' }) };
}

function workerOf({ definition, options }: ResolvedOverlay): string | undefined {
	try {
		const worker: unknown = definition?.worker?.(options);
		return typeof worker === 'string' ? worker : undefined;
	} catch {
		// Whoever checks the overlay asks again, and tells.
		return undefined;
	}
}

/** Where an overlay's options say this value; else the overlay's own name. */
export function placeOfValue(overlay: ResolvedOverlay, value: string): Place {
	for (const [key, found] of Object.entries(overlay.options)) {
		if (found === value) return placeOfOption(overlay, [key]);
		const index = Array.isArray(found) ? found.indexOf(value) : -1;
		if (index >= 0) return placeOfOption(overlay, [key, String(index)]);
	}
	return placeOfOption(overlay, []);
}

/** Where an option stands: beside `enabled` for a built-in, below `options` for others. */
export function placeOfOption(overlay: ResolvedOverlay, path: readonly string[]): Place {
	return placeOf(overlay.merged, overlay.use === null ? path : ['options', ...path]);
}
