/** Findings in words. */
import { expect, test } from 'vitest';
import type { Finding } from '../engine/contract.ts';
import { findingsIn, withFindings } from '../engine/findings.ts';

const bare: Finding = { severity: 'warning', issue: 'two words\nfor one thing' };
const whole: Finding = {
	severity: 'blocker',
	issue: 'no salt',
	file: 'src/auth.ts',
	line: 3,
	details: 'see the\nstandard',
	fix: 'use argon2',
	confidence: 90,
	reviewer: 'rev',
};

test('findings stand below what was said, each with all it says', () => {
	expect(withFindings('Not yet.', [whole, bare])).toBe(
		[
			'Not yet.',
			'',
			'- blocker in src/auth.ts:3: no salt',
			'  see the',
			'  standard',
			'  Fix: use argon2',
			'- warning: two words',
			'  for one thing',
		].join('\n'),
	);
	expect(withFindings('', [bare])).toBe('- warning: two words\n  for one thing');
	expect(withFindings('Not yet.', [])).toBe('Not yet.');
});

test('whatever else a record has under that name is no finding', () => {
	expect(
		findingsIn({ findings: [{ ...whole }, null, 'x', [], { severity: 'blocker' }, { issue: 1, severity: 'x' }] }),
	).toEqual([whole]);
	for (const findings of [undefined, null, 3, 'none', {}])
		expect(findingsIn({ ...(findings === undefined ? {} : { findings }) })).toEqual([]);
});
