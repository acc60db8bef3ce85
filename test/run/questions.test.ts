import { expect, test } from 'vitest';
import type { Moment, Question, Verdict } from '../../engine/contract.ts';
import { REPLY_CAP } from '../../engine/run/questions.ts';
import { agentPlan, overlayPlan, planOf, taskPlan } from '../builders.ts';
import { gate as makeGate, runPlan, type Script, scriptedWorld } from '../scripted-world.ts';

const gate = overlayPlan('gate');
const task = taskPlan({ overlays: [gate] });

/** Asks these questions, then does what `then` says with the answers. */
function asking(questions: readonly Question[], then: (moment: Moment) => Verdict = () => ({ kind: 'pass' })): Script {
	const all = (moment: Moment): boolean => questions.every(({ id }) => moment.answers[id] !== undefined);
	return { overlays: { gate: { after: (moment) => (all(moment) ? then(moment) : { kind: 'ask', questions }) } } };
}

function toAgent(id: string, agent = 'reviewer', parts: Partial<Question> = {}): Question {
	return { id, to: `agent:${agent}`, brief: { prompt: `${id}: is it good?` }, ...parts };
}

function toPerson(id: string, parts: Partial<Question> = {}): Question {
	return { id, to: 'human', brief: { prompt: `${id}?` }, ...parts };
}

test('questions to several agents run in parallel', async () => {
	const both = makeGate();
	let asked = 0;
	const agent: Script['agent'] = async ({ role }) => {
		if (role !== 'reviewer') return '';
		if (++asked === 2) both.open();
		// Each of them answers only once the other was asked too.
		await both.opened;
		return 'GO';
	};
	const script = asking([toAgent('one'), toAgent('two', 'second')]);
	const { session } = await runPlan(planOf([task]), scriptedWorld({ ...script, agent }));
	expect(session.task('implement').status).toBe('COMPLETED');
});

test('an agent is asked under a key that does not depend on the order, with the prompt whole', async () => {
	const world = scriptedWorld(
		asking([toAgent('two'), toAgent('one', 'second', { role: 'challenger', reviewId: 'r/1' })]),
	);
	const { session } = await runPlan(planOf([task]), world);
	expect(world.calls.slice(1).map(({ key, role, prompt, reviewId }) => ({ key, role, prompt, reviewId }))).toEqual([
		{ key: 'implement#1/after/gate/two', role: 'reviewer', prompt: 'two: is it good?', reviewId: undefined },
		{ key: 'implement#1/after/gate/one', role: 'challenger', prompt: 'one: is it good?', reviewId: 'r/1' },
	]);
	const verdict = session.records.find((one) => one.kind === 'verdict');
	expect(JSON.stringify(verdict)).not.toContain('is it good');
});

test('an answer says who gave it, when, and on which prompt', async () => {
	const seen: Moment['answers'][] = [];
	const script = asking([toAgent('r')], ({ answers }) => {
		seen.push(answers);
		return { kind: 'pass' };
	});
	await runPlan(planOf([task]), scriptedWorld({ ...script, agent: () => 'fine' }));
	expect(seen).toEqual([
		{
			r: {
				by: 'reviewer',
				value: 'fine',
				at: expect.stringMatching(/^2026-/),
				promptSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
			},
		},
	]);
});

test('an agent with a persona gets it whole, ahead of the prompt', async () => {
	const agents = [agentPlan('dev'), agentPlan('reviewer', { persona: 'You are strict.' })];
	const world = scriptedWorld(asking([toAgent('r')]));
	await runPlan(planOf([task], { agents }), world);
	expect(world.calls[1]?.prompt).toBe('You are strict.\n\nr: is it good?');
});

test('a reviewer that crashes is asked again where retry says so', async () => {
	const retry = { times: 1, backoffMs: 0, factor: 1, maxBackoffMs: 0 };
	const agent: Script['agent'] = ({ key, role }) =>
		role === 'reviewer' && !key.endsWith('~2') ? { fail: { code: 'AGENT_EXIT' } } : 'GO';
	const world = scriptedWorld({ ...asking([toAgent('r')]), agent });
	const { session } = await runPlan(planOf([{ ...task, retry }]), world);
	expect(world.calls.map(({ key }) => key)).toEqual([
		'implement#1',
		'implement#1/after/gate/r',
		'implement#1/after/gate/r~2',
	]);
	expect(session.task('implement')).toMatchObject({ status: 'COMPLETED', attempt: 1 });
});

test('a reviewer that keeps crashing leaves an answer without a value', async () => {
	const retry = { times: 2, backoffMs: 0, factor: 1, maxBackoffMs: 0 };
	const agent: Script['agent'] = ({ role }) =>
		role === 'reviewer' ? { text: 'GO', fail: { code: 'AGENT_KILLED' } } : '';
	const script = asking([toAgent('r')], ({ answers }) => ({
		kind: 'fail',
		reason: answers['r']?.failed?.code ?? 'no',
	}));
	const world = scriptedWorld({ ...script, agent });
	const { session } = await runPlan(planOf([{ ...task, retry }]), world);
	expect(world.calls).toHaveLength(4);
	expect(session.task('implement').reason).toBe('gate: AGENT_KILLED');
});

