import { describe, expect, it } from 'vitest';
import type { CheckResult, Moment } from '../../engine/contract.ts';
import { CHECK_KINDS } from '../../engine/workflow/schema-parts.ts';
import { askedFor, EVIDENCE_KINDS, type GateOptions, gateProblems } from '../../overlays/policy-gate/gate-options.ts';
import { gateReport } from '../../overlays/policy-gate/gate-report.ts';
import { policyGate } from '../../overlays/policy-gate/overlay.ts';
import { fits, questionOf, verdictAfter } from './consult.ts';
import { AT, checkOf, chose, momentOf } from './moment.ts';

const [acceptance, tests, lint, security, operational] = ['acceptance', 'tests', 'lint', 'security', 'operational'].map(
	(kind) => checkOf({ kind, name: `${kind}-check` }),
) as [CheckResult, CheckResult, CheckResult, CheckResult, CheckResult];
const T1 = [acceptance, tests, lint];
const T2 = [...T1, security, operational];

function judge(checks: readonly CheckResult[], options: GateOptions = {}, parts: Partial<Moment> = {}) {
	return verdictAfter(policyGate, options, { checks, ...parts });
}

function coverage(output: string, parts: Partial<CheckResult> = {}): CheckResult {
	return checkOf({ kind: 'coverage', name: 'cover', output, ...parts });
}

it('it judges after every attempt, before reviews', () => {
	expect(policyGate).toMatchObject({ name: 'policy_gate', hooks: ['after'], order: 20 });
});

it('its kinds of evidence are the kinds of checks there are', () => {
	expect(EVIDENCE_KINDS).toEqual(CHECK_KINDS);
});

it.each<[GateOptions, readonly string[]]>([
	[{ tier: 'T0' }, ['acceptance']],
	[{}, ['acceptance', 'tests', 'lint']],
	[{ tier: 'T1', evidence: ['security', 'coverage'] }, ['acceptance', 'tests', 'lint', 'coverage', 'security']],
	[{ tier: 'T2' }, ['acceptance', 'tests', 'lint', 'security', 'operational']],
	[{ tier: 'T0', coverage_threshold: 0.5 }, ['acceptance', 'coverage']],
])('%j asks for %j', (options, kinds) => {
	expect(askedFor(options)).toEqual(kinds);
});

describe('complete evidence', () => {
	it.each<[string, GateOptions, readonly CheckResult[]]>([
		['T0', { tier: 'T0' }, [acceptance]],
		['T1', {}, T1],
		['more than is asked for', {}, [...T2, coverage('12%', { required: false })]],
		['a failed check that nobody asked for', { tier: 'T0' }, [acceptance, { ...lint, ok: false, required: false }]],
	])('passes (%s)', async (_, options, checks) => {
		expect(await judge(checks, options)).toMatchObject({ kind: 'pass', record: { decision: 'PASS', missing: [] } });
	});

	it('is on the record: what was asked for, what was shown, on which content', async () => {
		expect(await judge([...T1, coverage('83%')], { evidence: ['coverage'] }, { attempt: 3, iteration: 2 })).toEqual({
			kind: 'pass',
			note: 'the evidence for tier T1 is complete: acceptance-check, tests-check, lint-check, cover (0.83)',
			record: {
				iteration: 2,
				decision: 'PASS',
				feedback: 'the evidence for tier T1 is complete: acceptance-check, tests-check, lint-check, cover (0.83)',
				timestamp: AT,
				task_id: 'implement',
				tier: 'T1',
				evidence: [
					{ kind: 'acceptance', check: 'acceptance-check', ok: true, required: true },
					{ kind: 'tests', check: 'tests-check', ok: true, required: true },
					{ kind: 'lint', check: 'lint-check', ok: true, required: true },
					{ kind: 'coverage', check: 'cover', ok: true, required: true, value: 0.83 },
				],
				missing: [],
				artifacts: [{ path: 'src/auth.ts', sha256: 'a1' }],
				attempt: 3,
			},
		});
	});
});

