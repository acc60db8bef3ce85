/** Keeps this process small: Node starts a child by copying itself, which takes the longer the more memory it has. */
import { setFlagsFromString } from 'node:v8';

/** Keeps the space for new objects at its first size, instead of letting it grow to many megabytes of garbage. */
export function keepHeapSmall(): void {
	const major = Number(process.versions.node.split('.')[0]);
	// A version that does not know the flag would complain on the terminal.
	if (major >= 20 && major <= 24) setFlagsFromString('--semi-space-growth-factor=1');
}
