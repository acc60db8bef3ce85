/** Takes what is malformed out of a document, so that the rest can still be checked. Loaded only for a file with mistakes. */
import type { Pointer, Problem } from './source.ts';

/** A copy of the value without the parts these problems are about. */
export function cutOut(value: unknown, problems: readonly Problem[]): unknown {
	const copy = structuredClone(value);
	for (const { code, place } of problems) {
		const isTop = place.pointer.length === 0;
		if (code === 'WORKFLOW_MISSING_KEY' && isTop) addVersion(copy);
		else if (!isTop && !standIn(copy, place.pointer)) remove(copy, wholeUse(place.pointer));
	}
	return copy;
}

/** Half of what says where an overlay comes from leads nowhere: it goes as a whole. */
function wholeUse(pointer: Pointer): Pointer {
	const at = pointer.indexOf('overlays');
	return at >= 0 && pointer[at + 2] === 'use' ? pointer.slice(0, at + 3) : pointer;
}

/** Of the keys a file must have, only the version can be guessed. */
function addVersion(value: unknown): void {
	if (value !== null && typeof value === 'object' && !('version' in value)) Object.assign(value, { version: '1' });
}

/** A wrong path gives way to one that is no problem, so that the others of its list can be checked; false for all else. */
function standIn(value: unknown, pointer: Pointer): boolean {
	const [tasks, task, list, index] = pointer.map(String);
	const harmless = HARMLESS[`${tasks}/${list}`];
	if (pointer.length !== 4 || harmless === undefined) return false;
	const paths = (value as Tasks).tasks?.[task ?? '']?.[list ?? ''];
	if (!Array.isArray(paths)) return false;
	paths[Number(index)] = harmless(String(task), Number(index));
	return true;
}

interface Tasks {
	readonly tasks?: { readonly [id: string]: { readonly [key: string]: unknown } | undefined };
}

/** An input that is there, and an output that no other task writes; none is the same as another of its list. */
const HARMLESS: { readonly [list: string]: (task: string, index: number) => string } = {
	'tasks/inputs': (_task, index) => './'.repeat(index + 1),
	'tasks/outputs': (task, index) => `output ${index} of ${task}`,
};

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
