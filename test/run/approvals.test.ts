/** Content that changes after it was judged. */
import { expect, test } from 'vitest';
import type { Moment, Verdict } from '../../engine/contract.ts';
import type { TaskPlan } from '../../engine/plan/plan.ts';
import { agentPlan, overlayPlan, planOf, taskPlan } from '../builders.ts';
import { type MemorySession, runPlan, type Script, type ScriptedWorld, scriptedWorld } from '../scripted-world.ts';

const gate = overlayPlan('gate');
const OUT = 'out.txt';
const task = taskPlan({ outputs: [OUT], overlays: [gate] });
const pass: Verdict = { kind: 'pass' };
const writes: NonNullable<Script['agent']> = ({ role }) => (role === 'coder' ? { files: { [OUT]: 'good' } } : 'GO');

/** Asks the reviewer, then passes. */
function reviewed({ answers }: Moment): Verdict {
	if (answers['r'] !== undefined) return pass;
	return { kind: 'ask', questions: [{ id: 'r', to: 'agent:reviewer', brief: { prompt: '?' } }] };
}

/** Asks a person and does what they say. */
function obeys({ answers: { q } }: Moment): Verdict {
	if (q === undefined) {
		return {
			kind: 'ask',
			questions: [{ id: 'q', to: 'human', brief: { prompt: '?' }, choices: ['accept', 'takeover', 'rework'] }],
		};
	}
	if (q.value === 'accept') return { kind: 'pass', record: { choice: 'accept' } };
	const by = q.value === 'takeover' ? 'human' : 'agent';
	return { kind: 'rework', feedback: 'once more', by, record: { choice: q.value } };
}

function voids(session: MemorySession): number {
	return session.records.filter(({ kind }) => kind === 'approval_voided').length;
}

function workers(session: MemorySession): readonly string[] {
	return session.records.flatMap((one) => (one.kind === 'attempt_started' ? [one.by] : []));
}

test('a file that changes while it is reviewed voids the review: the reply is about something else', async () => {
	const agent: Script['agent'] = (call) =>
		call.role === 'reviewer' && call.attempt === 1 ? { text: 'GO', files: { [OUT]: 'changed' } } : writes(call);
	const world = scriptedWorld({ agent, overlays: { gate: { after: reviewed } } });
	const { session } = await runPlan(planOf([task]), world);
	expect(voids(session)).toBe(1);
	expect(workers(session)).toEqual(['agent', 'outside']);
	expect(world.calls.map(({ key }) => key)).toEqual([
		'implement#1',
		'implement#1/after/gate/r',
		'implement#2/after/gate/r',
	]);
	expect(session.task('implement')).toMatchObject({ status: 'COMPLETED', attempt: 2, machineAttempts: 2 });
});

test('a file that changes between two overlays voids what the first one said', async () => {
	const world: ScriptedWorld = scriptedWorld({
		agent: writes,
		overlays: {
			gate: {
				after({ attempt }) {
					if (attempt === 1) world.files.set(OUT, 'other');
					return pass;
				},
			},
			second: { after: () => pass },
		},
	});
	const two: TaskPlan = { ...task, overlays: [gate, overlayPlan('second')] };
	const { session } = await runPlan(planOf([two]), world);
	expect(world.consulted).toEqual(['implement#1/after/gate', 'implement#2/after/gate', 'implement#2/after/second']);
	expect(voids(session)).toBe(1);
});

test('content that changed since the last verdict does not complete the task: nothing is built on it', async () => {
	const next = taskPlan({ id: 'next', dependsOn: ['implement'] });
	const world: ScriptedWorld = scriptedWorld({
		agent: writes,
		overlays: {
			gate: {
				after({ attempt }) {
					if (attempt === 1) world.files.set(OUT, 'other');
					return attempt === 1 ? pass : { kind: 'fail', reason: 'not this' };
				},
			},
		},
	});
	const { session } = await runPlan(planOf([task, next]), world);
	expect(session.kinds()).not.toContain('task_completed');
	expect(session.task('next').status).toBe('SKIPPED');
});

test('a later task that changes approved content without owning it sends it back to be judged', async () => {
	const meddler = taskPlan({ id: 'meddler', dependsOn: ['implement'] });
	const agent: Script['agent'] = (call) => (call.task === 'meddler' ? { files: { [OUT]: 'meddled' } } : writes(call));
	const world = scriptedWorld({ agent, overlays: { gate: { after: () => pass } } });
	const { session, ending } = await runPlan(planOf([task, meddler]), world);
	expect(ending).toBe('all_ended');
	expect(world.consulted).toEqual(['implement#1/after/gate', 'implement#2/after/gate']);
	expect(workers(session)).toEqual(['agent', 'agent', 'outside']);
});

test('a later task that declares the same output answers for it: the earlier approval stands', async () => {
	const next = taskPlan({ id: 'polish', dependsOn: ['implement'], outputs: [OUT] });
	const agent: Script['agent'] = (call) => (call.task === 'polish' ? { files: { [OUT]: 'polished' } } : writes(call));
	const world = scriptedWorld({ agent, overlays: { gate: { after: () => pass } } });
	const { session } = await runPlan(planOf([task, next]), world);
	expect(voids(session)).toBe(0);
	expect(world.consulted).toEqual(['implement#1/after/gate']);
});

