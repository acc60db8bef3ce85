/**
 * An overlay in a process of its own, started when it is first asked, and again when it went down: JSON-RPC 2.0, one JSON a
 * line, both ways, on stdin and stdout.
 *
 *   start ─▶ initialize ─▶ ready ─▶ before | checkpoint | after | failed …  ─▶ shutdown
 *              │ 5 s         │ a crash, garbage, an unknown id, a flood: all that waits is rejected,
 *              ▼             ▼ and the next call starts it again, three times at most
 *            failed        down
 *
 * One process serves all tasks of a run, calls in parallel. Loads child_process: reach it by `await import()`.
 */
import type { JsonObject } from '../json.ts';
import type { Answered, Called, CallFault } from './overlay-calls.ts';
import { type Connection, type ConnectOptions, connect, notStartedWords } from './overlay-connection.ts';
import { type Handshake, PROTOCOL, problemWithHandshake } from './protocol.ts';

/** How to run an overlay's process. */
export interface ProcessOptions extends ConnectOptions {
	readonly version: string;
	readonly startTimeoutMs?: number;
	/** Starts beyond the first; then it stays down. */
	readonly restarts?: number;
	/** Whether its code is no longer what the run began with, in words; null if it is. Then it is not started, or not listened to. */
	changed?(): string | null;
}

export type Greeted = { readonly ok: true; readonly handshake: Handshake } | ({ readonly ok: false } & CallFault);

/** A process that can be called. */
export interface OverlayProcess {
	/** Starts it if need be, and returns what it said of itself. */
	handshake(): Promise<Greeted>;
	call(
		method: string,
		params: JsonObject,
		limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
	): Promise<Called>;
	/** Asks it to end, and ends it if it does not; returns what it did wrong that no call has heard of. */
	close(): Promise<CallFault | null>;
}

export const START_TIMEOUT_MS = 5000;
export const RESTARTS = 3;

interface Started {
	/** Null as long as, or if, there is no process. */
	connection: Connection | null;
	readonly greeted: Promise<Greeted>;
}

interface State {
	readonly options: ProcessOptions;
	current: Started | null;
	starts: number;
	lastFault: CallFault | null;
	isClosed: boolean;
}

/** Describes a process; nothing is started before the first call. */
export function overlayProcess(options: ProcessOptions): OverlayProcess {
	const state: State = { options, current: null, starts: 0, lastFault: null, isClosed: false };
	return {
		handshake: async () => (await ready(state)).greeted,
		async call(method, params, limits) {
			const { greeted, connection } = await ready(state);
			if (!greeted.ok) return greeted;
			return await connection!.request(method, params, limits);
		},
		async close() {
			state.isClosed = true;
			return (await state.current?.connection?.end())?.untold ?? null;
		},
	};
}

/** The process that is running, or a new one; several callers at once get the same. */
async function ready(state: State): Promise<{ readonly greeted: Greeted; readonly connection: Connection | null }> {
	while (state.current?.connection?.isUsable() === false && !state.isClosed) {
		const gone = state.current;
		const over = await state.current.connection.over;
		const greeted = await gone.greeted;
		if (state.current !== gone) continue;
		state.lastFault = greeted.ok ? over : greeted;
		state.current = null;
		// Nobody has heard yet that what it said before is not to be trusted.
		if (over.code === 'OVERLAY_PROTOCOL' && !over.wasTold) return { greeted: { ok: false, ...over }, connection: null };
	}
	const refusal = refusalOf(state);
	if (refusal !== null) return { greeted: { ok: false, ...refusal }, connection: null };
	state.current ??= start(state);
	const { current } = state;
	const greeted = await current.greeted;
	return { greeted, connection: current.connection };
}

function refusalOf({ isClosed, current, starts, options, lastFault }: State): CallFault | null {
	if (isClosed) return { code: 'AGENT_CANCELLED', reason: 'the run has ended' };
	if (current !== null) return null;
	if (starts <= (options.restarts ?? RESTARTS)) return changedSince(options);
	const last = lastFault?.reason ?? 'unknown';
	return {
		code: lastFault?.code === 'OVERLAY_PROTOCOL' ? 'OVERLAY_PROTOCOL' : 'OVERLAY_CRASHED',
		reason: `it went down ${starts} times and is not started again; the last time: ${last}`,
	};
}

function changedSince({ changed }: ProcessOptions): CallFault | null {
	const reason = changed?.() ?? null;
	return reason === null ? null : { code: 'OVERLAY_CHANGED', reason };
}

function start(state: State): Started {
	state.starts++;
	const connected = connect(state.options);
	if (connected.ok) return { connection: connected.connection, greeted: greet(state.options, connected.connection) };
	const greeted = connected.fault.then((fault) => {
		state.lastFault = fault;
		state.current = null;
		return { ok: false as const, ...fault };
	});
	return { connection: null, greeted };
}

async function greet(options: ProcessOptions, connection: Connection): Promise<Greeted> {
	const params = { protocol: { ...PROTOCOL }, host: { name: 'sdd', version: options.version } };
	const timeoutMs = options.startTimeoutMs ?? START_TIMEOUT_MS;
	const called = await connection.request('initialize', params, { timeoutMs, graceMs: 0 });
	// Whoever changes the code may do it between the look at it and its start.
	const fault = called.ok ? ((await wrongHandshake(called)) ?? changedSince(options)) : atStart(options, called);
	if (fault === null) return { ok: true, handshake: (called as { readonly result: Handshake }).result };
	await connection.end();
	return { ok: false, ...fault };
}

async function wrongHandshake({ result, explain }: Answered): Promise<CallFault | null> {
	const problem = problemWithHandshake(result);
	if (problem === null) return null;
	return await explain({ code: 'OVERLAY_PROTOCOL', reason: `its answer to initialize is wrong: ${problem}` });
}

function atStart(options: ProcessOptions, fault: CallFault): CallFault {
	const isPlain =
		fault.code === 'OVERLAY_TIMEOUT' || fault.code === 'OVERLAY_CRASHED' || fault.code === 'OVERLAY_BROKE_DOWN';
	if (isPlain) return { ...fault, code: 'OVERLAY_START', reason: `${notStartedWords(options)}: ${fault.reason}` };
	return { ...fault, reason: `it could not be started: ${fault.reason}` };
}
