/** Writes to stdout and stderr directly: loading Node's streams for them would be a tenth of a short command's time. */
import { writeSync } from 'node:fs';

/** What is written to. */
export type Outlet = 'stdout' | 'stderr';

const DESCRIPTORS = { stdout: 1, stderr: 2 } as const;
const streamed = new Set<Outlet>();
/** Outlets whose reader went away (`sdd run … | head`): that is no reason to complain, nor to leave work half done. */
const unread = new Set<Outlet>();

/** Writes all of the text before it returns, as far as the reader lets it. */
export function writeOut(outlet: Outlet, text: string): void {
	if (unread.has(outlet)) return;
	const rest = streamed.has(outlet) ? Buffer.from(text) : writeDirectly(outlet, Buffer.from(text));
	if (rest.length > 0) stream(outlet).write(rest);
}

/** Returns what could not be written at once: the reader is slow, and its pipe not one to wait for. */
function writeDirectly(outlet: Outlet, bytes: Buffer): Buffer {
	let done = 0;
	try {
		while (done < bytes.length) done += writeSync(DESCRIPTORS[outlet], bytes, done);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (isUnread(outlet, code)) return NOTHING;
		if (code !== 'EAGAIN') throw error;
	}
	return bytes.subarray(done);
}

/** Once a stream has taken over, everything goes through it: it may hold text back that comes first. */
function stream(outlet: Outlet): NodeJS.WriteStream {
	const found = process[outlet];
	if (streamed.has(outlet)) return found;
	streamed.add(outlet);
	found.on('error', (error: NodeJS.ErrnoException) => {
		if (!isUnread(outlet, error.code)) throw error;
	});
	return found;
}

function isUnread(outlet: Outlet, code: string | undefined): boolean {
	if (code === 'EPIPE') unread.add(outlet);
	return code === 'EPIPE';
}

const NOTHING = Buffer.alloc(0);