describe('missing or failed evidence', () => {
	it('goes back with the reason for each kind', async () => {
		const checks = [
			{ ...tests, ok: false, exit: 2 },
			{ ...lint, ok: false, exit: null },
		];
		const feedback = [
			'The evidence for tier T1 is not sufficient:',
			'- acceptance: no check of this kind was run',
			'- tests: the check "tests-check" failed (exit 2)',
			'- lint: the check "lint-check" did not come to an end',
		].join('\n');
		expect(await judge(checks)).toMatchObject({
			kind: 'rework',
			feedback,
			record: { decision: 'REWORK', feedback, missing: ['acceptance'] },
		});
	});

	it('says why a check has no exit code, or what the code does not tell', async () => {
		const checks = [
			{ ...acceptance, ok: false, exit: null, reason: 'could not be run: "e2e" was not found on the PATH' },
			{ ...tests, ok: false, exit: 0, reason: 'did not end within 5m' },
			{ ...lint, ok: false, exit: null, reason: 'was killed by SIGKILL' },
		];
		const { feedback } = (await judge(checks)) as { feedback?: string };
		expect(feedback?.split('\n').slice(1)).toEqual([
			'- acceptance: the check "acceptance-check" could not be run: "e2e" was not found on the PATH',
			'- tests: the check "tests-check" did not end within 5m',
			'- lint: the check "lint-check" was killed by SIGKILL',
		]);
	});

	it.each(['T0', 'T1', 'T2'] as const)('without any check %s never passes', async (tier) => {
		expect((await judge([], { tier })).kind).toBe('rework');
	});

	it.each(T2.map((check) => check.kind))('T2 without %s is not even put to a person', async (kind) => {
		const verdict = await judge(
			T2.filter((check) => check.kind !== kind),
			{ tier: 'T2' },
		);
		expect(verdict).toMatchObject({ kind: 'rework', record: { missing: [kind] } });
	});

	it('every check of a kind that is asked for must pass, required or not', async () => {
		const second = { ...lint, name: 'second', ok: false, exit: 1, required: false };
		expect(await judge([...T1, second])).toMatchObject({ kind: 'rework' });
	});

	it('a required check of another kind counts too', async () => {
		expect(await judge([acceptance, { ...tests, ok: false }], { tier: 'T0' })).toMatchObject({ kind: 'rework' });
	});
});

describe('coverage', () => {
	const asked: GateOptions = { evidence: ['coverage'] };

	it.each([
		['80%', asked, 'pass'],
		['79.9%', asked, 'rework'],
		['{"coverage": 0.5}', { coverage_threshold: 0.5 }, 'pass'],
		['0.49', { coverage_threshold: 0.5 }, 'rework'],
	])('%s with %j leads to %s', async (output, options, kind) => {
		expect((await judge([...T1, coverage(output)], options)).kind).toBe(kind);
	});

	it('below the threshold the coder is told both figures', async () => {
		expect(await judge([...T1, coverage('71%')], asked)).toMatchObject({
			feedback: 'The evidence for tier T1 is not sufficient:\n- coverage: 0.71 by the check "cover" is below 0.8',
			record: {
				evidence: expect.arrayContaining([
					{ kind: 'coverage', check: 'cover', ok: false, required: true, value: 0.71 },
				]),
			},
		});
	});

	it('without a figure it is an error while collecting: the task fails', async () => {
		expect(await judge([...T1, coverage('all covered')], asked)).toMatchObject({
			kind: 'fail',
			code: 'GATE_EVIDENCE_UNREADABLE',
			reason:
				'the evidence cannot be collected: the coverage check "cover" gives no figure: no line says how much is covered; have it print only `coverage: 83.5%` or {"coverage": 0.835}',
			record: { decision: 'FAIL' },
		});
	});

	it.each([
		['..... [100%]\nCoverageWarning: No data was collected\n5 passed in 0.12s', 'no line says how much'],
		['100% tests passed, 0 tests failed out of 5', 'no line says how much'],
		['progress 100%\ncoverage NaN%', 'its line "coverage NaN%" cannot be understood'],
		['coverage: 12.0% of statements, target: 95%', 'its line "coverage: 12.0% of statements, target: 95%"'],
		['{"coverage": 0.12, "coverage": 0.95}', 'its JSON says the same key twice'],
		['coverage: 95%\n[... 90,000 characters cut by sdd; 100,000 in all]\n', 'its output was cut'],
	])('a figure that is doubtful (%j) is none, and the reason says why', async (output, why) => {
		const verdict = await judge([...T1, coverage(output)], asked);
		expect(verdict).toMatchObject({ kind: 'fail', code: 'GATE_EVIDENCE_UNREADABLE' });
		expect(verdict).toMatchObject({ reason: expect.stringContaining(`gives no figure: ${why}`) });
	});

	it('a coverage check that failed goes back, figure or not', async () => {
		expect((await judge([...T1, coverage('', { ok: false })], asked)).kind).toBe('rework');
		expect((await judge([...T1, coverage('99%', { ok: false })], asked)).kind).toBe('rework');
	});
});

describe('forbidden changes', () => {
	const options: GateOptions = { forbidden: ['infra/prod', 'package.json'] };

	it('what it watches and somebody touched fails the task, though the evidence is complete', async () => {
		expect(policyGate.watches?.(options)).toEqual(['infra/prod', 'package.json']);
		expect(await judge(T1, options, { touched: ['infra/prod/main.tf', 'package.json'] })).toMatchObject({
			kind: 'fail',
			code: 'GATE_FORBIDDEN_CHANGE',
			reason: 'changed, though it is forbidden: infra/prod/main.tf, package.json',
			record: { decision: 'FAIL', forbidden_changes: ['infra/prod/main.tf', 'package.json'] },
		});
	});

	it('where nothing of it was touched the evidence decides', async () => {
		expect(await judge(T1, options)).toMatchObject({ kind: 'pass', record: { forbidden_changes: [] } });
		expect(policyGate.watches?.({})).toEqual([]);
	});
});

