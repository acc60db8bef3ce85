import { expect, test } from 'vitest';
import { stateDocument, stateText } from '../../engine/run/state-view.ts';
import { AT, planOf, RUN_STARTED, stateAfter, taskPlan } from '../builders.ts';

const plan = planOf([taskPlan({ outputs: ['src/a.ts'] }), taskPlan({ id: 'later' })]);

test('the document says where every planned task stands, also those that have not begun', () => {
	const state = stateAfter(
		RUN_STARTED,
		{ kind: 'task_started', task: 'implement' },
		{ kind: 'attempt_started', task: 'implement', attempt: 1, by: 'agent', agent: 'dev' },
		{
			kind: 'verdict',
			task: 'implement',
			attempt: 1,
			hook: 'after',
			overlay: 'gate',
			round: 1,
			verdict: { kind: 'rework', feedback: 'x' },
			content: '',
		},
		{ kind: 'task_failed', task: 'implement', code: 'X', reason: 'why' },
		{ kind: 'run_finished', outcome: 'failed' },
	);
	expect(stateDocument(state, plan)).toEqual({
		schema_version: '1',
		workflow: 'demo',
		project: '/project',
		run_id: 'run-1',
		started_at: AT,
		status: 'finished',
		outcome: 'failed',
		tasks: {
			implement: {
				status: 'FAILED',
				started_at: AT,
				completed_at: AT,
				outputs: ['src/a.ts'],
				iterations: 1,
				attempts: 1,
				reason: 'why',
			},
			later: { status: 'PENDING', started_at: null, completed_at: null, outputs: [], iterations: 0, attempts: 0 },
		},
	});
});

test('the text is JSON with one task a line', () => {
	const document = stateDocument(stateAfter(RUN_STARTED), plan);
	const text = stateText(document);
	expect(JSON.parse(text)).toEqual(document);
	expect(text.split('\n').filter((line) => line.includes('"PENDING"'))).toHaveLength(2);
});

test('a plan without tasks is written as well', () => {
	expect(JSON.parse(stateText(stateDocument(stateAfter(RUN_STARTED), planOf([]))))).toMatchObject({ tasks: {} });
});
