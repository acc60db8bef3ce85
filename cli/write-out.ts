/** Writes to stdout and stderr directly: loading Node's streams for them would be a tenth of a short command's time. */
import { writeSync } from 'node:fs';

/** What is written to. */
export type Outlet = 'stdout' | 'stderr';

const DESCRIPTORS = { stdout: 1, stderr: 2 } as const;
/** What a slow reader has not yet taken: the work does not wait for it. */
const held: { [outlet in Outlet]: Buffer[] } = { stdout: [], stderr: [] };
/** Outlets whose reader went away (`sdd run … | head`): that is no reason to complain, nor to leave work half done. */
const unread = new Set<Outlet>();

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
		try {
			while (!writeHeld(outlet)) Atomics.wait(NEVER_WOKEN, 0, 0, PAUSE_MS);
		} catch {
			// Nobody can be told any more, and the exit code still can.
		}
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
		if (isUnread(outlet, code)) return NOTHING;
		if (code !== 'EAGAIN') {
			// What cannot be written now is not tried again.
			held[outlet].length = 0;
			throw error;
		}
	}
	return bytes.subarray(done);
}

function isUnread(outlet: Outlet, code: string | undefined): boolean {
	if (code === 'EPIPE') unread.add(outlet);
	return code === 'EPIPE';
}

const NOTHING = Buffer.alloc(0);
