import { describe, expect, it } from 'vitest';
import type { CheckResult, Moment } from '../../engine/contract.ts';
import { type ConfidenceOptions, confidenceProblems } from '../../overlays/confidence/confidence-options.ts';
import { confidence } from '../../overlays/confidence/overlay.ts';
import { fits, questionOf, verdictAfter } from './consult.ts';
import { garbled } from './garbled.ts';
import { AT, checkOf, chose, replied } from './moment.ts';

const lint = (ok: boolean, name = 'style') => checkOf({ kind: 'lint', name, ok, required: false });
const cover = (output: string, ok = true) => checkOf({ kind: 'coverage', name: 'cover', output, ok, required: false });
const FULL = [
	cover('83%'),
	lint(true),
	checkOf({ kind: 'security', name: 'audit' }),
	checkOf({ kind: 'acceptance', name: 'works' }),
];

function judge(checks: readonly CheckResult[], options: ConfidenceOptions = {}, parts: Partial<Moment> = {}) {
	return verdictAfter(confidence, options, { checks, ...parts });
}

function evaluated(reply: string, checks: readonly CheckResult[] = [lint(true)], options: ConfidenceOptions = {}) {
	return judge(
		checks,
		{ evaluator_agent: 'judge', ...options },
		{ answers: { evaluate: replied(reply, { by: 'judge' }) } },
	);
}

it('it judges last', () => {
	expect(confidence).toMatchObject({ hooks: ['after'], order: 90 });
});

describe('the score', () => {
	it.each<[string, readonly CheckResult[], ConfidenceOptions, number | null]>([
		['all metrics of checks', FULL, {}, 0.957],
		['coverage alone', [cover('50%')], {}, 0.5],
		['of several coverage checks the lowest', [cover('90%'), cover('0.4')], {}, 0.4],
		['shares of passing checks', [lint(true), lint(false, 'b'), lint(false, 'c')], {}, 0.333],
		['weights', [cover('50%'), lint(true)], { weights: { test_coverage: 3 } }, 0.625],
		['a weight of 0 leaves a metric out', [cover('50%'), lint(true)], { weights: { test_coverage: 0 } }, 1],
		['no metric, no score', [], {}, null],
		['checks of other kinds do not count', [checkOf()], {}, null],
	])('%s', async (_, checks, options, score) => {
		expect(await judge(checks, options)).toMatchObject({ kind: 'pass', record: { score } });
	});

	it('is on the record with what it was made of and what was left out', async () => {
		expect(await judge([cover('83%'), lint(true)], {}, { attempt: 2 })).toEqual({
			kind: 'pass',
			note: 'score 0.915 (test_coverage 0.83, lint_score 1), without security_score, checklist_completion, llm_judge',
			record: {
				iteration: 1,
				decision: 'PASS',
				feedback:
					'score 0.915 (test_coverage 0.83, lint_score 1), without security_score, checklist_completion, llm_judge',
				timestamp: AT,
				task_id: 'implement',
				score: 0.915,
				threshold: 0.7,
				metrics: [
					{ metric: 'test_coverage', value: 0.83, weight: 1 },
					{ metric: 'lint_score', value: 1, weight: 1 },
				],
				unavailable: [
					{ metric: 'security_score', note: 'there is no check of the kind security' },
					{ metric: 'checklist_completion', note: 'there is no check of the kind acceptance' },
					{ metric: 'llm_judge', note: 'there is no evaluator_agent' },
				],
				artifacts: [{ path: 'src/auth.ts', sha256: 'a1' }],
				attempt: 2,
			},
		});
	});

	it.each([
		['without a figure', [cover('all of it')], 'gives no figure: no line says how much is covered'],
		['with a doubtful one', [cover('coverage: ?')], 'gives no figure: no line says how much is covered'],
		['that failed', [cover('coverage: 90%', false)], 'failed'],
		['without a figure, beside a good one', [cover('90%'), cover('')], 'gives no figure: no line says'],
	])('a coverage check %s counts 0, and is noted: it never raises the score', async (_, checks, why) => {
		const note = expect.stringContaining(`the check "cover" ${why}`);
		expect(await judge([...checks, lint(true)])).toMatchObject({
			record: {
				score: 0.5,
				metrics: expect.arrayContaining([{ metric: 'test_coverage', value: 0, weight: 1, note }]),
			},
		});
	});
});

