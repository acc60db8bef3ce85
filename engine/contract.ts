/**
 * The overlay contract: overlays judge, the engine acts.
 *
 * An overlay is shown a moment (plain facts) at a hook and returns one of four verdicts. It never writes state, starts
 * an agent or talks to a person: it asks, and the engine does it.
 */
import type { Json, JsonObject } from './json.ts';

/** Every hook, written once; all else is derived from this list. */
export const HOOKS = ['before', 'checkpoint', 'after', 'failed'] as const;
export type Hook = (typeof HOOKS)[number];

/** Every verdict an overlay may return, written once. */
export const VERDICTS = ['pass', 'rework', 'ask', 'fail'] as const;
export type VerdictKind = (typeof VERDICTS)[number];

/** Which verdicts each hook accepts. */
export const ALLOWED_VERDICTS: { readonly [H in Hook]: readonly VerdictKind[] } = {
	before: ['pass', 'ask', 'fail'],
	checkpoint: ['pass', 'rework', 'ask', 'fail'],
	after: ['pass', 'rework', 'ask', 'fail'],
	failed: ['pass', 'rework', 'ask', 'fail'],
};

/** What a `pass` may amend at each hook: what the engine takes up there, and nothing else. */
export const ALLOWED_AMENDMENTS: { readonly [H in Hook]: readonly (keyof Amendment)[] } = {
	before: ['brief'],
	checkpoint: [],
	after: ['output'],
	failed: ['brief'],
};

/** One file the task is responsible for, as it was when it was judged; `content` is null where it is not text. */
export interface Artifact {
	readonly path: string;
	readonly sha256: string;
	readonly bytes: number;
	readonly content: string | null;
}

/** What a check that the engine ran has shown. */
export interface CheckResult {
	readonly name: string;
	readonly kind: string;
	readonly required: boolean;
	readonly ok: boolean;
	readonly exit: number | null;
	/** What its exit code does not tell, as in `was killed by SIGKILL`; absent where it tells all. */
	readonly reason?: string;
	readonly output: string;
	readonly ms: number;
}

/** What an agent is told. */
export interface Brief {
	readonly prompt: string;
}

/** One problem a reviewer reports. */
export interface Finding {
	readonly file?: string;
	readonly line?: number;
	readonly severity: string;
	readonly issue: string;
	readonly details?: string;
	readonly fix?: string;
	readonly confidence?: number;
	readonly reviewer?: string;
}

/** The answer to a question: `value` is an agent's reply text or a person's choice; `failed` says why there is none. */
export interface Answer {
	readonly by: string;
	readonly value: Json;
	readonly at: string;
	readonly via?: string;
	readonly notes?: string;
	readonly failed?: { readonly code: string; readonly reason: string };
	/** Only for an answer by a person: the HIL item that carried the question. */
	readonly item?: string;
	/** Only for an answer by an agent: the sha256 of the prompt it got. */
	readonly promptSha256?: string;
	readonly usage?: Usage;
}

/** What an agent run cost; unknown is null, never 0. */
export interface Usage {
	readonly inputTokens: number | null;
	readonly outputTokens: number | null;
	readonly costUsd: number | null;
}

/** What this overlay said of an earlier attempt at the same task. */
export interface Past {
	readonly hook: Hook;
	readonly attempt: number;
	readonly verdict: VerdictKind;
	readonly text: string;
	readonly record: JsonObject | null;
}

/** What an overlay may know of the task it judges. */
export interface TaskFacts {
	readonly id: string;
	readonly agent: string;
	readonly description: string;
	readonly acceptanceCriteria: readonly string[];
	readonly inputs: readonly string[];
	readonly outputs: readonly string[];
}

/** The facts that an overlay is shown at a hook. Frozen: an overlay cannot change what the next one sees. */
export interface Moment {
	readonly run: string;
	readonly workflow: string;
	readonly hook: Hook;
	/** When the overlay was consulted (ISO 8601): the only clock an overlay needs. */
	readonly at: string;
	readonly task: TaskFacts;
	readonly attempt: number;
	/** The agent that made the attempt (of several fixers the last); null where a person did, or nobody yet. */
	readonly worker: string | null;
	/** 1 + the attempts this overlay has already judged at this hook. */
	readonly iteration: number;
	readonly brief: Brief;
	readonly output: { readonly text: string };
	readonly artifacts: readonly Artifact[];
	readonly diff: string;
	/** Of the files that this overlay watches, those that are not as they were when the task began, whoever changed them. */
	readonly touched: readonly string[];
	readonly checks: readonly CheckResult[];
	/** The merged constitution, by section heading. */
	readonly constitution: { readonly [section: string]: string };
	readonly history: readonly Past[];
	readonly answers: { readonly [question: string]: Answer };
	/** Only at `failed`: what went wrong with the attempt. */
	readonly failure: { readonly code: string; readonly reason: string } | null;
}

/** A question the engine puts to an agent (`agent:<name>`) or to a person (`human`). */
export interface Question {
	readonly id: string;
	readonly to: 'human' | `agent:${string}`;
	readonly brief: Brief;
	/** For an agent: its role, given as SDD_ROLE (default `reviewer`). */
	readonly role?: string;
	/** For a person: what they may choose; the first that means approval should come first. */
	readonly choices?: readonly string[];
	/** For a person: why it is asked (max_iterations, approval_required, contract_violation …). */
	readonly trigger?: string;
	/** For a person: what they need to decide, shown with the item. */
	readonly context?: JsonObject;
	/** For an agent: an id that its reply may echo, given as SDD_REVIEW_ID. */
	readonly reviewId?: string;
}

