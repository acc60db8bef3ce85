import { expect, test } from 'vitest';
import type { Verdict } from '../../engine/contract.ts';
import type { RunEvent } from '../../engine/events.ts';
import { describe, seconds } from '../../engine/report/describe.ts';
import { AT, answerBy, check, hilItem, RUN_STARTED } from '../builders.ts';

const task = 'implement';
const of = { task, attempt: 2 };
const judged = { ...of, hook: 'after', overlay: 'gate' } as const;
const output = { text: '', bytes: 0, sha256: '' };

function said(verdict: Verdict): RunEvent {
	return { kind: 'verdict', ...judged, round: 1, verdict, content: '' };
}

function line(event: RunEvent): string | null {
	const found = describe({ ...event, at: AT });
	return found === null ? null : `${found.task ?? '-'} (${found.tone}) ${found.text}`;
}

test.each<[RunEvent, string | null]>([
	[RUN_STARTED, '- (dim) run run-1 of demo'],
	[{ kind: 'run_resumed', by: 'ann', version: '0' }, '- (dim) going on where the run was'],
	[{ kind: 'run_paused', reason: 'waiting' }, null],
	[{ kind: 'run_finished', outcome: 'completed' }, null],
	[{ kind: 'warning', code: 'X', message: 'look' }, '- (warn) warning: look [X]'],
	[{ kind: 'warning', code: 'X', message: 'look', task }, 'implement (warn) warning: look [X]'],
	[{ kind: 'task_started', task }, null],
	[{ kind: 'task_skipped', task, reason: 'a failed' }, 'implement (warn) skipped: a failed'],
	[{ kind: 'task_completed', task }, 'implement (good) done'],
	[{ kind: 'task_failed', task, code: 'X', reason: 'why' }, 'implement (bad) failed: why [X]'],
	[{ kind: 'task_cancelled', task, reason: 'fresh' }, 'implement (warn) cancelled: fresh'],
	[{ kind: 'attempt_started', ...of, by: 'agent', agent: 'dev' }, 'implement (plain) attempt 2: dev works'],
	[{ kind: 'attempt_started', ...of, by: 'human', agent: null }, "implement (plain) attempt 2: a person's own work"],
	[
		{ kind: 'attempt_started', ...of, by: 'outside', agent: null },
		'implement (plain) attempt 2: the files as they are now',
	],
	[
		{ kind: 'attempt_finished', ...of, agent: 'dev', output, artifacts: [], ms: 1500 },
		'implement (dim) attempt 2: finished in 1.5 s',
	],
	[{ kind: 'attempt_finished', ...of, agent: null, output, artifacts: [], ms: 0 }, null],
	[
		{ kind: 'attempt_failed', ...of, agent: 'dev', code: 'X', reason: 'why', output: null, ms: 1 },
		'implement (bad) attempt 2: why [X]',
	],
	[{ kind: 'attempt_checked', ...of, checks: [check('tests')] }, 'implement (dim) checks: tests ok'],
	[
		{
			kind: 'attempt_checked',
			...of,
			checks: [check('tests', { ok: false, exit: 1 }), check('lint', { ok: false, exit: null })],
		},
		'implement (warn) checks: tests failed (1), lint failed (not run)',
	],
	[
		{
			kind: 'attempt_checked',
			...of,
			checks: [check('tests', { ok: false, exit: null, reason: 'did not end within 5m' })],
		},
		'implement (warn) checks: tests did not end within 5m',
	],
	[{ kind: 'retry_scheduled', ...of, due: AT }, 'implement (warn) trying again at 11:30:00'],
	[said({ kind: 'pass' }), 'implement (good) gate: pass'],
	[said({ kind: 'pass', note: 'fine', record: { decision: 'GO' } }), 'implement (good) gate: GO fine'],
	[said({ kind: 'rework', feedback: 'no' }), 'implement (warn) gate: rework no'],
	[said({ kind: 'rework', feedback: 'no', record: { decision: 'NO_GO' } }), 'implement (warn) gate: NO_GO no'],
	[said({ kind: 'fail', reason: 'never' }), 'implement (bad) gate: fail never'],
	[
		said({
			kind: 'ask',
			questions: [
				{ id: 'a', to: 'agent:rev', brief: { prompt: '' } },
				{ id: 'b', to: 'agent:sec', brief: { prompt: '' } },
			],
		}),
		'implement (dim) gate asks rev, sec',
	],
	[said({ kind: 'ask', questions: [{ id: 'a', to: 'human', brief: { prompt: '' } }] }), null],
	[{ kind: 'answered', ...judged, question: 'q', answer: answerBy('rev', 'GO') }, null],
	[
		{
			kind: 'answered',
			...judged,
			question: 'q',
			answer: answerBy('rev', '', { failed: { code: 'X', reason: 'it exited' } }),
		},
		'implement (bad) rev gave no answer: it exited',
	],
	[
		{ kind: 'hil_opened', ...judged, question: 'q', item: hilItem('hil-1', { trigger: 'max_iterations' }) },
		'implement (warn) waits for a person (max_iterations): sdd hil show hil-1',
	],
	[
		{
			kind: 'hil_resolved',
			task,
			item: 'hil-1',
			resolution: { choice: 'accept', by: 'ann', via: 'cli', notes: null, at: AT },
		},
		'implement (plain) ann decided: accept',
	],
	[
		{
			kind: 'approval_voided',
			task,
			changed: [
				{ path: 'a', was: '1', now: '2' },
				{ path: 'b', was: '1', now: null },
			],
		},
		'implement (warn) the approval is void: a, b changed since',
	],
])('an event is told in a line: %#', (event, expected) => {
	expect(line(event)).toBe(expected);
});