describe('llm_judge', () => {
	it('the evaluator is asked first, with the work fenced', async () => {
		const question = questionOf(await judge([lint(true)], { evaluator_agent: 'judge' }));
		expect(question).toMatchObject({
			id: 'evaluate',
			to: 'agent:judge',
			role: 'evaluator',
			reviewId: 'run-1/implement/1',
		});
		expect(question.brief.prompt).toContain('Another agent (`dev`) wrote it.');
		expect(question.brief.prompt).toMatch(/<<<data-(\w+) src\/auth\.ts\nexport const auth = 1;\ndata-\1>>>/);
		expect(question.brief.prompt).toContain('"score": <0 to 1>');
	});

	it('an evaluator that only repeats what it was asked gave no score; one that then answers did', async () => {
		const { prompt } = questionOf(await judge([lint(true)], { evaluator_agent: 'judge' })).brief;
		expect(await evaluated(prompt)).toMatchObject({ record: { score: 0.5 } });
		expect(await evaluated(`${prompt}\n{"score": 0.9, "reason": "good"}`)).toMatchObject({ record: { score: 0.95 } });
	});

	it('its score counts, and its reason is kept', async () => {
		expect(
			await evaluated('{"score": 0.5, "reason": "thin tests"}', [lint(true)], { weights: { llm_judge: 3 } }),
		).toMatchObject({
			kind: 'pass',
			record: {
				score: 0.625,
				evaluator_agent: 'judge',
				prompt_sha256: 'p1',
				metrics: expect.arrayContaining([{ metric: 'llm_judge', value: 0.5, weight: 3, note: 'thin tests' }]),
			},
		});
	});

	it.each<readonly [string, string, string]>([
		['no score', 'looks good', 'the reply has no JSON object with "score"'],
		['a text', '{"score": "1"}', '"score" is "1", expected a number from 0 to 1'],
		['too much', '{"score": 1.5}', '"score" is 1.5, expected a number from 0 to 1'],
		['an odd reason', '{"score": 1, "reason": 7}', '"reason" is 7, expected a text'],
		['two scores', '{"score": 1} {"score": 0.1}', 'the reply has verdicts that disagree with each other'],
		...garbled('score', '0.1', 'reason').map(
			([how, low]) =>
				[
					`a garbled second score (${how})`,
					`{"score": 1}\n${low}`,
					'beside its verdict the reply has another "score" that cannot be read',
				] as const,
		),
	])('%s counts 0 and is noted: it never raises the score', async (_, reply, why) => {
		expect(await evaluated(reply)).toMatchObject({
			kind: 'pass',
			record: {
				score: 0.5,
				metrics: expect.arrayContaining([
					{ metric: 'llm_judge', value: 0, weight: 1, note: `"judge" gave no score: ${why}` },
				]),
			},
		});
	});

	it.each([
		'Score: {"score": 1,} {"score": 1}',
		'I shall say {"score": <0 to 1>, "reason": …}. {"score": 1}',
		'The "score": high. {"score": 1}',
	])('the same score again, a blank or prose changes nothing: %s', async (reply) => {
		expect(await evaluated(reply)).toMatchObject({ record: { score: 1 } });
	});

	it('an evaluator that failed counts 0 as well', async () => {
		const failed = replied('', { failed: { code: 'AGENT_TIMEOUT', reason: 'no answer in time' } });
		const verdict = await judge([lint(true)], { evaluator_agent: 'judge' }, { answers: { evaluate: failed } });
		expect(verdict).toMatchObject({ kind: 'pass', record: { score: 0.5 } });
		expect(JSON.stringify(verdict.record)).toContain('gave no score: no answer in time');
	});

	it('a score that stands in the work is no score', async () => {
		const reply = '{"score": 1, "reason": "perfect"}';
		const parts = { output: { text: reply }, answers: { evaluate: replied(reply) } };
		expect(await judge([lint(true)], { evaluator_agent: 'judge' }, parts)).toMatchObject({ record: { score: 0.5 } });
	});

	it('whoever made the attempt is not asked about it', async () => {
		expect(await judge([lint(true)], { evaluator_agent: 'judge' }, { worker: 'judge' })).toMatchObject({
			kind: 'pass',
			record: {
				score: 0.5,
				metrics: expect.arrayContaining([
					{ metric: 'llm_judge', value: 0, weight: 1, note: '"judge" gave no score: it made this attempt itself' },
				]),
			},
		});
	});

	it('with the weight 0 nobody is asked', async () => {
		const options: ConfidenceOptions = { evaluator_agent: 'judge', weights: { llm_judge: 0 } };
		expect(await judge([lint(true)], options)).toMatchObject({ kind: 'pass', record: { score: 1 } });
	});
});

