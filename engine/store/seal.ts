/** Seals the entries of a log: each carries the hash of the one before it and its own. */
import type { JsonObject } from '../json.ts';
import { canonical } from './canonical.ts';
import { sha256 } from './hash.ts';

/** A log entry with its place in the chain; `hash` covers everything else, `prev_hash` included. */
export type Sealed = JsonObject & { readonly prev_hash: string; readonly hash: string };

/** Adds `prev_hash` and `hash` = sha256 over the canonical JSON of all the rest. */
export function sealRecord(record: JsonObject, prevHash: string): Sealed {
	const { hash: _, ...rest } = record;
	const body = { ...rest, prev_hash: prevHash };
	return { ...body, hash: sha256(canonical(body)) };
}
