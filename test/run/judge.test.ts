import { expect, test } from 'vitest';
import type { Question, Verdict } from '../../engine/contract.ts';
import { judge } from '../../engine/run/judge.ts';
import type { Consultation, TaskState } from '../../engine/run/state.ts';
import { answerBy, consultation, overlayPlan, workedState } from '../builders.ts';

const first = overlayPlan('first');
const second = overlayPlan('second');
const human: Question = { id: 'q', to: 'human', brief: { prompt: 'May it?' } };
const agent: Question = { id: 'r', to: 'agent:reviewer', brief: { prompt: 'sha256:0' } };
const pass: Verdict = { kind: 'pass' };

function judging(by: { readonly [overlay: string]: Consultation }): TaskState {
	return workedState({ judging: { hook: 'after', attempt: 1, by } });
}

test('overlays are consulted in planned order', () => {
	expect(judge([first, second], 'after', workedState())).toEqual({ kind: 'consult', overlay: first, round: 1 });
	const said = judging({ first: consultation(pass) });
	expect(judge([first, second], 'after', said)).toEqual({ kind: 'consult', overlay: second, round: 1 });
});

test('it is a pass when all have passed, and when nobody judges', () => {
	expect(judge([first], 'after', judging({ first: consultation(pass) }))).toEqual({ kind: 'pass' });
	expect(judge([], 'after', workedState())).toEqual({ kind: 'pass' });
});

test('the first verdict other than pass is the verdict: those behind it are not consulted', () => {
	const rework: Verdict = { kind: 'rework', feedback: 'no' };
	expect(judge([first, second], 'after', judging({ first: consultation(rework) }))).toEqual({
		kind: 'rework',
		overlay: 'first',
		verdict: rework,
	});
	const fail: Verdict = { kind: 'fail', reason: 'never' };
	expect(judge([first, second], 'after', judging({ first: consultation(fail) }))).toMatchObject({ kind: 'fail' });
});

test('an overlay without the hook is passed over', () => {
	const early = overlayPlan('early', { hooks: ['before'] });
	expect(judge([early, second], 'after', workedState())).toMatchObject({ kind: 'consult', overlay: second });
});

test('what was said of an earlier attempt, or at another hook, does not count', () => {
	const earlier = workedState({
		attempt: 2,
		judging: { hook: 'after', attempt: 1, by: { first: consultation(pass) } },
	});
	expect(judge([first], 'after', earlier)).toMatchObject({ kind: 'consult', round: 1 });
	const elsewhere = workedState({ judging: { hook: 'failed', attempt: 1, by: { first: consultation(pass) } } });
	expect(judge([first], 'after', elsewhere)).toMatchObject({ kind: 'consult', round: 1 });
});

test('new questions are put', () => {
	const ask: Verdict = { kind: 'ask', questions: [human, agent] };
	const state = judging({ first: consultation(ask) });
	expect(judge([first], 'after', state)).toEqual({ kind: 'put', overlay: first, questions: [human, agent] });
});

test('a question that lies with a person is not put again; it is waited for', () => {
	const ask: Verdict = { kind: 'ask', questions: [human] };
	const state = judging({ first: consultation(ask, { items: { q: 'hil-1' } }) });
	expect(judge([first, second], 'after', state)).toEqual({ kind: 'wait' });
});

test('of several questions only those that nobody has are put', () => {
	const ask: Verdict = { kind: 'ask', questions: [human, agent] };
	const state = judging({ first: consultation(ask, { items: { q: 'hil-1' } }) });
	expect(judge([first], 'after', state)).toEqual({ kind: 'put', overlay: first, questions: [agent] });
});

test('a question may have any id, also a name that every object has', () => {
	const odd: Question = { ...human, id: 'constructor' };
	const state = judging({ first: consultation({ kind: 'ask', questions: [odd] }) });
	expect(judge([first], 'after', state)).toEqual({ kind: 'put', overlay: first, questions: [odd] });
});

test('an asker is consulted again only when all its questions are answered', () => {
	const ask: Verdict = { kind: 'ask', questions: [human, agent] };
	const half = { items: { q: 'hil-1' }, answers: { r: answerBy('reviewer', 'GO') } };
	expect(judge([first], 'after', judging({ first: consultation(ask, half) }))).toEqual({ kind: 'wait' });
	const all = { items: { q: 'hil-1' }, answers: { r: answerBy('reviewer', 'GO'), q: answerBy('ann', 'accept') } };
	expect(judge([first], 'after', judging({ first: consultation(ask, all) }))).toEqual({
		kind: 'consult',
		overlay: first,
		round: 2,
	});
});

test('those behind an asker that has passed are still consulted', () => {
	const answered = { rounds: 2, answers: { q: answerBy('ann', 'accept') } };
	const state = judging({ first: consultation(pass, answered) });
	expect(judge([first, second], 'after', state)).toEqual({ kind: 'consult', overlay: second, round: 1 });
});
