/** The overlay protocol as the host reads it: JSON-RPC 2.0, one JSON a line. Pure: docs/protocol.md says it in words. */
import { HOOKS, type Hook } from '../contract.ts';
import type { JsonObject } from '../json.ts';
import { type DeclaredLog, problemWithLog } from './declared-log.ts';
import type { Line } from './json-lines.ts';

/** The versions of the protocol that this host speaks. */
export const PROTOCOL: Versions = { min: 1, max: 1 };

export interface Versions {
	readonly min: number;
	readonly max: number;
}

/** What an overlay says of itself at the handshake. */
export interface Handshake {
	readonly protocol: number;
	readonly name: string;
	readonly version?: string;
	readonly summary?: string;
	readonly hooks: readonly Hook[];
	readonly options?: JsonObject;
	readonly order?: number;
	readonly conflicts_with?: readonly string[];
	readonly agents?: readonly string[];
	readonly watches?: readonly string[];
	readonly log?: DeclaredLog;
}

/** What an overlay did that no overlay may do. */
export type Violation = 'no_message' | 'too_long' | 'unknown_request' | 'answered_twice' | 'ignored_cancel';

/** One line, understood. */
export type Message =
	| { readonly kind: 'answer'; readonly id: number; readonly result: unknown }
	| { readonly kind: 'error'; readonly id: number; readonly text: string }
	| { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
	| { readonly kind: 'violation'; readonly violation: Violation; readonly reason: string };

/** Understands a line, or says what is wrong with it. */
export function readMessage(line: Line): Message {
	if (line.kind === 'too_long') return violation(`it wrote a line of more than ${line.limit} bytes`, 'too_long');
	if (line.kind === 'garbage')
		return violation(`it wrote something that is no JSON to stdout: ${JSON.stringify(line.text)}`);
	if (line.kind === 'ambiguous')
		return violation(`it wrote an object that has a member twice to stdout: ${JSON.stringify(line.text)}`);
	if (!isObject(line.value)) return violation(`it wrote ${shown(line.value)} to stdout, which is no message`);
	const { jsonrpc, id, method, params } = line.value;
	if (jsonrpc !== '2.0') return violation(`its message ${shown(line.value)} lacks "jsonrpc": "2.0"`);
	if (typeof method === 'string') {
		if (id === undefined) return { kind: 'notification', method, params };
		return violation(`it asked the host for "${method}", and the host answers no requests`);
	}
	return readAnswer(line.value);
}

function readAnswer(value: { readonly [name: string]: unknown }): Message {
	const { id, result, error } = value;
	if (id === null && error !== undefined)
		return violation(`it did not understand what it was sent: ${errorText(error)}`);
	if (typeof id !== 'number')
		return violation(`its message ${shown(value)} has neither a method nor the id of a request`);
	if ('result' in value && error !== undefined && error !== null)
		return violation(`its answer to the request ${id} has both a result and an error`);
	if (error !== undefined && error !== null) return { kind: 'error', id, text: errorText(error) };
	if (!('result' in value)) return violation(`its answer to the request ${id} has neither a result nor an error`);
	return { kind: 'answer', id, result };
}

function violation(reason: string, kind: Violation = 'no_message'): Message {
	return { kind: 'violation', violation: kind, reason };
}

function errorText(error: unknown): string {
	if (isObject(error) && typeof error['message'] === 'string') return error['message'];
	return shown(error);
}

function shown(value: unknown): string {
	const text = JSON.stringify(value);
	return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** What a notification says to people: `log` and `$/progress` have a text, and what they are about. */
export function noteOf(method: string, params: unknown): string {
	const { level, id, text } = (params ?? {}) as { readonly [name: string]: unknown };
	const about = method === 'log' ? (level ?? 'info') : id;
	const prefix = about === undefined ? method : `${method} ${String(about)}`;
	return `[${prefix}] ${typeof text === 'string' ? text : (JSON.stringify(params) ?? '')}`;
}

/** What is wrong with a handshake, in words for whoever wrote the overlay; null if nothing is. */
export function problemWithHandshake(said: unknown): string | null {
	if (!isObject(said)) return 'it is not an object';
	const { protocol, name, hooks } = said;
	if (typeof protocol !== 'number') return '"protocol" must be a number';
	if (protocol < PROTOCOL.min || protocol > PROTOCOL.max || !Number.isInteger(protocol)) {
		return `it speaks protocol ${protocol}, and this sdd speaks ${PROTOCOL.min} to ${PROTOCOL.max}`;
	}
	if (typeof name !== 'string' || name === '') return '"name" must be a text';
	if (!Array.isArray(hooks) || hooks.length === 0) return `"hooks" must list some of ${HOOKS.join(', ')}`;
	const odd = hooks.find((hook) => !HOOKS.includes(hook));
	if (odd !== undefined) return `${JSON.stringify(odd)} is not a hook; there are ${HOOKS.join(', ')}`;
	return problemWithRest(said);
}

function problemWithRest(said: { readonly [name: string]: unknown }): string | null {
	for (const name of ['version', 'summary']) {
		if (said[name] !== undefined && typeof said[name] !== 'string') return `"${name}" must be a text`;
	}
	for (const name of ['conflicts_with', 'agents', 'watches']) {
		const list = said[name];
		if (list !== undefined && !(Array.isArray(list) && list.every((one) => typeof one === 'string')))
			return `"${name}" must be a list of names`;
	}
	if (said['options'] !== undefined && !isObject(said['options'])) return '"options" must be a JSON Schema';
	if (said['order'] !== undefined && typeof said['order'] !== 'number') return '"order" must be a number';
	return said['log'] === undefined ? null : problemWithLog(said['log']);
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
