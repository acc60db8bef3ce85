/** Keeps this process small: Node starts a child by copying itself, which takes the longer the more memory it has. */
import { setFlagsFromString } from 'node:v8';

/** Lets neither the space for new objects nor the garbage among old ones grow to many megabytes, as is usual for servers. */
export function keepHeapSmall(): void {
	const major = Number(process.versions.node.split('.')[0]);
	// A version that does not know a flag would complain on the terminal.
	if (major < 20 || major > 24) return;
	setFlagsFromString('--semi-space-growth-factor=1');
	setFlagsFromString('--optimize-for-size');
}
