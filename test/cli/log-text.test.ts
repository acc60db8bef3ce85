/** A log shows what its records have, and nothing of what they lack. */
import { expect, test } from 'vitest';
import { logText } from '../../cli/log-text.ts';

test('a record without decision or time is told without them', () => {
	const log = { overlay: 'mine', iterations: [{ iteration: 0 }], decisions: [{ score: 1 }] };
	expect(logText(log)).toBe('mine\n  iteration 0\n  decision\n');
});

test('what a record has is told in one line, its words below', () => {
	const iteration = { iteration: 1, decision: null, timestamp: 't1', feedback: 'no\ngood' };
	const decisions = [{ choice: 'accept', decided_by: 'ann', timestamp: 't2', notes: 'fine' }];
	expect(logText({ overlay: 'mine', iterations: [iteration], decisions })).toBe(
		'mine\n  iteration 1: open at t1\n      no\n      good\n  decision: accept, by ann at t2\n      fine\n',
	);
});
