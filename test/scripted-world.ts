/**
 * A world without processes, disk or clock, and a journal in memory: drives the run core by what a test scripts.
 *
 * What an agent replies depends on the request alone, never on the order of calls, so a run that is cut and entered
 * again meets the same world.
 */
import { join } from 'node:path';
import type { AgentOutcome } from '../engine/agent.ts';
import { type CheckResult, HOOKS, type Overlay, type OverlayDefinition, type OverlayLog } from '../engine/contract.ts';
import type { HilItem, HilResolution, JournalRecord, RunEvent } from '../engine/events.ts';
import { createOverlayHost } from '../engine/hosts/overlay-host.ts';
import type { Plan } from '../engine/plan/plan.ts';
import { emptyState, reduce } from '../engine/run/reduce.ts';
import { type Ending, type ScheduleOptions, schedule } from '../engine/run/schedule.ts';
import type { Session } from '../engine/run/session.ts';
import { PENDING_TASK, type RunState, type TaskState } from '../engine/run/state.ts';
import { concerns } from '../engine/run/watched.ts';
import type { BriefFacts, Inspection, World } from '../engine/run/world.ts';
import { sha256 } from '../engine/store/hash.ts';
import { RUN_STARTED, record } from './builders.ts';

export type AgentCall = Parameters<World['startAgent']>[0];

/** What an agent does: its text, the files it leaves, or how it fails. */
export type Reply =
	| string
	| { readonly text?: string; readonly files?: Files; readonly fail?: Failure; readonly bytes?: number };
export type Files = { readonly [path: string]: string };
export interface Failure {
	readonly code: string;
	readonly reason?: string;
}

export interface Script {
	/** What each agent run replies; nothing said is an empty text. */
	agent?(call: AgentCall): Reply | undefined | Promise<Reply | undefined>;
	/** Overlays by name: living ones, or whole definitions. */
	readonly overlays?: { readonly [name: string]: Overlay | OverlayDefinition };
	readonly logs?: { readonly [name: string]: OverlayLog };
	check?(task: string, attempt: number, name: string): boolean;
	/** What a person decides about an item; null as long as nobody has. */
	person?(item: HilItem): Decision | null;
	readonly files?: Files;
	/** Prompts kept so far, by sha256: they outlive a process. */
	readonly prompts?: Map<string, string>;
	/** Whether there is a git tree to tell workspaces apart. */
	readonly git?: boolean;
	space?(): string | null;
	now?(): Date;
}

export interface Decision {
	readonly choice: string;
	readonly notes?: string;
}

/** The world, and what a test wants to see of it. */
export interface ScriptedWorld extends World {
	readonly files: Map<string, string>;
	/** Agent runs in the order of their start. */
	readonly calls: AgentCall[];
	readonly briefs: Map<string, BriefFacts>;
	readonly published: HilItem[];
	/** Overlays' consultations, as `task#attempt/hook/overlay`. */
	readonly consulted: string[];
	readonly checked: string[];
	/** Called before any effect outside; the session puts its check for durability here. */
	guard: (effect: string, task: string) => void;
}

export function scriptedWorld(script: Script = {}): ScriptedWorld {
	const files = new Map(Object.entries(script.files ?? {}));
	const prompts = script.prompts ?? new Map<string, string>();
	const calls: AgentCall[] = [];
	const briefs = new Map<string, BriefFacts>();
	const published: HilItem[] = [];
	const consulted: string[] = [];
	const checked: string[] = [];
	const definitions = definitionsIn(script);
	const host = createOverlayHost({ definitionOf: ({ name }) => definitions.get(name), overlays: [], templates: {} });
	let ticks = 0;
	const world: ScriptedWorld = {
		files,
		calls,
		briefs,
		published,
		consulted,
		checked,
		guard: () => {},
		now: script.now ?? (() => new Date(Date.UTC(2026, 1, 27) + ticks++)),
		async startAgent(call) {
			world.guard(`agent ${call.key}`, call.task);
			calls.push(call);
			return outcomeOf(await script.agent?.(call), files, call);
		},
		async runChecks(task, attempt) {
			world.guard(`checks of ${task.id}#${attempt}`, task.id);
			checked.push(`${task.id}#${attempt}`);
			return task.checks.map(({ name, kind, required }): CheckResult => {
				const ok = script.check?.(task.id, attempt, name) ?? true;
				return { name, kind, required, ok, exit: ok ? 0 : 1, output: '', ms: 1 };
			});
		},
		consult(overlay, hook, moment, signal) {
			consulted.push(`${moment.task.id}#${moment.attempt}/${hook}/${overlay.name}`);
			return host.consult(overlay, hook, moment, signal);
		},
		logOf: (name) => script.logs?.[name] ?? definitions.get(name)?.log ?? null,
		workspace: {
			inspect: (paths) => inspect(files, paths),
			read: (path) => files.get(path) ?? null,
			listing: (places) => listing(files, places),
			tree: () => (script.git === true ? sha256(JSON.stringify([...files].sort())) : null),
			diff: (from, to) => (from === null || to === null ? '(no diff)' : `${from.slice(0, 4)}..${to.slice(0, 4)}`),
			outputHolds: () => null,
		},
		people: {
			publish(item) {
				world.guard(`publish ${item.id}`, item.task_id);
				published.push(item);
			},
			resolution: (item) => resolutionOf(script.person?.(item) ?? null),
		},
		keepPrompt(prompt) {
			prompts.set(sha256(prompt), prompt);
			return sha256(prompt);
		},
		readPrompt(digest) {
			const prompt = prompts.get(digest);
			if (prompt === undefined) throw new Error(`no prompt ${digest} was kept`);
			return prompt;
		},
		redact: (value) => value,
		spaceProblem: () => script.space?.() ?? null,
		briefFor(task, facts) {
			briefs.set(`${task.id}#${facts.attempt}${facts.files === undefined ? '' : `:${facts.files.join()}`}`, facts);
			return `${task.id}#${facts.attempt}: ${facts.feedback?.text ?? task.description}`;
		},
	};
	return world;
}

