import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { type ReviewOptions, reviewOptionsSchema } from '../../overlays/review/review-options.ts';
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
		['exit_conditions.2', '"reveiw.decision" is unknown; an exit condition can ask about review, checks, task'],
	]);
});

it.each([
	['review.decison == GO', '"review.decison" is unknown; there is review.decision, review.iteration, review.findings'],
	['review', '"review" is unknown; there is review.decision'],
	['checks.tests', '"checks.tests" is unknown; there is checks.tests.ok, checks.tests.exit'],
	['checks.tests.okay', '"checks.tests.okay" is unknown; there is checks.tests.ok'],
	['checks', '"checks" is unknown; there is checks.<name>.ok'],
	['task.atempt > 1', '"task.atempt" is unknown; there is task.attempt'],
])('an exit condition about what is never there is refused: %s', (condition, message) => {
	const options = { reviewer_agent: 'reviewer', exit_conditions: [condition] };
	expect(problems(options)).toEqual([['exit_conditions.0', expect.stringContaining(message)]]);
});

it('exit conditions may ask about everything that there is', () => {
	const exit_conditions = [
		'review.decision == GO and review.iteration > 1 and review.findings == 0',
		'review.quality_checks.security_review_passed',
		'checks.tests.ok or checks.tests.exit < 3 or task.attempt == 2',
	];
	expect(problems({ reviewer_agent: 'reviewer', exit_conditions })).toEqual([]);
});

it('planning learns who works and who is asked', () => {
	const options = { reviewer_agent: 'reviewer', coder_agent: 'dev' };
	expect(agenticReview.worker?.(options)).toBe('dev');
	expect(agenticReview.worker?.({ reviewer_agent: 'reviewer' })).toBeUndefined();
	expect(agenticReview.agents?.({ options, task: { id: 'implement', agent: 'dev', outputs: [], checks: [] } })).toEqual(
		['reviewer'],
	);
});
