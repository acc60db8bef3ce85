/**
 * One living process of an overlay. It is brought down when it exits, closes its pipes, floods, or writes what is no message:
 * its group is killed, and every call that waits for it is settled with the reason and the end of its stderr. Nothing here
 * throws for what the process does. Loads child_process: reach it by `await import()`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { JsonObject } from '../json.ts';
import { whyNotStarted } from '../process/cannot-start.ts';
import { unwatch, watch } from '../process/flood.ts';
import { endGroup, forgetGroup, GRACE_MS, groupIsAlive, rememberGroup, signalGroup } from '../process/groups.ts';
import { MAX_OUTPUT_BYTES } from '../process/spawn-group.ts';
import { within } from '../within.ts';
import { type LineReader, lineReader } from './json-lines.ts';
import { type Called, type CallFault, type CallLimits, type Calls, createCalls } from './overlay-calls.ts';
import { type MaskFile, type OverlayStderr, openStderr } from './overlay-stderr.ts';
import { type Message, noteOf, readMessage } from './protocol.ts';

/** How to start an overlay's process. */
export interface ConnectOptions {
	readonly command: readonly string[];
	readonly cwd: string;
	readonly env: { readonly [name: string]: string };
	/** Where its stderr goes, appended to; null where nothing may be written: then only its end is kept, in memory. */
	readonly stderrPath: string | null;
	/** Takes the secrets out of that file, once the process is over. */
	readonly mask?: MaskFile;
	/** The interpreter, where that is not what the user named: a process that does not start may be its fault. */
	readonly interpreter?: string;
	/** Between a cancellation, or the request to end, and SIGKILL. */
	readonly graceMs?: number;
	readonly maxLineBytes?: number;
	readonly maxStderrBytes?: number;
}

export interface Connection {
	readonly pgid: number;
	/** False once it has exited, was brought down or asked to end. */
	isUsable(): boolean;
	/** Resolves with the reason when it is over, and whether a call was told of it. */
	readonly over: Promise<CallFault & { readonly wasTold: boolean }>;
	request(
		method: string,
		params: JsonObject,
		limits: Omit<CallLimits, 'graceMs'> & { readonly graceMs?: number },
	): Promise<Called>;
	/** Asks it to end (or only closes its stdin, as a host that died would), and ends it if it does not in time. */
	end(how?: { readonly politely: boolean }): Promise<Ended>;
}

/** How a process ended that was asked to. */
export interface Ended {
	/** By itself, within the grace. */
	readonly inTime: boolean;
	/** Whether something that it had started was still running. */
	readonly leftBehind: boolean;
	/** What it wrote that no overlay may write, if no call has heard of it. */
	readonly untold: CallFault | null;
}

/** A process that was started, or why not: the system tells that late. */
export type Connected =
	| { readonly ok: true; readonly connection: Connection }
	| { readonly ok: false; readonly fault: Promise<CallFault> };

