import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { type ReviewOptions, reviewOptionsSchema, reviewProblems } from '../../overlays/review/review-options.ts';
import { agenticReview } from '../../overlays/review/review-overlay.ts';

const fits = new Ajv({ strict: false }).compile(reviewOptionsSchema);

const CHECKS = ['tests', 'lint'].map((name) => ({ name, kind: name }));

function problems(options: ReviewOptions, agent = 'dev') {
	return agenticReview
		.problems?.({ options, task: { id: 'implement', agent, outputs: [], checks: CHECKS } })
		.map((one) => [one.path.join('.'), one.message]);
}

it.each([
	[{ reviewer_agent: 'r' }, true],
	[{ reviewer_agent: 'r', coder_agent: 'dev', max_iterations: 1, exit_conditions: ['review.decision == GO'] }, true],
	[{ reviewer_agent: 'r', reviewer_context: 'fresh', on_contract_violation: 'hil', protocol: 'drift' }, true],
	[{}, false],
	[{ reviewer_agent: 'r', max_iterations: 0 }, false],
	[{ reviewer_agent: 'r', max_iterations: 1.5 }, false],
	[{ reviewer_agent: 'r', max_iterations: '3' }, false],
	[{ reviewer_agent: 'r', exit_conditions: [] }, false],
	[{ reviewer_agent: 'r', protocol: 'other' }, false],
	[{ reviewer_agent: 'r', max_iteration: 3 }, false],
])('%j: fits the schema = %s', (options, ok) => {
	expect(fits(options)).toBe(ok);
});

it('good options have no problems', () => {
	expect(problems({ reviewer_agent: 'reviewer', coder_agent: 'dev', exit_conditions: ['checks.tests.ok'] })).toEqual(
		[],
	);
});

it.each([[{ reviewer_agent: 'dev' }], [{ reviewer_agent: 'dev', coder_agent: 'dev' }]])(
	'coder and reviewer must not be the same agent: %j',
	(options) => {
		expect(problems(options)).toEqual([['reviewer_agent', 'coder and reviewer are the same agent, "dev"']]);
	},
);

it("the coder must be the task's agent", () => {
	expect(problems({ reviewer_agent: 'reviewer', coder_agent: 'other' })).toEqual([
		['coder_agent', 'coder_agent is "other", but the task\'s agent is "dev"'],
	]);
});

it('every exit condition must be an expression about things that are there', () => {
	expect(
		problems({
			reviewer_agent: 'reviewer',
			exit_conditions: ['review.decision = GO', 'true', 'reveiw.decision == GO'],
		}),
	).toEqual([
		['exit_conditions.0', expect.stringMatching(/^bad expression: /)],
		['exit_conditions.1', expect.any(String)],
		[
			'exit_conditions.2',
			expect.stringMatching(/^"reveiw.decision" is unknown; .* review.decision, .* task.attempt, /),
		],
	]);
});

it.each([
	['not review.findigs > 0', 'did you mean "review.findings"?'],
	['review.quality_checks.security_review', ''],
	['checks.tests.okay', 'did you mean "checks.tests.ok"?'],
	['task.attemp == 1', 'did you mean "task.attempt"?'],
	['review', 'write it like'],
	['review.quality_checks == true', ''],
	['checks.tests', ''],
	['task', ''],
])('an exit condition about a member that is never there is refused: %s', (condition, remedy) => {
	const options = { reviewer_agent: 'reviewer', exit_conditions: [condition] };
	const [problem, ...others] = reviewProblems(options, { agent: 'dev', checks: [{ name: 'tests', kind: 'tests' }] });
	expect(problem).toMatchObject({ message: expect.stringContaining(' is unknown; '), path: ['exit_conditions', '0'] });
	expect(problem?.remedy).toContain(remedy);
	expect(others).toEqual([]);
});

it('an exit condition may ask about all that a review shows', () => {
	const exit_conditions = [
		'review.decision == GO',
		'review.iteration > 1 or not review.findings > 0',
		'review.quality_checks.security_review_passed',
		'checks.tests.ok and checks.tests.exit == 0',
		'task.attempt < 4',
	];
	expect(
		reviewProblems(
			{ reviewer_agent: 'reviewer', exit_conditions },
			{ agent: 'dev', checks: [{ name: 'tests', kind: 'tests' }] },
		),
	).toEqual([]);
});

it('planning learns who works and who is asked', () => {
	const options = { reviewer_agent: 'reviewer', coder_agent: 'dev' };
	expect(agenticReview.worker?.(options)).toBe('dev');
	expect(agenticReview.worker?.({ reviewer_agent: 'reviewer' })).toBeUndefined();
	expect(agenticReview.agents?.({ options, task: { id: 'implement', agent: 'dev', outputs: [], checks: [] } })).toEqual(
		['reviewer'],
	);
});
