import { describe, expect, it } from 'vitest';
import { canonical } from '../../engine/store/canonical.ts';
import { sha256 } from '../../engine/store/hash.ts';
import { checkSealed, sealRecord } from '../../engine/store/seal.ts';
import { ZERO_HASH } from '../../engine/store/segments.ts';

const first = sealRecord({ iteration: 1, decision: 'NO_GO' }, ZERO_HASH);
const second = sealRecord({ iteration: 2, decision: 'GO' }, first.hash);

describe('a sealed log', () => {
	it('carries hashes that anyone can compute again', () => {
		const { hash, ...body } = second;
		expect(hash).toBe(sha256(canonical(body)));
		expect(second.prev_hash).toBe(first.hash);
	});

	it('is found sound as it was written', () => {
		expect(checkSealed([first, second])).toBeNull();
		expect(checkSealed([second], first.hash)).toBeNull();
	});

	it('shows a changed entry', () => {
		expect(checkSealed([{ ...first, decision: 'GO' }, second])).toEqual({
			index: 0,
			reason: 'its hash does not fit its content',
		});
	});

	it('shows an entry that was taken out, moved or put in', () => {
		const broken = { index: 0, reason: 'does not continue from the entry before it' };
		expect(checkSealed([second])).toEqual(broken);
		expect(checkSealed([second, first])).toEqual(broken);
		expect(checkSealed([first, first])).toEqual({ ...broken, index: 1 });
	});
});
