/**
 * The calls under way to one overlay's process: every request is answered once, by its own id, or settled with a fault.
 *
 *   request ─▶ answer | error ─▶ nothing more is in the pipe: settled
 *      │ time is up, or the run was stopped
 *      ▼
 *   $/cancel ─▶ any answer within the grace: settled as late or stopped
 *      └──────▶ none: the process is not to be trusted with more
 */
import { setMaxListeners } from 'node:events';
import { formatDuration, LONGEST_MS } from '../duration.ts';
import type { JsonObject } from '../json.ts';
import type { Message, Violation } from './protocol.ts';

/** Why a call has no answer. */
export interface CallFault {
	readonly code:
		| 'OVERLAY_START'
		| 'OVERLAY_TIMEOUT'
		| 'OVERLAY_CRASHED'
		| 'OVERLAY_PROTOCOL'
		| 'OVERLAY_BROKE_DOWN'
		| 'OVERLAY_BAD_VERDICT'
		| 'OVERLAY_CHANGED'
		| 'AGENT_CANCELLED';
	readonly reason: string;
	readonly violation?: Violation;
}

export type Called = Answered | ({ readonly ok: false } & CallFault);

/** An answer, whatever it says. */
export interface Answered {
	readonly ok: true;
	readonly result: unknown;
	/** Should it be of no use: the fault, with the end of what the process wrote to stderr since it was asked. */
	explain(fault: CallFault): Promise<CallFault>;
}

export interface CallLimits {
	readonly timeoutMs: number;
	readonly signal?: AbortSignal;
	/** How long a cancelled call may take to end. */
	readonly graceMs: number;
}

/** What the calls need of the process. */
export interface Line {
	send(message: JsonObject): void;
	/** How much was read from its stdout. */
	bytesRead(): number;
	/** Whether it has begun a line on stdout that it has not ended. */
	isMidLine(): boolean;
	/** How much it has written to stderr. */
	stderrBytes(): number;
	/** The fault with the end of what it wrote to stderr after that much. */
	explain(fault: CallFault, since: number): Promise<CallFault>;
	bringDown(fault: CallFault): void;
	isDown(): boolean;
}

export interface Calls {
	request(method: string, params: JsonObject, limits: CallLimits): Promise<Called>;
	/** Sends a request whose answer nobody waits for. */
	dismiss(method: string): void;
	/** Takes an answer; one that nobody waits for brings the process down. */
	take(message: Extract<Message, { kind: 'answer' | 'error' }>): void;
	/** Settles all that is under way; says whether any call was told of the fault. */
	rejectAll(fault: CallFault): Promise<boolean>;
	/** How much had been written to stderr when the last request was made. */
	lastAsked(): number;
}

/** The run was stopped by the user or the system. */
export const STOPPED: CallFault = { code: 'AGENT_CANCELLED', reason: 'the run was stopped' };

interface Pending {
	/** What was on stderr when it was made is not about it. */
	readonly since: number;
	/** Why it was cancelled: then any answer only means that it has stopped. */
	cancelled: CallFault | null;
	/** It counts when nothing else came with it. */
	answer: Message | null;
	settle(called: Called): void;
}

/** No calls yet. */
export function createCalls(line: Line): Calls {
	const pending = new Map<number, Pending>();
	/** Asked, and may be answered, but nobody waits for it. */
	const dismissed = new Set<number>();
	let nextId = 1;
	let lastAsked = 0;
	return {
		request(method, params, limits) {
			if (limits.signal?.aborted === true) return Promise.resolve({ ok: false, ...STOPPED });
			const id = nextId++;
			lastAsked = line.stderrBytes();
			const answer = waitFor(pending, { id, method, since: lastAsked }, limits, line);
			line.send({ jsonrpc: '2.0', id, method, params });
			return answer;
		},
		dismiss(method) {
			dismissed.add(nextId);
			line.send({ jsonrpc: '2.0', id: nextId++, method, params: {} });
		},
		take(message) {
			if (dismissed.delete(message.id)) return;
			const call = pending.get(message.id);
			if (call === undefined || call.answer !== null) return line.bringDown(unexpected(message.id, nextId));
			call.answer = message;
			whenQuiet(line, () => {
				// Of one that was brought down meanwhile, `rejectAll` says what counts.
				if (!line.isDown() && pending.delete(message.id)) void answered(line, call).then(call.settle);
			});
		},
		async rejectAll(fault) {
			const calls = [...pending];
			pending.clear();
			let wasTold = false;
			for (const [id, call] of calls) {
				const counts = call.answer !== null && fault.code !== 'OVERLAY_PROTOCOL' && !line.isMidLine();
				if (call.answer === null) dismissed.add(id);
				if (!counts && call.cancelled === null) wasTold = true;
				const why = call.answer === null || fault.code === 'OVERLAY_PROTOCOL' ? fault : HALF_A_LINE;
				call.settle(counts ? await answered(line, call) : await failed(line, call, call.cancelled ?? why));
			}
			return wasTold;
		},
		lastAsked: () => lastAsked,
	};
}

