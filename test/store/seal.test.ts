import { describe, expect, it } from 'vitest';
import { canonical } from '../../engine/store/canonical.ts';
import { sha256 } from '../../engine/store/hash.ts';
import { sealRecord } from '../../engine/store/seal.ts';
import { ZERO_HASH } from '../../engine/store/segments.ts';

const first = sealRecord({ iteration: 1, decision: 'NO_GO' }, ZERO_HASH);
const second = sealRecord({ iteration: 2, decision: 'GO' }, first.hash);

describe('a sealed log', () => {
	it('carries hashes that anyone can compute again', () => {
		const { hash, ...body } = second;
		expect(hash).toBe(sha256(canonical(body)));
		expect(second.prev_hash).toBe(first.hash);
	});

	it('is sealed the same again, whatever seal an entry had before', () => {
		expect(sealRecord(first, ZERO_HASH)).toEqual(first);
		expect(sealRecord(second, ZERO_HASH).hash).not.toBe(second.hash);
	});
});
