/** What people write, once its shape is proven: the same names as in YAML. */
import type { JsonObject } from '../json.ts';
import type { OverlayUse } from '../overlay-use.ts';

/** A workflow file. */
export interface WorkflowFile {
	readonly version: '1';
	readonly name?: string;
	readonly description?: string;
	readonly agents?: { readonly [name: string]: AgentEntry };
	readonly defaults?: Settings;
	readonly max_parallel?: number;
	readonly tasks: { readonly [id: string]: TaskEntry };
}

/** The project's settings, `.ai-sdd/ai-sdd.yaml`. */
export interface ConfigFile {
	readonly version?: '1';
	readonly defaults?: Settings;
	readonly max_parallel?: number;
	/** The interpreter of Python overlays. */
	readonly python?: string;
	readonly prompts?: { readonly [template: string]: string };
}

/** An agent, in a workflow or in a file of its own. */
export interface AgentEntry {
	readonly adapter?: string;
	readonly extends?: string;
	readonly run?: readonly string[] | string;
	readonly model?: string;
	readonly timeout?: Duration;
	readonly env?: readonly string[];
	readonly read_only?: boolean;
	readonly persona?: string;
	readonly replies?: string;
	readonly max_output?: number | string;
}

/** What may be said of all tasks (`defaults`) and of a single one. */
export interface Settings {
	readonly agent?: string;
	readonly timeout?: Duration;
	readonly max_attempts?: number;
	readonly retry?: number | RetryEntry;
	readonly stop_markers?: readonly string[];
	readonly checks?: readonly CheckEntry[];
	readonly overlays?: { readonly [name: string]: OverlayEntry };
}

/** A task of a workflow. */
export interface TaskEntry extends Settings {
	readonly description?: string;
	readonly acceptance_criteria?: string | readonly string[];
	readonly depends_on?: readonly string[];
	readonly inputs?: readonly string[];
	readonly outputs?: readonly string[];
	readonly when?: string;
}

/** How crashed attempts are tried again. */
export interface RetryEntry {
	readonly times?: number;
	readonly backoff?: Duration;
	readonly factor?: number;
	readonly max_backoff?: Duration;
}

/** What a check shows, where it does not say. */
export const DEFAULT_CHECK_KIND = 'tests';

/** A command the engine runs after each attempt. */
export interface CheckEntry {
	readonly name: string;
	readonly run: readonly string[] | string;
	readonly required?: boolean;
	readonly kind?: string;
	readonly timeout?: Duration;
}

/** A built-in's options stand beside the common keys; another overlay's stand below `options`. */
export interface OverlayEntry extends JsonObject {
	readonly enabled?: boolean;
	readonly use?: OverlayUse;
	readonly timeout?: Duration;
	readonly on_error?: 'fail' | 'warn' | 'skip';
	readonly options?: JsonObject;
}

/** A length of time: text like 20m, or seconds. */
export type Duration = string | number;