/** Starts a process. */
export function connect(options: ConnectOptions): Connected {
	let stderr: OverlayStderr | null = null;
	try {
		stderr = openStderr(options.stderrPath, options.mask);
		const [program = '', ...args] = options.command;
		const { cwd, env } = options;
		const child = spawn(program, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', stderr.target] });
		if (child.pid === undefined) return { ok: false, fault: notStarted(options, stderr, child) };
		return { ok: true, connection: connectionTo(options, child, child.pid, stderr) };
	} catch (error) {
		stderr?.close();
		return { ok: false, fault: Promise.resolve(cannotStart(options, error)) };
	}
}

async function notStarted(options: ConnectOptions, stderr: OverlayStderr, child: ChildProcess): Promise<CallFault> {
	const error = await new Promise((resolve) => child.once('error', resolve));
	stderr.close();
	return cannotStart(options, error);
}

function cannotStart(options: ConnectOptions, error: unknown): CallFault {
	const { command, cwd, env } = options;
	const { reason } = whyNotStarted(error, { program: command[0] ?? '', cwd, path: env['PATH'] });
	return { code: 'OVERLAY_START', reason: `${notStartedWords(options)}: ${reason}` };
}

/** The beginning of every reason why it is not there. */
export function notStartedWords({ interpreter }: ConnectOptions): string {
	return `it could not be started${interpreter === undefined ? '' : ` with ${interpreter}`}`;
}

interface Living {
	readonly options: ConnectOptions;
	readonly child: ChildProcess;
	readonly pgid: number;
	readonly stderr: OverlayStderr;
	readonly calls: Calls;
	/** Of what it writes to stdout. */
	readonly reader: LineReader;
	/** Why it is no longer to be used. */
	fault: CallFault | null;
	hasExited: boolean;
	/** Whether something in its group outlived it. */
	leftBehind: boolean;
	isEnding: boolean;
	readonly exited: Promise<void>;
	/** It has exited, and all it wrote is read. */
	readonly closed: Promise<void>;
	readonly over: Connection['over'];
	/** Lets go of what watches it, and says that it is over. */
	letGo(fault: CallFault, wasTold: boolean): void;
}

/** After its end, a process's pipes may be held open by one that left its group: they are not waited for much longer. */
const PIPES_MS = 250;
/** A closed pipe is usually the first sign of an exit, which says more: so long it is waited for. */
const EXIT_MS = 1000;

const ENDED: CallFault = { code: 'AGENT_CANCELLED', reason: 'the run has ended' };

function connectionTo(options: ConnectOptions, child: ChildProcess, pgid: number, stderr: OverlayStderr): Connection {
	let tellOver: (fault: CallFault & { readonly wasTold: boolean }) => void = () => {};
	const over: Connection['over'] = new Promise((resolve) => {
		tellOver = resolve;
	});
	const look = (): void => lookForFlood(living);
	const living: Living = {
		options,
		child,
		pgid,
		stderr,
		calls: createCalls({
			send: (message) => send(child, message),
			bytesRead: () => (child.stdout as Socket | null)?.bytesRead ?? 0,
			isMidLine: () => living.reader.isMidLine(),
			stderrBytes: () => stderr.bytes(),
			explain: (fault, since) => explain(stderr, fault, since),
			bringDown: (fault) => bringDown(living, fault),
			isDown: () => living.fault !== null,
		}),
		reader: lineReader((line) => receive(living, readMessage(line)), options.maxLineBytes),
		fault: null,
		hasExited: false,
		leftBehind: false,
		isEnding: false,
		exited: new Promise((resolve) => child.once('exit', () => resolve())),
		closed: new Promise((resolve) => child.once('close', () => resolve())),
		over,
		letGo(fault, wasTold) {
			unwatch(look);
			forgetGroup(pgid);
			stderr.close();
			// One that left the group may hold the other ends: this process must be able to end all the same.
			child.stdout?.destroy();
			child.stderr?.destroy();
			tellOver({ ...fault, wasTold });
		},
	};
	rememberGroup(pgid);
	watch(look);
	listen(living);
	return {
		pgid,
		over,
		isUsable: () => living.fault === null && !living.hasExited && !living.isEnding,
		async request(method, params, { graceMs = options.graceMs ?? GRACE_MS, ...limits }) {
			if (living.fault !== null || living.isEnding) return { ok: false, ...(living.fault ?? ENDED) };
			return await living.calls.request(method, params, { ...limits, graceMs });
		},
		end: ({ politely } = { politely: true }) => end(living, politely),
	};
}

/** Nothing is held back when the pipe is full: what waits in memory is the moments of calls under way, each with its time limit. */
function send(child: ChildProcess, message: JsonObject): void {
	if (child.stdin?.writable === true) child.stdin.write(`${oneLine(JSON.stringify(message))}\n`);
}

/** JSON may hold characters that many readers of lines take for the end of one: Node's readline does, Python's `splitlines` too. */
function oneLine(json: string): string {
	return json.replaceAll(/[\u0085\u2028\u2029]/g, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

async function explain(stderr: OverlayStderr, fault: CallFault, since: number): Promise<CallFault> {
	const said = await stderr.tail(since);
	return said === '' ? fault : { ...fault, reason: `${fault.reason}; the last it wrote to stderr:\n${said}` };
}

function lookForFlood(living: Living): void {
	const limit = living.options.maxStderrBytes ?? MAX_OUTPUT_BYTES;
	if (living.stderr.bytes() <= limit) return;
	bringDown(living, { code: 'OVERLAY_PROTOCOL', reason: `it wrote more than ${limit} bytes to stderr` });
}

function listen(living: Living): void {
	const { child, stderr } = living;
	stderr.follow(child);
	child.stdout?.on('data', living.reader.take);
	child.stdout?.on('error', () => {});
	child.stdout?.once('end', () => lost(living, 'it closed its stdout, though it is still running'));
	child.stdin?.on('error', () => lost(living, 'it closed its stdin, though it is still running'));
	child.once('exit', (code, signal) => {
		living.hasExited = true;
		void exited(living, signal === null ? `exited with code ${code}` : `was killed by ${signal}`);
	});
}

async function exited(living: Living, how: string): Promise<void> {
	// What it started ends with it.
	living.leftBehind = groupIsAlive(living.pgid);
	signalGroup(living.pgid, 'SIGKILL');
	// Its last answers, and why it exited, may still be in the pipes.
	await within(living.closed, PIPES_MS);
	if (!living.isEnding) bringDown(living, { code: 'OVERLAY_CRASHED', reason: `its process ${how}` });
}

function lost(living: Living, reason: string): void {
	const look = (): void => {
		if (!living.hasExited && !living.isEnding) bringDown(living, { code: 'OVERLAY_PROTOCOL', reason });
	};
	if (!living.isEnding) setTimeout(look, EXIT_MS).unref();
}

function receive(living: Living, message: Message): void {
	if (living.fault !== null) return;
	switch (message.kind) {
		case 'violation':
			return bringDown(living, { code: 'OVERLAY_PROTOCOL', reason: message.reason, violation: message.violation });
		case 'notification':
			return living.stderr.note(noteOf(message.method, message.params));
		case 'answer':
		case 'error':
			// What was written before the answer is all there by now, whether or not it was time to look.
			lookForFlood(living);
			return living.fault === null ? living.calls.take(message) : undefined;
	}
}

function bringDown(living: Living, fault: CallFault): void {
	if (living.fault !== null) return;
	living.fault = fault;
	void settleAll(living, fault);
}

async function settleAll(living: Living, fault: CallFault): Promise<void> {
	// In this order: half a request, and then the end, is nothing that it should have to complain about.
	if (!living.hasExited) signalGroup(living.pgid, 'SIGKILL');
	living.child.stdin?.destroy();
	await within(living.closed, PIPES_MS);
	living.fault = await explain(living.stderr, fault, living.calls.lastAsked());
	const wasTold = await living.calls.rejectAll(fault);
	// It may have been idle: then nobody else hears of it.
	living.stderr.note(`[sdd] ${fault.reason}`);
	await endGroup(living.pgid, 0);
	living.letGo(living.fault, wasTold);
}

async function end(living: Living, politely: boolean): Promise<Ended> {
	if (living.fault !== null) return await broughtDown(living, living.hasExited);
	const graceMs = living.options.graceMs ?? GRACE_MS;
	living.isEnding = true;
	await living.calls.rejectAll(ENDED);
	if (politely) living.calls.dismiss('shutdown');
	living.child.stdin?.end();
	const inTime = await within(living.exited, graceMs);
	// Whatever it started ends with it.
	await endGroup(living.pgid, 0);
	// What it said too much may still be in the pipe.
	await within(living.closed, PIPES_MS);
	if (living.fault !== null) return await broughtDown(living, inTime);
	living.fault = ENDED;
	living.letGo(ENDED, true);
	return { inTime, leftBehind: living.leftBehind, untold: null };
}

async function broughtDown(living: Living, inTime: boolean): Promise<Ended> {
	const { wasTold, ...fault } = await living.over;
	const untold = fault.code === 'OVERLAY_PROTOCOL' && !wasTold ? fault : null;
	return { inTime, leftBehind: living.leftBehind, untold };
}
