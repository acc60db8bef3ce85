/** An overlay in a process of its own, under test: each trial gets a fresh one. Loads child_process: reach it by `await import()`. */
import { randomUUID } from 'node:crypto';
import { HOOKS } from '../contract.ts';
import { formatDuration } from '../duration.ts';
import { checkedVerdict } from '../hosts/checked-verdict.ts';
import type { Called, CallFault } from '../hosts/overlay-calls.ts';
import { type Connection, type ConnectOptions, connect } from '../hosts/overlay-connection.ts';
import { type Handshake, PROTOCOL, problemWithHandshake, type Versions } from '../hosts/protocol.ts';
import { momentToWire, verdictFromWire } from '../hosts/wire.ts';
import type { JsonObject } from '../json.ts';
import { endOrphans } from '../process/orphans.ts';
import type { CheckName, Problem } from './checks.ts';
import { type Limits, problemOf, type Speaker, type Subject } from './speaker.ts';

/** Puts a process to the test; `version` is the host's. */
export function processSubject(options: ConnectOptions, version: string, limits: Limits): Subject {
	// Whatever the overlay starts carries this, and so can be found, wherever it went.
	const marker = { SDD_PROBE: randomUUID() };
	const ground: Ground = {
		options: { ...options, env: { ...options.env, ...marker }, graceMs: limits.graceMs },
		version,
		limits,
		leftOver: () => endOrphans(marker, 0),
	};
	return {
		place: 'process',
		async open() {
			const greeted = await greet(ground);
			return 'check' in greeted
				? { ok: false, problem: greeted }
				: { ok: true, speaker: speakerOf(ground, greeted.connection, greeted.said) };
		},
		trials: {
			version: () => refusesOthers(ground),
			shutdown: () => ends(ground, 'shutdown'),
			host_gone: () => ends(ground, 'host_gone'),
		},
		stray: () => null,
		close: async () => void (await ground.leftOver()),
	};
}

interface Ground {
	readonly options: ConnectOptions;
	readonly version: string;
	readonly limits: Limits;
	leftOver(): Promise<readonly number[]>;
}

interface Greeted {
	readonly connection: Connection;
	readonly said: Handshake;
}

async function greet(ground: Ground): Promise<Greeted | Problem> {
	const connection = await started(ground);
	if ('code' in connection) return problemOf(connection, 'starts');
	const called = await initialize(ground, connection, PROTOCOL);
	const wrong = called.ok ? problemWithHandshake(called.result) : null;
	if (called.ok && wrong === null) return { connection, said: called.result as Handshake };
	await connection.end();
	return called.ok ? { check: 'handshake', words: wrong ?? '' } : problemOf(called, 'starts');
}

async function started({ options }: Ground): Promise<Connection | CallFault> {
	const connected = connect(options);
	return connected.ok ? connected.connection : await connected.fault;
}

function initialize({ version, limits }: Ground, connection: Connection, protocol: Versions): Promise<Called> {
	const params = { protocol: { ...protocol }, host: { name: 'sdd', version } };
	return connection.request('initialize', params, { timeoutMs: limits.startMs, graceMs: 0 });
}

function speakerOf(ground: Ground, connection: Connection, said: Handshake): Speaker {
	const { callMs: timeoutMs, graceMs } = ground.limits;
	return {
		about: { name: said.name, hooks: said.hooks, options: said.options ?? {} },
		async consult(hook, moment, options) {
			const called = await connection.request(hook, { options, moment: momentToWire(moment) }, { timeoutMs });
			if (!called.ok) return { ...called, transport: true };
			return await checkedVerdict(hook, verdictFromWire(called.result));
		},
		async cancel(hook, moment, options) {
			const stop = new AbortController();
			const limits = { timeoutMs, signal: stop.signal };
			const call = connection.request(hook, { options, moment: momentToWire(moment) }, limits);
			stop.abort();
			const called = await call;
			if (called.ok || connection.isUsable()) return null;
			const over = await connection.over;
			if (over.violation !== 'ignored_cancel') return problemOf(over, 'cancellation', `at ${hook}: `);
			const words = `it did not end a call within ${formatDuration(graceMs)} after $/cancel: answer it, with an error or a verdict`;
			return { check: 'cancellation', words: `at ${hook}: ${words}` };
		},
		async overreach(moment, options) {
			const undeclared = [...HOOKS.filter((hook) => !said.hooks.includes(hook)), 'no_such_hook'];
			for (const method of undeclared) {
				const params = { options, moment: momentToWire(moment) } as JsonObject;
				const called = await connection.request(method, params, { timeoutMs });
				const wrong = notRefused(called);
				if (wrong !== null) return `asked at "${method}", which it does not declare, ${wrong}`;
			}
			return null;
		},
		close: async () => void (await connection.end()),
	};
}

async function refusesOthers(ground: Ground): Promise<Problem | null> {
	const connection = await started(ground);
	if ('code' in connection) return problemOf(connection, 'starts');
	const called = await initialize(ground, connection, OTHER_VERSION);
	await connection.end();
	const wrong = notRefused(called);
	return wrong === null ? null : { check: 'version', words: `offered only protocol ${OTHER_VERSION.min}, ${wrong}` };
}

const OTHER_VERSION: Versions = { min: 99, max: 99 };

function notRefused(called: Called): string | null {
	if (called.ok) return `it answered ${shown(called.result)}; it must answer with an error`;
	return called.code === 'OVERLAY_BROKE_DOWN' ? null : `it did not answer with an error: ${called.reason}`;
}

function shown(value: unknown): string {
	const text = JSON.stringify(value) ?? 'nothing';
	return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

async function ends(ground: Ground, check: Extract<CheckName, 'shutdown' | 'host_gone'>): Promise<Problem | null> {
	const greeted = await greet(ground);
	if ('check' in greeted) return greeted;
	const { inTime, leftBehind } = await greeted.connection.end({ politely: check === 'shutdown' });
	const left = await ground.leftOver();
	const grace = formatDuration(ground.limits.graceMs);
	const cause = check === 'shutdown' ? 'it was sent shutdown and its stdin was closed' : 'its stdin was closed';
	if (!inTime) return { check, words: `it was still running ${grace} after ${cause}, and had to be killed` };
	if (left.length === 0 && !leftBehind) return null;
	const where = left.length > 0 ? ' and that had left its process group' : '';
	return { check, words: `it ended, but left processes running that it had started${where}` };
}
