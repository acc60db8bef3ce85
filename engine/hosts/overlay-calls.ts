/**
 * The calls under way to one overlay's process: every request is answered once, by its own id, or settled with a fault.
 *
 *   request ─▶ answer | error                                    settled
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
		| 'AGENT_CANCELLED';
	readonly reason: string;
	readonly violation?: Violation;
}

export type Called = { readonly ok: true; readonly result: unknown } | ({ readonly ok: false } & CallFault);

export interface CallLimits {
	readonly timeoutMs: number;
	readonly signal?: AbortSignal;
	/** How long a cancelled call may take to end. */
	readonly graceMs: number;
}

/** What the calls need of the process. */
export interface Line {
	send(message: JsonObject): void;
	/** The fault with the end of the process's stderr. */
	explain(fault: CallFault): Promise<CallFault>;
	bringDown(fault: CallFault): void;
}

export interface Calls {
	request(method: string, params: JsonObject, limits: CallLimits): Promise<Called>;
	/** Takes an answer; one that nobody waits for brings the process down. */
	take(message: Extract<Message, { kind: 'answer' | 'error' }>): void;
	/** Settles all that is under way; says whether there was anything. */
	rejectAll(fault: CallFault): Promise<boolean>;
}

/** The run was stopped by the user or the system. */
export const STOPPED: CallFault = { code: 'AGENT_CANCELLED', reason: 'the run was stopped' };

interface Pending {
	/** Why it was cancelled: then any answer only means that it has stopped. */
	cancelled: CallFault | null;
	isAnswered: boolean;
	settle(called: Called): void;
}

/** No calls yet. */
export function createCalls(line: Line): Calls {
	const pending = new Map<number, Pending>();
	let nextId = 1;
	return {
		request(method, params, limits) {
			if (limits.signal?.aborted === true) return Promise.resolve({ ok: false, ...STOPPED });
			const id = nextId++;
			const answer = waitFor(pending, id, method, limits, line);
			line.send({ jsonrpc: '2.0', id, method, params });
			return answer;
		},
		take(message) {
			const call = pending.get(message.id);
			if (call === undefined || call.isAnswered) return line.bringDown(unexpected(message.id, nextId));
			call.isAnswered = true;
			const settle = (called: Called): void => {
				if (pending.delete(message.id)) call.settle(called);
			};
			if (message.kind === 'answer' && call.cancelled === null) {
				// Not before all is read that came with it: of two answers, none counts.
				setImmediate(settle, { ok: true, result: message.result });
				return;
			}
			const fault = call.cancelled ?? brokeDown(message);
			void line.explain(fault).then((told) => settle({ ok: false, ...told }));
		},
		async rejectAll(fault) {
			const calls = [...pending.values()];
			pending.clear();
			for (const call of calls) call.settle({ ok: false, ...(await line.explain(call.cancelled ?? fault)) });
			return calls.length > 0;
		},
	};
}

function waitFor(
	pending: Map<number, Pending>,
	id: number,
	method: string,
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
			cancelled: null,
			isAnswered: false,
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
	if (call === undefined || call.cancelled !== null || call.isAnswered) return;
	call.cancelled = fault;
	line.send({ jsonrpc: '2.0', method: '$/cancel', params: { id } });
	const onUnheeded = (): void => {
		if (pending.get(id) !== call || call.isAnswered) return;
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

function brokeDown(message: Message): CallFault {
	const text = message.kind === 'error' ? message.text : '';
	return { code: 'OVERLAY_BROKE_DOWN', reason: `it answered with an error: ${text}` };
}
