/** Takes what is malformed out of a document, so that the rest can still be checked. Loaded only for a file with mistakes. */
import type { Pointer, Problem } from './source.ts';

/** A copy of the value without the parts these problems are about. */
export function cutOut(value: unknown, problems: readonly Problem[]): unknown {
	const copy = structuredClone(value);
	for (const { code, place } of problems) {
		const isTop = place.pointer.length === 0;
		if (code === 'WORKFLOW_MISSING_KEY' && isTop) addVersion(copy);
		else if (!isTop) remove(copy, place.pointer);
	}
	return copy;
}

/** Of the keys a file must have, only the version can be guessed. */
function addVersion(value: unknown): void {
	if (value !== null && typeof value === 'object' && !('version' in value)) Object.assign(value, { version: '1' });
}

/** A list goes as a whole: without one entry, all behind it would be found at the wrong place. */
function remove(value: unknown, pointer: Pointer): void {
	let owner = value;
	for (const [depth, step] of pointer.entries()) {
		if (owner === null || typeof owner !== 'object') return;
		const next: unknown = (owner as { readonly [key: string]: unknown })[step];
		if (depth === pointer.length - 1 || Array.isArray(next)) {
			delete (owner as { [key: string]: unknown })[step];
			return;
		}
		owner = next;
	}
}
