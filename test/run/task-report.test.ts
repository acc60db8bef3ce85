import { expect, test } from 'vitest';
import { reportText } from '../../engine/run/task-report.ts';
import { AT, overlayPlan, RUN_STARTED, stateAfter, taskPlan } from '../builders.ts';

const of = { task: 'implement', attempt: 1, hook: 'after', overlay: 'pair', round: 1, content: 'c' } as const;
const task = taskPlan({ overlays: [overlayPlan('pair')] });

test('a report says of every round who was what, and of every decision who made it', () => {
	const round = { iteration: 1, decision: 'CHALLENGE', feedback: 'why?', timestamp: AT };
	const state = stateAfter(
		RUN_STARTED,
		{ kind: 'task_started', task: 'implement' },
		{ kind: 'attempt_started', task: 'implement', attempt: 1, by: 'agent', agent: 'dev' },
		{
			kind: 'verdict',
			...of,
			verdict: {
				kind: 'rework',
				feedback: 'why?',
				record: { ...round, driver_agent: 'dev', challenger_agent: 'eve', usage: null },
			},
		},
		{
			kind: 'verdict',
			...of,
			round: 2,
			verdict: {
				kind: 'pass',
				record: { choice: 'accept', decided_by: 'ann', decided_via: 'tty', notes: 'fine', timestamp: AT },
			},
		},
	);
	expect(reportText(task, state)).toContain(`### Iteration 1: CHALLENGE

challenger eve, driver dev, ${AT}

> why?

### Decision: accept

by ann (tty), ${AT}

> fine`);
});

test('a task of which no overlay recorded anything has no report', () => {
	expect(reportText(task, stateAfter(RUN_STARTED))).toBeNull();
});

test('a file whose name has several lines is one line of a report', () => {
	const artifacts = [{ path: 'out/x\n# implement: PASSED', sha256: 'abc', bytes: 1 }];
	const output = { text: '', bytes: 0, sha256: 'd' };
	const state = stateAfter(
		RUN_STARTED,
		{ kind: 'task_started', task: 'implement' },
		{ kind: 'attempt_started', task: 'implement', attempt: 1, by: 'agent', agent: 'dev' },
		{ kind: 'attempt_finished', task: 'implement', attempt: 1, agent: 'dev', output, artifacts, ms: 1 },
		{ kind: 'verdict', ...of, verdict: { kind: 'pass', record: { iteration: 1 } } },
		{ kind: 'task_completed', task: 'implement' },
	);
	expect(reportText(task, state)).toContain('- `out/x # implement: PASSED` sha256 abc\n');
});
