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

test('who decided is told with the way, and an attempt that no agent of the task made as one by others', () => {
	const byHand = { iteration: 2, decision: 'GO', coder_agent: 'dev', attempt_by_agent: null, timestamp: 't2' };
	const byFixer = { ...byHand, iteration: 3, attempt_by_agent: 'fix', timestamp: 't3' };
	const decisions = [{ choice: 'takeover', decided_by: 'ann', decided_via: 'tty', timestamp: 't1' }];
	expect(logText({ overlay: 'mine', iterations: [byHand, byFixer], decisions })).toBe(
		[
			'mine',
			'  decision: takeover, by ann (tty) at t1',
			'  iteration 2: GO, attempt by others, coder dev at t2',
			'  iteration 3: GO, attempt by fix, coder dev at t3\n',
		].join('\n'),
	);
});

test('what a record has that is not of the usual kind is told as far as it can be', () => {
	const odd = { iteration: 1, artifacts: [null, 'x', { path: 'a' }, { path: 5 }], feedback: ['f'], x_agent: 3 };
	expect(logText({ overlay: 'mine', iterations: [null, odd, 'y'], decisions: 'none' })).toBe(
		'mine\n  iteration 1\n      on a sha256 open\n      on 5 sha256 open\n      f\n',
	);
});