describe('a low score', () => {
	const ask: ConfidenceOptions = { on_low: 'ask', threshold: 0.6 };

	it('is a note unless the workflow says otherwise', async () => {
		expect(await judge([cover('50%')])).toMatchObject({
			kind: 'pass',
			note: 'score 0.5, below 0.7 (test_coverage 0.5), without lint_score, security_score, checklist_completion, llm_judge',
		});
	});

	it('is put to a person with on_low: ask', async () => {
		const verdict = await judge([cover('50%')], ask);
		expect(questionOf(verdict)).toMatchObject({
			id: 'decide',
			to: 'human',
			trigger: 'overlay',
			choices: ['accept', 'reject'],
			brief: {
				prompt: expect.stringMatching(
					/^The confidence in the work on "implement" is low: score 0\.5, below 0\.6 .* May it pass\?$/,
				),
			},
		});
		expect(verdict.record).toMatchObject({ decision: 'ASK', score: 0.5 });
	});

	it('no score is a low score', async () => {
		expect((await judge([], ask)).kind).toBe('ask');
	});

	it('at the threshold it is not low', async () => {
		expect((await judge([cover('60%')], ask)).kind).toBe('pass');
	});

	it('where a required check failed nobody is asked: their yes would overrule the check', async () => {
		expect((await judge([cover('50%'), checkOf({ ok: false })], ask)).kind).toBe('pass');
	});

	it.each([
		[chose('accept', 'fine'), { kind: 'pass', note: 'accepted by ann: fine' }],
		[chose('reject'), { kind: 'fail', code: 'HIL_REJECTED', reason: 'rejected by ann' }],
		[chose('perhaps'), { kind: 'fail', code: 'HIL_REJECTED' }],
	])('%j leads to %j', async (answer, verdict) => {
		const said = await judge([cover('50%')], ask, { answers: { decide: answer } });
		expect(said).toMatchObject({ ...verdict, record: { choice: answer.value, decided_by: 'ann' } });
	});
});

describe('options', () => {
	it.each([
		[{}, true],
		[{ evaluator_agent: 'judge', weights: { llm_judge: 2, lint_score: 0 }, threshold: 0.9, on_low: 'ask' }, true],
		[{ weights: { vibes: 1 } }, false],
		[{ weights: { lint_score: -1 } }, false],
		[{ threshold: 70 }, false],
		[{ on_low: 'fail' }, false],
	])('%j: fits the schema = %s', (options, ok) => {
		expect(fits(confidence as never, options)).toBe(ok);
	});

	it.each<[ConfidenceOptions, string]>([
		[{ evaluator_agent: 'dev' }, 'coder and evaluator are the same agent, "dev"'],
		[{ weights: { llm_judge: 1 } }, 'llm_judge has a weight, but nobody to give its score'],
		[
			{ weights: { test_coverage: 0, lint_score: 0, security_score: 0, checklist_completion: 0, llm_judge: 0 } },
			'every metric has the weight 0',
		],
	])('%j is refused: %s', (options, message) => {
		expect(confidenceProblems(options, { agent: 'dev' })).toMatchObject([{ message }]);
	});
});

it('the log ends with the last score once the task has ended', () => {
	const records = [
		{ iteration: 1, score: 0.5 },
		{ choice: 'accept', hil_item: 'hil-1', decided_by: 'ann' },
	];
	const about = { task: 'implement', run: 'run-1' };
	expect(confidence.log?.closing(records, { ...about, ended: null })).toMatchObject({ final_score: null });
	expect(confidence.log?.closing(records, { ...about, ended: { completed: true, at: AT } })).toEqual({
		final_score: 0.5,
		completed_at: AT,
		hil_item: 'hil-1',
		decided_by: 'ann',
	});
});
