/** Seals the entries of a log: each carries the hash of the one before it and its own. */
import type { JsonObject } from '../json.ts';
import { canonical } from './canonical.ts';
import { sha256 } from './hash.ts';
import { ZERO_HASH } from './segments.ts';

/** A log entry with its place in the chain; `hash` covers everything else, `prev_hash` included. */
export type Sealed = JsonObject & { readonly prev_hash: string; readonly hash: string };

/** Adds `prev_hash` and `hash` = sha256 over the canonical JSON of all the rest. */
export function sealRecord(record: JsonObject, prevHash: string): Sealed {
	const { hash: _, ...rest } = record;
	const body = { ...rest, prev_hash: prevHash };
	return { ...body, hash: sha256(canonical(body)) };
}

/** The first entry that was changed, removed or moved, or null when all is as it was sealed. */
export function checkSealed(
	records: readonly JsonObject[],
	firstPrev: string = ZERO_HASH,
): { readonly index: number; readonly reason: string } | null {
	let prev = firstPrev;
	for (const [index, record] of records.entries()) {
		if (record.prev_hash !== prev) return { index, reason: 'does not continue from the entry before it' };
		const sealed = sealRecord(record, prev);
		if (record.hash !== sealed.hash) return { index, reason: 'its hash does not fit its content' };
		prev = sealed.hash;
	}
	return null;
}