/** Who repairs what, when not the task's own agent. */
export interface Fixer {
	readonly agent: string;
	readonly files?: readonly string[];
	readonly feedback: string;
}

/** What an overlay returns. Any verdict may carry a `record`: an entry of that overlay's log. */
export type Verdict =
	| { readonly kind: 'pass'; readonly amend?: Amendment; readonly note?: string; readonly record?: JsonObject }
	| {
			readonly kind: 'rework';
			readonly feedback: string;
			readonly findings?: readonly Finding[];
			readonly fixers?: readonly Fixer[];
			/** A person did (or will do) the work: judge what lies there, without running an agent. */
			readonly by?: 'agent' | 'human';
			readonly record?: JsonObject;
	  }
	| { readonly kind: 'ask'; readonly questions: readonly Question[]; readonly record?: JsonObject }
	| { readonly kind: 'fail'; readonly reason: string; readonly code?: string; readonly record?: JsonObject };

/** What a `pass` may change of what comes next: text added to the brief (before, failed), the output's text (after). */
export interface Amendment {
	readonly brief?: string;
	readonly output?: string;
}

/** What the host gives an overlay when it is created. */
export interface OverlayKit {
	/** Renders one of the overlay's templates (or the project's override of it). */
	render(template: string, data: { readonly [name: string]: unknown }): string;
}

/** One living overlay: any of the four hooks. */
export type Overlay = {
	readonly [H in Hook]?: (moment: Moment, call: { readonly signal: AbortSignal }) => Verdict | Promise<Verdict>;
};

/** A document that the engine keeps for an overlay: a fold of the records its verdicts carried. */
export interface OverlayLog {
	/** Folder below `.ai-sdd/state/`; the document is `<folder>/<task-id>.json`. */
	readonly folder: string;
	/** Under this name the document is put into the context of the overlay's questions to a person. */
	readonly name: string;
	/** Members of a record that come first in the document, in this order; the rest follow by name. */
	readonly members?: readonly string[];
	/** The document's closing members, after `task_id`, `overlay`, `run_id` and `iterations` (the records that carry an `iteration`). */
	closing(records: readonly JsonObject[], about: LogSubject): JsonObject;
}

/** What a log's closing members may depend on besides its records. */
export interface LogSubject {
	readonly task: string;
	readonly run: string;
	/** Whether the task has ended, and when. */
	readonly ended: { readonly completed: boolean; readonly at: string } | null;
}

/** What planning lets an overlay check about the task it is attached to. */
export interface Attachment<Options> {
	readonly options: Options;
	readonly task: {
		readonly id: string;
		readonly agent: string;
		readonly outputs: readonly string[];
		readonly checks: readonly { readonly name: string; readonly kind: string }[];
	};
}

/** A problem an overlay finds in its own options: `path` points into them. */
export interface OptionProblem {
	readonly path: readonly string[];
	readonly message: string;
	readonly remedy: string;
	/** It can be run like that, but not as it was meant. */
	readonly isWarning?: boolean;
}

/** An overlay's definition: data and one function, like a lint rule. */
export interface OverlayDefinition<Options = JsonObject> {
	readonly name: string;
	readonly summary: string;
	readonly version?: string;
	readonly hooks: readonly Hook[];
	/** JSON Schema (draft-07) of the options, without `enabled`, `use`, `timeout`, `on_error`. */
	readonly options: JsonObject;
	/** Place in the order of judging: hil 10, gates 20, reviews 30, others 50, confidence 90. */
	readonly order?: number;
	readonly conflictsWith?: readonly string[];
	/** Built-in texts of its Handlebars templates, by name; `.ai-sdd/prompts/<name>.hbs` overrides one. */
	readonly templates?: { readonly [name: string]: string };
	/** The agent that does the task's work, where the task itself names none. */
	worker?(options: Options): string | undefined;
	/** The agents it will ask. */
	agents?(attachment: Attachment<Options>): readonly string[];
	/** What is wrong with these options on this task, beyond what the schema can say. */
	problems?(attachment: Attachment<Options>): readonly OptionProblem[];
	/** Files and folders of the project, besides the outputs, that its verdict depends on: a change voids it. */
	watches?(options: Options): readonly string[];
	/** How many attempts it may need before it asks a person. */
	attempts?(options: Options): number;
	readonly log?: OverlayLog;
	create(options: Options, kit: OverlayKit): Overlay;
}

/** Types an overlay module's definition; returns it unchanged. */
export function defineOverlay<Options = JsonObject>(
	definition: OverlayDefinition<Options>,
): OverlayDefinition<Options> {
	return definition;
}

/** What a verdict says in words; an overlay's past is told with it. */
export function verdictText(verdict: Verdict): string {
	switch (verdict.kind) {
		case 'pass':
			return verdict.note ?? '';
		case 'rework':
			return verdict.feedback;
		case 'fail':
			return verdict.reason;
		case 'ask':
			return '';
	}
}