/** How often it is looked whether a line has come to its end. */
const MID_LINE_MS = 5;

/** It may be the beginning of another answer. */
const HALF_A_LINE: CallFault = {
	code: 'OVERLAY_PROTOCOL',
	reason: 'it wrote half a line behind its answer',
	violation: 'no_message',
};

/**
 * Calls back once a whole turn of the event loop has brought nothing more to read: of two answers that came together, or of
 * one with garbage behind it, none counts. One that never stops talking cannot hold up its answer for ever; one that stops in
 * the middle of a line does, until its time is up.
 */
function whenQuiet(line: Line, then: () => void, turns = 1000): void {
	const before = line.bytesRead();
	const look = (): void => {
		if (line.isDown()) return then();
		if (line.isMidLine()) setTimeout(() => whenQuiet(line, then, turns), MID_LINE_MS).unref();
		else if (line.bytesRead() === before || turns === 0) then();
		else whenQuiet(line, then, turns - 1);
	};
	// The first of them is run before anything else is read, the second after.
	setImmediate(() => setImmediate(look));
}

async function answered(line: Line, call: Pending): Promise<Called> {
	const { answer, cancelled, since } = call;
	if (cancelled !== null || answer?.kind !== 'answer') return await failed(line, call, cancelled ?? brokeDown(answer));
	return { ok: true, result: answer.result, explain: (fault) => line.explain(fault, since) };
}

async function failed(line: Line, { since }: Pending, fault: CallFault): Promise<Called> {
	return { ok: false, ...(await line.explain(fault, since)) };
}

function waitFor(
	pending: Map<number, Pending>,
	{ id, method, since }: { readonly id: number; readonly method: string; readonly since: number },
	{ timeoutMs, signal, graceMs }: CallLimits,
	line: Line,
): Promise<Called> {
	return new Promise((resolve) => {
		const onLate = (): void => {
			const reason = `no answer to ${method} within ${formatDuration(timeoutMs)}`;
			cancel(pending, id, { code: 'OVERLAY_TIMEOUT', reason }, graceMs, line);
		};
		const onAbort = (): void => cancel(pending, id, STOPPED, graceMs, line);
		const timer = setTimeout(onLate, Math.min(timeoutMs, LONGEST_MS));
		if (signal !== undefined) {
			// One signal serves all the calls of a run: node would take so many listeners for a leak.
			setMaxListeners(0, signal);
			signal.addEventListener('abort', onAbort, { once: true });
		}
		pending.set(id, {
			since,
			cancelled: null,
			answer: null,
			settle(called) {
				clearTimeout(timer);
				signal?.removeEventListener('abort', onAbort);
				resolve(called);
			},
		});
	});
}

function cancel(pending: Map<number, Pending>, id: number, fault: CallFault, graceMs: number, line: Line): void {
	const call = pending.get(id);
	if (call === undefined || call.cancelled !== null) return;
	if (call.answer !== null) return line.isMidLine() ? line.bringDown(HALF_A_LINE) : undefined;
	call.cancelled = fault;
	line.send({ jsonrpc: '2.0', method: '$/cancel', params: { id } });
	const onUnheeded = (): void => {
		if (pending.get(id) !== call || call.answer !== null) return;
		if (graceMs > 0) call.cancelled = { ...fault, reason: `${fault.reason}, and it did not heed the cancellation` };
		line.bringDown({
			code: 'OVERLAY_CRASHED',
			reason: 'its process was ended, as it did not heed the cancellation of another call',
			violation: 'ignored_cancel',
		});
	};
	// The process itself keeps this one waiting; once it is gone there is nothing to wait for.
	setTimeout(onUnheeded, graceMs).unref();
}

/** Ids are given out in order: one below the next was made, and is no longer waited for. */
function unexpected(id: number, nextId: number): CallFault {
	const wasMade = Number.isInteger(id) && id > 0 && id < nextId;
	return wasMade
		? { code: 'OVERLAY_PROTOCOL', reason: `it answered the request ${id} twice`, violation: 'answered_twice' }
		: {
				code: 'OVERLAY_PROTOCOL',
				reason: `it answered the request ${id}, which nobody made`,
				violation: 'unknown_request',
			};
}

function brokeDown(message: Message | null): CallFault {
	const text = message?.kind === 'error' ? message.text : '';
	return { code: 'OVERLAY_BROKE_DOWN', reason: `it answered with an error: ${text}` };
}
