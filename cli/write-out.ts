/** Writes to stdout and stderr directly: loading Node's streams for them would be a tenth of a short command's time. */
import { writeSync } from 'node:fs';

/** What is written to. */
export type Outlet = 'stdout' | 'stderr';

const DESCRIPTORS = { stdout: 1, stderr: 2 } as const;
/** What a slow reader has not yet taken: the work does not wait for it. */
const held: { [outlet in Outlet]: Buffer[] } = { stdout: [], stderr: [] };
/** Outlets whose reader went away (`sdd run … | head`): that is no reason to complain, nor to leave work half done. */
const unread = new Set<Outlet>();

/** Whether something could not be written though somebody wants to read it (`> /dev/full`). */
let isLost = false;

/** The exit code, unless output was lost: whoever reads only what arrived must not take it for all there is. */
export function unlessLost(code: number): number {
	return code === 0 && isLost ? 1 : code;
}

/** Writes all of the text before it returns, as far as the reader lets it; the rest follows as soon as it does. */
export function writeOut(outlet: Outlet, text: string): void {
	if (unread.has(outlet)) return;
	const isFirst = held[outlet].length === 0;
	held[outlet].push(Buffer.from(text));
	if (isFirst) pour(outlet);
}

/** Writes what is still held back, however long the reader takes. Nothing else runs meanwhile: it is for the very end. */
export function drainOut(): void {
	for (const outlet of ['stdout', 'stderr'] as const) {
		while (!writeHeld(outlet)) Atomics.wait(NEVER_WOKEN, 0, 0, PAUSE_MS);
	}
}

const PAUSE_MS = 5;
const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));

function pour(outlet: Outlet): void {
	if (!writeHeld(outlet)) setTimeout(() => pour(outlet), PAUSE_MS);
}

/** Whether everything that is held could be written. */
function writeHeld(outlet: Outlet): boolean {
	const queue = held[outlet];
	for (let next = queue[0]; next !== undefined; next = queue[0]) {
		const rest = writeDirectly(outlet, next);
		if (rest.length > 0) {
			queue[0] = rest;
			return false;
		}
		queue.shift();
	}
	return true;
}

/** Returns what could not be written at once: the reader is slow, and its pipe not one to wait for. */
function writeDirectly(outlet: Outlet, bytes: Buffer): Buffer {
	let done = 0;
	try {
		while (done < bytes.length) done += writeSync(DESCRIPTORS[outlet], bytes, done);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code !== 'EAGAIN') {
			giveUp(outlet, code);
			return NOTHING;
		}
	}
	return bytes.subarray(done);
}

/** What cannot be written once is not tried again: the work goes on, and is on the disk. */
function giveUp(outlet: Outlet, code: string | undefined): void {
	unread.add(outlet);
	if (code === 'EPIPE') return;
	isLost = true;
	process.exitCode = 1;
	if (outlet === 'stdout')
		writeOut('stderr', `error: stdout cannot be written (${code ?? 'unknown'}): make room there\n`);
}

const NOTHING = Buffer.alloc(0);