test('half a reply is no reply: one that is too long does not count', async () => {
	const agent: Script['agent'] = ({ role }) => (role === 'reviewer' ? { text: 'GO', bytes: REPLY_CAP + 1 } : '');
	const script = asking([toAgent('r')], ({ answers }) => ({
		kind: 'fail',
		reason: answers['r']?.failed?.reason ?? 'no',
	}));
	const { session } = await runPlan(planOf([task]), scriptedWorld({ ...script, agent }));
	expect(session.task('implement').reason).toBe(
		'gate: the reply has 1048577 bytes; at most 1048576 are read (whole reply: not kept)',
	);
});

test('a question to a person becomes an item with all they need to decide', async () => {
	const question = toPerson('q', {
		trigger: 'approval_required',
		choices: ['yes', 'no'],
		context: { why: 'it is dear' },
	});
	const world = scriptedWorld(asking([question]));
	const { session, ending } = await runPlan(planOf([task]), world);
	expect(ending).toBe('waiting');
	expect(world.published).toEqual([
		{
			id: expect.stringMatching(/^hil-[0-9a-f]{12}$/),
			run_id: 'run-1',
			workflow: 'demo',
			task_id: 'implement',
			overlay: 'gate',
			trigger: 'approval_required',
			status: 'PENDING',
			question: 'q?',
			choices: ['yes', 'no'],
			context: { why: 'it is dear' },
			created_at: expect.stringMatching(/^2026-/),
			resolution: null,
		},
	]);
	expect(session.task('implement').status).toBe('HIL_PENDING');
});

test('the item carries the overlay’s whole log, the record of this very verdict included', async () => {
	const logs = { gate: { folder: 'gates', name: 'gate_log', closing: () => ({ closed: false }) } };
	const overlays: Script['overlays'] = {
		gate: {
			after: ({ attempt }) =>
				attempt === 1
					? { kind: 'rework', feedback: 'again', record: { iteration: 1 } }
					: { kind: 'ask', questions: [toPerson('q')], record: { iteration: 2 } },
		},
	};
	const world = scriptedWorld({ overlays, logs });
	await runPlan(planOf([task]), world);
	expect(world.published[0]?.context).toMatchObject({
		gate_log: {
			task_id: 'implement',
			overlay: 'gate',
			iterations: [{ iteration: 1 }, { iteration: 2 }],
			closed: false,
		},
	});
});

test('agents and people can be asked at once; the overlay hears them together', async () => {
	const answered: string[] = [];
	const script = asking([toPerson('q'), toAgent('r')], ({ answers }) => {
		answered.push(...Object.keys(answers).sort());
		return { kind: 'pass' };
	});
	const plan = planOf([task]);
	const first = scriptedWorld(script);
	const { session, ending } = await runPlan(plan, first);
	expect(ending).toBe('waiting');
	expect(answered).toEqual([]);
	const later = scriptedWorld({ ...script, person: () => ({ choice: 'accept' }) });
	await runPlan(plan, later, { records: session.records });
	expect(answered).toEqual(['q', 'r']);
	expect(later.calls).toEqual([]);
});

test('what a person notes reaches the coder as guidance, beside the feedback', async () => {
	const script = asking([toPerson('q')], ({ attempt }) =>
		attempt === 1 ? { kind: 'rework', feedback: 'weak hashing' } : { kind: 'pass' },
	);
	const world = scriptedWorld({ ...script, person: () => ({ choice: 'rework', notes: 'use argon2' }) });
	const plan = planOf([task]);
	const { session } = await runPlan(plan, world);
	await runPlan(plan, world, { records: session.records });
	expect(world.briefs.get('implement#2')?.feedback).toMatchObject({
		text: 'weak hashing',
		guidance: [{ from: 'ann', text: 'use argon2' }],
	});
});

test('one agent that breaks the adapter does not leave the others running unheard', async () => {
	const slow = makeGate();
	let ended = false;
	const agent: Script['agent'] = async ({ agent: { name }, role }) => {
		if (role !== 'reviewer') return '';
		if (name === 'reviewer') throw new Error('the adapter is broken');
		await slow.opened;
		ended = true;
		return 'GO';
	};
	const world = scriptedWorld({ ...asking([toAgent('one'), toAgent('two', 'second')]), agent });
	const run = runPlan(planOf([task]), world).catch((error: Error) => `${error.message}; the other one ended: ${ended}`);
	setImmediate(() => slow.open());
	expect(await run).toBe('the adapter is broken; the other one ended: true');
});
