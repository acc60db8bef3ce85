/** The log of an overlay in a process of its own: it says where the document lies, and the engine writes it from the records. */
import type { OverlayLog } from '../contract.ts';
import { LOG_FOLDER } from '../store/layout.ts';

/** What a handshake may say of a log; there is no closing, as that would be code. */
export interface DeclaredLog {
	readonly folder: string;
	readonly name: string;
	readonly members?: readonly string[];
}

/** The log as the engine keeps it. */
export function logFrom({ folder, name, members }: DeclaredLog): OverlayLog {
	return { folder, name, ...(members === undefined ? {} : { members }), closing: () => ({}) };
}

/** What is wrong with a log that a handshake declares; null if nothing is. */
export function problemWithLog(log: unknown): string | null {
	if (typeof log !== 'object' || log === null) return '"log" must be an object';
	const { folder, name, members = [] } = log as { readonly [member: string]: unknown };
	if (typeof folder !== 'string' || !LOG_FOLDER.test(folder))
		return `its log cannot lie in the folder ${JSON.stringify(folder)}`;
	if (typeof name !== 'string' || name === '') return '"log.name" must be a text';
	const areNames = Array.isArray(members) && members.every((member) => typeof member === 'string');
	return areNames ? null : '"log.members" must be a list of names';
}
