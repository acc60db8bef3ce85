/** Consults overlays that run in processes of their own: Python files, and any command that speaks the protocol. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { HOOKS, type Hook, type OverlayDefinition } from '../contract.ts';
import { type OverlayUse, useText } from '../overlay-use.ts';
import { endOrphans } from '../process/orphans.ts';
import { checkedVerdict } from './checked-verdict.ts';
import { logFrom } from './declared-log.ts';
import type { Consulted, OverlayHost } from './host.ts';
import type { Answered, CallFault } from './overlay-calls.ts';
import type { ConnectOptions } from './overlay-connection.ts';
import { type OverlayProcess, overlayProcess } from './overlay-process.ts';
import type { MaskFile } from './overlay-stderr.ts';
import type { Handshake } from './protocol.ts';
import { momentToWire, verdictFromWire } from './wire.ts';

/** What starting overlays' processes needs. */
export interface ProcessHostOptions {
	readonly project: string;
	readonly version: string;
	/** Where their stderr goes: a folder; null where nothing may be written. */
	readonly logDir: string | null;
	readonly env: { readonly [name: string]: string };
	/** The command line of an overlay, or why there is none. */
	commandOf(use: OverlayUse): Command;
	/** Whether an overlay's code is no longer what the run began with, in words; null if it is. */
	changed?(use: OverlayUse): string | null;
	/** Takes the secrets out of a log, once its process is over. */
	readonly mask?: MaskFile;
	readonly graceMs?: number;
}

export type Command =
	| { readonly ok: true; readonly command: readonly string[]; readonly interpreter?: string }
	| { readonly ok: false; readonly error: string; readonly remedy: string };

/** A host that also ends what it started. */
export interface ProcessHost extends Pick<OverlayHost, 'consult'> {
	/** Starts the process of each use, so that it is ready when it is first asked. */
	warmUp(uses: Iterable<OverlayUse>): void;
	/** Ends them; returns what they did wrong that no call has heard of. */
	close(): Promise<readonly string[]>;
}

/** Makes the host: one process per distinct use, shared by all tasks. */
export function createProcessHost(options: ProcessHostOptions): ProcessHost {
	const processes = new Map<string, OverlayProcess>();
	const processOf = (use: OverlayUse): OverlayProcess | { readonly error: string } => {
		// Not its text: `a b` and `a`, `b` are two commands.
		const key = JSON.stringify(use);
		const known = processes.get(key);
		if (known !== undefined) return known;
		const made = makeProcess(options, use, processes.size);
		if (!('error' in made)) processes.set(key, made);
		return made;
	};
	return {
		warmUp(uses) {
			for (const use of uses) {
				const process = processOf(use);
				// Whatever is wrong with it is told when it is asked.
				if (!('error' in process)) void process.handshake();
			}
		},
		async consult(plan, hook, moment, signal) {
			if (plan.use === null) throw new Error(`the overlay "${plan.name}" has no process`);
			const process = processOf(plan.use);
			if ('error' in process) return { ok: false, code: 'OVERLAY_START', reason: process.error, transport: true };
			const params = { options: plan.options, moment: momentToWire(moment) };
			const called = await process.call(hook, params, { timeoutMs: plan.timeoutMs, signal });
			return called.ok ? await verdictIn(hook, called) : faultOf(called);
		},
		async close() {
			const warnings = [...processes].map(async ([use, process]) => {
				const untold = await process.close();
				if (untold === null) return [];
				return [`the overlay ${useText(JSON.parse(use))}, after its last verdict had counted: ${untold.reason}`];
			});
			return (await Promise.all(warnings)).flat();
		},
	};
}

/** A verdict, or what is wrong with it and what the overlay wrote to stderr meanwhile. */
async function verdictIn(hook: Hook, { result, explain }: Answered): Promise<Consulted> {
	const checked = await checkedVerdict(hook, verdictFromWire(result));
	if (checked.ok) return checked;
	return { ...checked, ...(await explain({ code: 'OVERLAY_BAD_VERDICT', reason: checked.reason })) };
}

/** What an overlay says of itself: started, asked, ended. For planning, where nothing is kept running. */
export async function describeProcess(
	options: ProcessHostOptions,
	use: OverlayUse,
): Promise<OverlayDefinition | { readonly error: string; readonly remedy?: string }> {
	// There is no run yet by which to find what it may leave behind.
	const marker = { SDD_PROBE: randomUUID() };
	const process = makeProcess({ ...options, env: { ...options.env, ...marker } }, use, 0);
	if ('error' in process) return process;
	const said = await process.handshake();
	await process.close();
	await endOrphans(marker, 0);
	return said.ok ? definitionFrom(said.handshake) : { error: said.reason, remedy: REMEDY };
}

const REMEDY = 'try it with `sdd overlays test`; docs/protocol.md says what an overlay must answer';

function makeProcess(
	options: ProcessHostOptions,
	use: OverlayUse,
	before: number,
): OverlayProcess | { readonly error: string; readonly remedy?: string } {
	const connect = connectOptions(options, use, before);
	if ('error' in connect) return connect;
	const changed = (): string | null => options.changed?.(use) ?? null;
	return overlayProcess({ ...connect, version: options.version, changed });
}

/** How the process behind `use` is started; `before` is how many there are already, as each has a log of its own. */
export function connectOptions(
	options: ProcessHostOptions,
	use: OverlayUse,
	before = 0,
): ConnectOptions | { readonly error: string; readonly remedy: string } {
	const found = options.commandOf(use);
	if (!found.ok) return { error: found.error, remedy: found.remedy };
	const { project, env, logDir, graceMs, mask } = options;
	return {
		command: found.command,
		cwd: project,
		env,
		stderrPath: logDir === null ? null : join(logDir, logName(use, before)),
		...(mask === undefined ? {} : { mask }),
		...(found.interpreter === undefined ? {} : { interpreter: found.interpreter }),
		...(graceMs === undefined ? {} : { graceMs }),
	};
}

function logName(use: OverlayUse, before: number): string {
	const words = useText(use).replaceAll(/[^a-zA-Z0-9_-]+/g, '-');
	return `${before + 1}-${words.slice(-80).replaceAll(/^-+|-+$/g, '')}.stderr.txt`;
}

function definitionFrom(said: Handshake): OverlayDefinition {
	return {
		name: said.name,
		summary: said.summary ?? '',
		...(said.version === undefined ? {} : { version: said.version }),
		hooks: HOOKS.filter((hook) => said.hooks.includes(hook)),
		options: said.options ?? {},
		...(said.order === undefined ? {} : { order: said.order }),
		...(said.conflicts_with === undefined ? {} : { conflictsWith: said.conflicts_with }),
		...(said.agents === undefined ? {} : { agents: () => said.agents ?? [] }),
		...(said.watches === undefined ? {} : { watches: () => said.watches ?? [] }),
		...(said.log === undefined ? {} : { log: logFrom(said.log) }),
		create() {
			throw new Error(`the overlay "${said.name}" lives in a process of its own`);
		},
	};
}

function faultOf({ code, reason }: CallFault): Consulted {
	return { ok: false, code, reason, transport: !ALWAYS_FAILS.has(code) };
}

/** One that threw, answered nonsense or was changed has failed, whatever `on_error` says; all else is a matter of transport. */
const ALWAYS_FAILS: ReadonlySet<CallFault['code']> = new Set([
	'OVERLAY_PROTOCOL',
	'OVERLAY_BROKE_DOWN',
	'OVERLAY_CHANGED',
]);