test('a review that ends at a person still says what was decided', () => {
	const verdict: Verdict = { kind: 'ask', questions: [], record: { decision: 'NO_GO' } };
	expect(line(said(verdict))).toMatch(/^implement \(warn\) gate: NO_GO/);
});

test('what agents and overlays wrote cannot draw on the terminal, and stays on one line', () => {
	const text = `red \x1b[31malert\x1b[0m\nnext\u202eline ${'x'.repeat(500)}`;
	for (const event of [
		said({ kind: 'rework', feedback: text }),
		said({ kind: 'fail', reason: text }),
		said({ kind: 'pass', note: text }),
		{ kind: 'task_failed', task, code: 'X', reason: text },
		{ kind: 'warning', code: 'X', message: text },
		{
			kind: 'hil_resolved',
			task,
			item: 'i',
			resolution: { choice: 'accept', by: text, via: 'cli', notes: null, at: AT },
		},
	] as const) {
		const shown = line(event) ?? '';
		expect(shown).toContain('red alert next');
		expect(shown).not.toMatch(/[\x1b\n\u202e]/);
		expect(shown.length).toBeLessThan(220);
	}
});

test('file names and choices cannot draw on the terminal either', () => {
	const changed = [{ path: 'a\x1b[2Jb', was: '1', now: '2' }];
	const resolution = { choice: 'ship\x1b[2J', by: 'ann', via: 'cli', notes: null, at: AT } as const;
	const decision = `GO\x1b[2J\n`;
	for (const event of [
		{ kind: 'approval_voided', task, changed },
		{ kind: 'hil_resolved', task, item: 'i', resolution },
		said({ kind: 'pass', record: { decision } }),
		{ kind: 'attempt_checked', ...of, checks: [check('te\x1b[2Jsts')] },
	] as const) {
		expect(line(event)).not.toMatch(/[\x1b\n]/);
	}
});

test('durations are said as people say them', () => {
	expect([0, 12.4, 999, 1000, 59_900, 60_000, 125_000, 3_600_000].map(seconds)).toEqual([
		'0 ms',
		'12 ms',
		'999 ms',
		'1.0 s',
		'59.9 s',
		'1 min 0 s',
		'2 min 5 s',
		'60 min 0 s',
	]);
});

test('a duration never says 1000 ms or 60 s', () => {
	expect([999.6, 59_960, 119_600].map(seconds)).toEqual(['1.0 s', '1 min 0 s', '2 min 0 s']);
});

test('of what a process wrote to stderr the end is shown, and of any other reason the beginning', () => {
	const tail = `${'File "base.py", line 1\n'.repeat(100)}File "judge.py", line 8\nKeyError: 'licence'`;
	const reason = `it answered with an error: no; the last it wrote to stderr:\n${tail}`;
	for (const event of [
		said({ kind: 'fail', reason }),
		{ kind: 'task_failed', task, code: 'X', reason } as const,
		{ kind: 'warning', code: 'X', message: reason } as const,
		{ kind: 'attempt_failed', ...of, agent: 'dev', code: 'X', reason, output: null, ms: 1 } as const,
	]) {
		const shown = line(event) ?? '';
		expect(shown).toContain('it answered with an error: no; the last it wrote to stderr: …');
		expect(shown).toMatch(/File "judge\.py", line 8 KeyError: 'licence'( \[X\])?$/);
		expect(shown.length).toBeLessThan(400);
	}
	const short = 'it died; the last it wrote to stderr:\none\n  two\x1b[31m';
	expect(line(said({ kind: 'fail', reason: short }))).toBe(
		'implement (bad) gate: fail it died; the last it wrote to stderr: one two',
	);
});