test('a later task that declares the folder above answers for what lies in it', async () => {
	const early = taskPlan({ outputs: ['src/a.ts'], overlays: [gate] });
	const next = taskPlan({ id: 'polish', dependsOn: ['implement'], outputs: ['src/'] });
	const agent: Script['agent'] = ({ task: id }) => ({ files: { 'src/a.ts': id } });
	const { session } = await runPlan(
		planOf([early, next]),
		scriptedWorld({ agent, overlays: { gate: { after: () => pass } } }),
	);
	expect(voids(session)).toBe(0);
});

test('content that changes for ever ends in a failure, not in a loop', async () => {
	let n = 0;
	const world: ScriptedWorld = scriptedWorld({
		agent: writes,
		overlays: {
			gate: {
				after() {
					world.files.set(OUT, `version ${n++}`);
					return pass;
				},
			},
		},
	});
	const { session } = await runPlan(planOf([task]), world);
	expect(session.task('implement')).toMatchObject({
		status: 'FAILED',
		reason: 'all 5 attempts are used up; its content changed once more after it was judged',
	});
});

test('an output that is removed after its approval has broken the contract', async () => {
	const world: ScriptedWorld = scriptedWorld({
		agent: writes,
		overlays: {
			gate: {
				after() {
					world.files.delete(OUT);
					return pass;
				},
			},
		},
	});
	const { session } = await runPlan(planOf([task]), world);
	expect(session.task('implement')).toMatchObject({
		status: 'FAILED',
		reason: `declared outputs that are not there: ${OUT}`,
	});
});

test('what nobody judges may change as it likes', async () => {
	const plain = taskPlan({ outputs: [OUT] });
	const next = taskPlan({ id: 'next', dependsOn: ['implement'] });
	const agent: Script['agent'] = ({ task: id }) => ({ files: { [OUT]: id } });
	const { session } = await runPlan(planOf([plain, next]), scriptedWorld({ agent }));
	expect(voids(session)).toBe(0);
});

/** Runs until a person is asked, changes the file, then goes on with the person's choice. */
async function editedThen(choice: string) {
	const plan = planOf([task]);
	const script: Script = { agent: writes, overlays: { gate: { after: obeys } } };
	const { session } = await runPlan(plan, scriptedWorld(script));
	const files = { [OUT]: 'edited by hand' };
	const person: Script['person'] = (item) => (item.id === session.records.flatMap(itemIn)[0] ? { choice } : null);
	const world = scriptedWorld({ ...script, files, person });
	return { world, ...(await runPlan(plan, world, { records: session.records })) };
}

function itemIn(one: MemorySession['records'][number]): readonly string[] {
	return one.kind === 'hil_opened' ? [one.item.id] : [];
}

test('an approval by a person is void if the file changed since they were asked; that they approved is on record', async () => {
	const { session, ending } = await editedThen('accept');
	expect(session.task('implement').past['gate']).toMatchObject([{ verdict: 'pass', record: { choice: 'accept' } }]);
	expect(voids(session)).toBe(1);
	expect(workers(session)).toEqual(['agent', 'outside']);
	expect(ending).toBe('waiting');
});

test('a person who takes over may edit the files before the run goes on: it is their attempt, and on record', async () => {
	const { session } = await editedThen('takeover');
	expect(session.task('implement').past['gate']).toMatchObject([{ verdict: 'rework', record: { choice: 'takeover' } }]);
	expect(voids(session)).toBe(0);
	expect(workers(session)).toEqual(['agent', 'human']);
	expect(session.task('implement').machineAttempts).toBe(1);
});

test('a person who orders another round gets one, even if the file changed meanwhile', async () => {
	const { session, world } = await editedThen('rework');
	expect(voids(session)).toBe(0);
	expect(world.calls.map(({ key }) => key)).toEqual(['implement#2']);
	expect(workers(session)).toEqual(['agent', 'agent']);
});

test('a reviewer marked read_only that changes the work has failed, and what it said does not count', async () => {
	const agents = [agentPlan('dev'), agentPlan('reviewer', { readOnly: true })];
	const agent: Script['agent'] = (call) =>
		call.role === 'reviewer' ? { text: 'GO', files: { [OUT]: 'my way' } } : writes(call);
	const judge = (moment: Moment): Verdict => {
		const failed = moment.answers['r']?.failed;
		return failed === undefined ? reviewed(moment) : { kind: 'fail', code: failed.code, reason: failed.reason };
	};
	const world = scriptedWorld({ agent, overlays: { gate: { after: judge } } });
	const { session } = await runPlan(planOf([task], { agents }), world);
	expect(session.task('implement')).toMatchObject({
		status: 'FAILED',
		attempt: 1,
		reason: `gate: the agent "reviewer" is read_only, but the task's outputs changed while it ran`,
	});
	expect(session.records.find((one) => one.kind === 'task_failed')).toMatchObject({ code: 'AGENT_READ_ONLY' });
});

test('no approval rests on such a reviewer, whatever the overlay makes of its failure', async () => {
	const agents = [agentPlan('dev'), agentPlan('reviewer', { readOnly: true })];
	const agent: Script['agent'] = (call) =>
		call.role === 'reviewer' ? { text: 'GO', files: { [OUT]: 'my way' } } : writes(call);
	const lenient = (moment: Moment): Verdict =>
		moment.answers['r'] === undefined ? reviewed(moment) : { kind: 'pass' };
	const world = scriptedWorld({ agent, overlays: { gate: { after: lenient } } });
	const { session } = await runPlan(planOf([task], { agents }), world);
	expect(session.task('implement')).toMatchObject({ status: 'FAILED', attempt: 1, fault: null });
	expect(session.records.find((one) => one.kind === 'task_failed')).toMatchObject({ code: 'AGENT_READ_ONLY' });
});
