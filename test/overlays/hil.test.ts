import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import type { Answer, Verdict } from '../../engine/contract.ts';
import { verdictSchema } from '../../engine/workflow/verdict-schema.ts';
import { type HilOptions, hil } from '../../overlays/hil/overlay.ts';
import { builtinOverlays } from '../../overlays/index.ts';
import { chose, kit, momentOf } from './moment.ts';

const isVerdict = new Ajv({ strict: false }).compile(verdictSchema);

async function judge(answer: Answer | null, options: HilOptions = {}): Promise<Verdict> {
	const answers = answer === null ? {} : { approve: answer };
	const moment = momentOf({ hook: 'before', artifacts: [], answers });
	const verdict = await hil.create(options, kit).before?.(moment, { signal: new AbortController().signal });
	if (verdict === undefined) throw new Error('there is no hook "before"');
	expect(isVerdict(JSON.parse(JSON.stringify(verdict))), JSON.stringify(isVerdict.errors)).toBe(true);
	return verdict;
}

it('a person is asked before the task starts, and shown the task', async () => {
	expect(await judge(null)).toEqual({
		kind: 'ask',
		questions: [
			{
				id: 'approve',
				to: 'human',
				brief: { prompt: 'May "implement" start?' },
				choices: ['accept', 'reject'],
				trigger: 'approval_required',
				context: {
					description: 'Implement the login flow',
					acceptance_criteria: ['invalid passwords are refused'],
					outputs: ['src/auth.ts'],
				},
			},
		],
	});
});

it('the workflow can say what is asked', async () => {
	expect(await judge(null, { message: 'Is the budget approved?' })).toMatchObject({
		questions: [{ brief: { prompt: 'Is the budget approved?' } }],
	});
});

it.each([
	[chose('accept'), { kind: 'pass', note: 'approved by ann' }],
	[chose('accept', 'go ahead'), { kind: 'pass', note: 'approved by ann: go ahead' }],
	[chose('reject'), { kind: 'fail', code: 'HIL_REJECTED', reason: 'rejected by ann' }],
	[chose('reject', 'too early'), { kind: 'fail', code: 'HIL_REJECTED', reason: 'rejected by ann: too early' }],
])('%j leads to %j', async (answer, verdict) => {
	expect(await judge(answer)).toEqual(verdict);
});

it.each(['rework', 'takeover', 'yes', ''])('any other choice (%j) never starts the task', async (choice) => {
	expect((await judge(chose(choice))).kind).toBe('fail');
});

it.each([
	[{}, true],
	[{ message: 'x' }, true],
	[{ message: '' }, false],
	[{ massage: 'x' }, false],
])('%j: fits the schema = %s', (options, ok) => {
	expect(new Ajv({ strict: false }).compile(hil.options)(options)).toBe(ok);
});

it('the built-in overlays are these; approval, gate, review or pair, and last the score', () => {
	expect(builtinOverlays.map(({ name, order }) => [name, order])).toEqual([
		['hil', 10],
		['policy_gate', 20],
		['agentic_review', 30],
		['paired_workflow', 30],
		['confidence', 90],
	]);
});