describe('T2', () => {
	const options: GateOptions = { tier: 'T2' };

	it('always asks a person, with the report on the record', async () => {
		const verdict = await judge(T2, options);
		expect(questionOf(verdict)).toMatchObject({
			id: 'approve',
			to: 'human',
			trigger: 'approval_required',
			choices: ['accept', 'reject'],
			brief: {
				prompt:
					'May the work on "implement" pass? Checked by machines, the evidence for tier T2 is complete: acceptance-check, tests-check, lint-check, security-check, operational-check.',
			},
		});
		expect(verdict.record).toMatchObject({ iteration: 1, decision: 'ASK', tier: 'T2' });
	});

	it.each([
		[chose('accept'), { kind: 'pass', note: 'approved by ann' }],
		[chose('accept', 'fine'), { kind: 'pass', note: 'approved by ann: fine' }],
		[chose('reject', 'not now'), { kind: 'fail', code: 'HIL_REJECTED', reason: 'rejected by ann: not now' }],
		[chose('rework'), { kind: 'fail', code: 'HIL_REJECTED', reason: 'rejected by ann' }],
	])('%j leads to %j', async (answer, verdict) => {
		const said = await judge(T2, options, { answers: { approve: answer } });
		expect(said).toMatchObject(verdict);
		expect(said.record).toMatchObject({
			choice: answer.value,
			decided_by: 'ann',
			hil_item: 'hil-1',
			after_iteration: 1,
		});
	});
});

describe('options', () => {
	it.each([
		[{}, true],
		[{ tier: 'T2', evidence: ['coverage'], coverage_threshold: 1, forbidden: ['a/b'] }, true],
		[{ tier: 'T3' }, false],
		[{ evidence: ['vibes'] }, false],
		[{ coverage_threshold: 80 }, false],
		[{ forbidden: [''] }, false],
	])('%j: fits the schema = %s', (options, ok) => {
		expect(fits(policyGate as never, options)).toBe(ok);
	});

	it.each([
		['*.pem', '"*.pem" is a pattern; forbidden paths are taken literally'],
		['/etc', '"/etc" is no path inside the project'],
		['../x', '"../x" is no path inside the project'],
		['.', '"." is the whole project, in which no task could write anything'],
		['out/', '"out/" is forbidden, but the task is to write "out/a.txt"'],
		['./out/a.txt', '"./out/a.txt" is forbidden, but the task is to write "out/a.txt"'],
	])('the forbidden path %s is refused', (path, message) => {
		const task = { outputs: ['out/a.txt'], checks: T1 };
		expect(gateProblems({ forbidden: ['ok', path] }, task)).toMatchObject([{ path: ['forbidden', '1'], message }]);
	});

	it('a kind of evidence that no check of the task gives is warned of: the gate could never pass', () => {
		const task = { outputs: [], checks: T1.filter(({ kind }) => kind !== 'lint') };
		expect(gateProblems({}, { ...task, checks: T1 })).toEqual([]);
		expect(gateProblems({}, task)).toMatchObject([{ path: [], isWarning: true }]);
		expect(gateProblems({ tier: 'T2' }, task)).toEqual([
			{
				path: ['tier'],
				message: 'no check of the task is evidence of lint, security, operational, so this gate can never pass',
				remedy: 'add checks with `kind: lint` and so on, or ask for a lower tier',
				isWarning: true,
			},
		]);
	});
});

describe('the report', () => {
	const about = { task: 'implement', run: 'run-1' };
	const closing = (records: readonly object[], completed: boolean | null) =>
		gateReport.closing(records as never, { ...about, ended: completed === null ? null : { completed, at: AT } });

	it.each([
		[[{ iteration: 1, decision: 'PASS' }], null, 'OPEN'],
		[[{ iteration: 1, decision: 'PASS' }], true, 'PASSED'],
		[[{ iteration: 1, decision: 'PASS' }], false, 'FAILED'],
		[[{ iteration: 1, decision: 'REWORK' }], false, 'FAILED'],
		[[{ iteration: 1, decision: 'ASK' }, { choice: 'accept' }], true, 'ACCEPTED_BY_HUMAN'],
		[[{ iteration: 1, decision: 'ASK' }, { choice: 'reject' }], false, 'FAILED'],
		[[], true, 'FAILED'],
	])('%j, completed %s: status %s', (records, completed, status) => {
		expect(closing(records, completed)).toMatchObject({ status });
	});

	it('ends with who decided, where somebody did', () => {
		const records = [
			{ iteration: 1, decision: 'ASK' },
			{ choice: 'accept', hil_item: 'hil-1', decided_by: 'ann' },
		];
		expect(closing(records, true)).toEqual({
			status: 'ACCEPTED_BY_HUMAN',
			completed_at: AT,
			hil_item: 'hil-1',
			decided_by: 'ann',
		});
	});
});

it('the moment it judges is left as it was', async () => {
	const moment = momentOf({ checks: T2 });
	const before = JSON.stringify(moment);
	await judge(T2, { tier: 'T2' }, moment);
	expect(JSON.stringify(moment)).toBe(before);
});