function definitionsIn(script: Script): ReadonlyMap<string, OverlayDefinition> {
	const entries = Object.entries(script.overlays ?? {});
	return new Map(entries.map(([name, one]) => [name, 'create' in one ? one : { ...BARE, name, create: () => one }]));
}

const BARE = { summary: '', hooks: HOOKS, options: {} };

function outcomeOf(reply: Reply | undefined, files: Map<string, string>, { agent }: AgentCall): AgentOutcome {
	const { text = '', fail, files: written = {}, bytes } = typeof reply === 'object' ? reply : { text: reply };
	for (const [path, content] of Object.entries(written)) files.set(path, content);
	const output = { text, bytes: bytes ?? Buffer.byteLength(text), sha256: sha256(text) };
	if (fail === undefined) return { ok: true, output, usage: null, ms: 5 };
	return { ok: false, code: fail.code, reason: fail.reason ?? `agent "${agent.name}" failed`, output, ms: 5 };
}

function inspect(files: ReadonlyMap<string, string>, paths: readonly string[]): Inspection {
	const found = [...files].filter(([path]) =>
		paths.some((wanted) => path === wanted || path.startsWith(join(wanted, '/'))),
	);
	return {
		artifacts: found.map(([path, text]) => ({ path, sha256: sha256(text), bytes: Buffer.byteLength(text) })),
		missing: paths.filter((wanted) => !found.some(([path]) => path === wanted || path.startsWith(join(wanted, '/')))),
		refused: [],
	};
}

function resolutionOf(decision: Decision | null): HilResolution | null {
	if (decision === null) return null;
	return {
		choice: decision.choice,
		by: 'ann',
		via: 'cli',
		notes: decision.notes ?? null,
		at: '2026-02-27T12:00:00.000Z',
	};
}

/** A session over a journal in memory. */
export interface MemorySession extends Session {
	readonly records: readonly JournalRecord[];
	task(id: string): TaskState;
	kinds(): readonly string[];
	/** The kinds of the records that a crash could still undo. */
	undurable(): readonly string[];
}

export interface SessionOptions {
	/** The journal of a run to go on with. */
	readonly records?: readonly JournalRecord[];
	/** Sees every new record, at once. */
	onRecord?(record: JournalRecord): void;
}

/** Opens a run the way `openRun` does, without a disk: begins it, or goes on with it. */
export function openMemory(plan: Plan, world: ScriptedWorld, options: SessionOptions = {}): MemorySession {
	const records: JournalRecord[] = [];
	const stop = new AbortController();
	let state: RunState = emptyState();
	let durable = 0;
	for (const known of options.records ?? []) {
		records.push(known);
		state = reduce(state, known);
	}
	const session: MemorySession = {
		plan,
		world,
		records,
		signal: stop.signal,
		stop: () => stop.abort(),
		state: () => state,
		task: (id) => state.tasks.get(id) ?? PENDING_TASK,
		kinds: () => records.map(({ kind }) => kind),
		undurable: () => records.slice(durable).map(({ kind }) => kind),
		record(...events: readonly RunEvent[]) {
			for (const event of events) {
				const one = record(event, records.at(-1), world.now().toISOString());
				records.push(one);
				state = reduce(state, one);
				options.onRecord?.(one);
			}
		},
		async durable() {
			const upTo = records.length;
			await Promise.resolve();
			durable = Math.max(durable, upTo);
		},
	};
	session.record(options.records === undefined ? RUN_STARTED : { kind: 'run_resumed', by: 'ann', version: '0.0.0' });
	for (const { item } of state.items.values()) if (item !== null) world.people.publish(item);
	durable = records.length;
	world.guard = (effect, task) => {
		const open = records.slice(durable).filter((one) => 'task' in one && one.task === task && one.kind !== 'answered');
		if (open.length > 0) throw new Error(`${effect} was begun before ${open[0]?.kind} was durable`);
	};
	return session;
}

export const SCHEDULE: ScheduleOptions = { maxParallel: 3, only: null, wait: false, step: null };

/** What a process left. */
export interface Ran {
	readonly ending: Ending;
	readonly session: MemorySession;
}

/** Runs a plan in this world as far as it goes, and records how it was left. */
export async function runPlan(
	plan: Plan,
	world: ScriptedWorld,
	options: Partial<ScheduleOptions> & SessionOptions = {},
): Promise<Ran> {
	const session = openMemory(plan, world, options);
	const ending = await schedule(session, { ...SCHEDULE, ...options });
	if (ending === 'all_ended') session.record({ kind: 'run_finished', outcome: 'completed' });
	else session.record({ kind: 'run_paused', reason: ending === 'stopped' ? 'interrupted' : ending });
	return { ending, session };
}

/** A promise and how to keep it: agents that a test commands. */
export interface Gate {
	readonly opened: Promise<void>;
	open(): void;
}

export function gate(): Gate {
	let open = (): void => {};
	const opened = new Promise<void>((resolve) => {
		open = resolve;
	});
	return { opened, open: () => open() };
}

/** As `listWatched` writes it. */
function listing(files: ReadonlyMap<string, string>, places: readonly string[]): string {
	const watched = [...files].filter(([path]) => concerns(path, places)).sort();
	return watched.map(([path, text]) => `${JSON.stringify([path, sha256(text)])}\n`).join('');
}
