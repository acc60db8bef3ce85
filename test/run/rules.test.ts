/** The eight rules of the engine, as the design words them; each is shown on the real run core in a scripted world. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Moment, Verdict } from '../../engine/contract.ts';
import type { JournalRecord } from '../../engine/events.ts';
import { planOverlays } from '../../engine/plan/plan-overlays.ts';
import { driveTask } from '../../engine/run/drive.ts';
import { MAX_ROUNDS } from '../../engine/run/judge.ts';
import { builtinOverlays } from '../../overlays/index.ts';
import { overlayPlan, planOf, taskPlan } from '../builders.ts';
import { openMemory, runPlan, type Script, scriptedWorld } from '../scripted-world.ts';

const [a, b, c] = [overlayPlan('a'), overlayPlan('b'), overlayPlan('c')];
const pass = (): Verdict => ({ kind: 'pass' });

/** Runs one task with these overlays. */
async function judged(overlays: NonNullable<Script['overlays']>, script: Script = {}, parts = {}) {
	const world = scriptedWorld({ ...script, overlays });
	const plans = Object.keys(overlays).map((name) => overlayPlan(name));
	const plan = planOf([taskPlan({ overlays: plans, ...parts })]);
	return { world, plan, ...(await runPlan(plan, world)) };
}

/** Asks a person once, and passes when they accept. */
function asksPerson(moment: Moment): Verdict {
	const answer = moment.answers['q'];
	if (answer === undefined) return { kind: 'ask', questions: [{ id: 'q', to: 'human', brief: { prompt: 'May it?' } }] };
	return answer.value === 'accept' ? { kind: 'pass' } : { kind: 'fail', reason: 'rejected' };
}

function verdictsIn(records: readonly JournalRecord[]): readonly string[] {
	return records.flatMap((one) => (one.kind === 'verdict' ? [`${one.overlay}:${one.verdict.kind}`] : []));
}

test('rule 1: overlays are consulted one after another in planned order', async () => {
	let under = 0;
	const slowly = async (): Promise<Verdict> => {
		expect(++under).toBe(1);
		await Promise.resolve();
		under--;
		return { kind: 'pass' };
	};
	const { world } = await judged({ a: { after: slowly }, b: { after: slowly }, c: { after: slowly } });
	expect(world.consulted.map((one) => one.split('/').at(-1))).toEqual([a.name, b.name, c.name]);
});

test('rule 1: the first verdict other than pass is the verdict', async () => {
	const fail = (): Verdict => ({ kind: 'fail', reason: 'forbidden' });
	const { world, session } = await judged({ a: { after: pass }, b: { after: fail }, c: { after: pass } });
	expect(world.consulted).toEqual(['implement#1/after/a', 'implement#1/after/b']);
	expect(session.task('implement')).toMatchObject({ status: 'FAILED', reason: 'b: forbidden' });
});

test('rule 2: a verdict is journaled before anything acts on it', async () => {
	// The scripted world refuses every effect that begins before what led to it is durable.
	const rework = ({ attempt }: Moment): Verdict => (attempt === 1 ? { kind: 'rework', feedback: 'again' } : pass());
	const { session } = await judged({ a: { after: rework } });
	expect(session.kinds()).toEqual([
		...['run_started', 'task_started', 'attempt_started', 'attempt_finished', 'verdict'],
		...['attempt_started', 'attempt_finished', 'verdict', 'task_completed', 'run_finished'],
	]);
});

test('rule 2: an entry of a log is durable before the next overlay is consulted', async () => {
	const seen: (readonly string[])[] = [];
	const world = scriptedWorld({
		overlays: {
			a: { after: () => ({ kind: 'pass', record: { iteration: 1 } }) },
			b: {
				after() {
					seen.push(session.undurable());
					return pass();
				},
			},
		},
	});
	const task = taskPlan({ overlays: [a, b] });
	const session = openMemory(planOf([task]), world);
	await driveTask(session, task);
	expect(seen).toEqual([[]]);
});

test('rule 2: a recorded verdict is never recomputed for that attempt', async () => {
	const { world, plan, session } = await judged({ a: { after: pass }, b: { after: asksPerson } });
	expect(session.task('implement').status).toBe('HIL_PENDING');
	const moody = scriptedWorld({
		overlays: { a: { after: () => ({ kind: 'fail', reason: 'changed my mind' }) }, b: { after: asksPerson } },
		person: () => ({ choice: 'accept' }),
	});
	const resumed = await runPlan(plan, moody, { records: session.records });
	expect(world.consulted).toEqual(['implement#1/after/a', 'implement#1/after/b']);
	expect(moody.consulted).toEqual(['implement#1/after/b']);
	expect(resumed.session.task('implement').status).toBe('COMPLETED');
});

test('rule 2: a gate behind an approved question is still consulted, and still blocks', async () => {
	const gate = (): Verdict => ({ kind: 'fail', reason: 'no licence' });
	const script: Script = { person: () => ({ choice: 'accept' }) };
	const { world, plan, session } = await judged({ a: { after: asksPerson }, b: { after: gate } }, script);
	const { session: after } = await runPlan(plan, world, { records: session.records });
	expect(verdictsIn(after.records)).toEqual(['a:ask', 'a:pass', 'b:fail']);
	expect(after.task('implement')).toMatchObject({ status: 'FAILED', reason: 'b: no licence' });
});

test('rule 3: questions are keyed by (task, hook, attempt, overlay, question id), never by call order', async () => {
	const ask = (...ids: readonly string[]): Script['overlays'] => ({
		a: {
			after: ({ answers }) =>
				ids.every((id) => answers[id] !== undefined)
					? pass()
					: { kind: 'ask', questions: ids.map((id) => ({ id, to: 'human', brief: { prompt: `${id}?` } })) },
		},
	});
	const one = await judged(ask('x', 'y') ?? {});
	const other = await judged(ask('y', 'x') ?? {});
	const byQuestion = (items: readonly { readonly id: string; readonly question: string }[]) =>
		Object.fromEntries(items.map(({ id, question }) => [question, id]));
	expect(byQuestion(one.world.published)).toEqual(byQuestion(other.world.published));
	expect(new Set(one.world.published.map(({ id }) => id)).size).toBe(2);
});

test('rule 3: each part of the key makes another question', async () => {
	const overlays = {
		a: { before: asksPerson, after: asksPerson },
		b: { after: asksPerson },
	};
	const both = overlayPlan('a', { hooks: ['before', 'after'] });
	const tasks = ['one', 'two'].map((id) => taskPlan({ id, overlays: [both, b] }));
	const world = scriptedWorld({ overlays, person: () => ({ choice: 'accept' }) });
	let { session } = await runPlan(planOf(tasks), world);
	for (let i = 0; i < 4; i++) ({ session } = await runPlan(planOf(tasks), world, { records: session.records }));
	expect(session.task('one').status).toBe('COMPLETED');
	expect(new Set(world.published.map(({ id }) => id)).size).toBe(6);
});

test('rule 3: the same question is never put twice to a person: killed and resumed, the run finds the old item', async () => {
	const { plan, session } = await judged({ a: { after: asksPerson } });
	const opened = session.records.findIndex(({ kind }) => kind === 'hil_opened');
	const later = scriptedWorld({ overlays: { a: { after: asksPerson } } });
	const resumed = await runPlan(plan, later, { records: session.records.slice(0, opened + 1) });
	expect(resumed.ending).toBe('waiting');
	const items = resumed.session.records.flatMap((one) => (one.kind === 'hil_opened' ? [one.item] : []));
	expect(items).toHaveLength(1);
	expect(later.published).toEqual(items);
	expect(later.consulted).toEqual([]);
});

test('rule 3: an overlay that asks an answered question again has broken the contract', async () => {
	const again = (): Verdict => ({
		kind: 'ask',
		questions: [{ id: 'q', to: 'agent:reviewer', brief: { prompt: '?' } }],
	});
	const { session, world } = await judged({ a: { after: again } });
	expect(world.calls.filter(({ role }) => role === 'reviewer')).toHaveLength(1);
	expect(session.task('implement').reason).toBe(
		'a: it asks the question "q" twice; the same question is never put again',
	);
});

test('rule 4: every loop is bounded by the task’s max_attempts', async () => {
	const never = (): Verdict => ({ kind: 'rework', feedback: 'not yet' });
	const { session, world } = await judged({ a: { after: never } }, {}, { maxAttempts: 3 });
	expect(world.calls.map(({ key }) => key)).toEqual(['implement#1', 'implement#2', 'implement#3']);
	expect(session.task('implement').reason).toBe('all 3 attempts are used up; the last feedback was: not yet');
});

test('rule 4: an overlay cannot ask for ever', async () => {
	const curious = ({ answers }: Moment): Verdict => {
		const id = `q${Object.keys(answers).length}`;
		return { kind: 'ask', questions: [{ id, to: 'agent:reviewer', brief: { prompt: '?' } }] };
	};
	const { session, world } = await judged({ a: { after: curious } });
	expect(world.consulted).toHaveLength(MAX_ROUNDS);
	expect(session.task('implement').reason).toBe(`a: it asked ${MAX_ROUNDS} times about one attempt`);
});

test.each<[string, () => unknown]>([
	[
		'a throw',
		() => {
			throw new Error('boom');
		},
	],
	['nothing', () => undefined],
	['true', () => true],
	['the word pass', () => 'pass'],
	['a list', () => [{ kind: 'pass' }]],
	['an unknown kind', () => ({ kind: 'PASS' })],
	['an unknown member', () => ({ kind: 'pass', approved: true })],
	['a rework without feedback', () => ({ kind: 'rework' })],
	['a question without id', () => ({ kind: 'ask', questions: [{ to: 'human', brief: { prompt: '?' } }] })],
	['no questions', () => ({ kind: 'ask', questions: [] })],
	[
		'a circular thing',
		() => {
			const it: { kind: string; it?: unknown } = { kind: 'pass' };
			it.it = it;
			return it;
		},
	],
	[
		'a question to an unknown agent',
		() => ({ kind: 'ask', questions: [{ id: 'q', to: 'agent:nobody', brief: { prompt: '?' } }] }),
	],
	[
		'a fixer that is not there',
		() => ({ kind: 'rework', feedback: 'x', fixers: [{ agent: 'nobody', feedback: 'x' }] }),
	],
])('rule 5: fail closed: %s is never a pass', async (_name, answer) => {
	const { session } = await judged({ a: { after: answer as () => Verdict } });
	expect(session.task('implement').status).toBe('FAILED');
});

test('rule 5: fail closed: a verdict that its hook does not take is never a pass', async () => {
	const overlays = { a: { before: (): Verdict => ({ kind: 'rework', feedback: 'x' }) } };
	const world = scriptedWorld({ overlays });
	const { session } = await runPlan(planOf([taskPlan({ overlays: [overlayPlan('a', { hooks: ['before'] })] })]), world);
	expect(session.task('implement').reason).toBe(
		'a: "rework" is not a verdict for the hook before; it takes pass, ask, fail',
	);
	expect(world.calls).toEqual([]);
});

test('rule 5: fail closed: a reviewer that gives no reply leaves an answer that says so', async () => {
	const seen: unknown[] = [];
	const overlays: Script['overlays'] = {
		a: {
			after({ answers }) {
				if (answers['r'] === undefined)
					return { kind: 'ask', questions: [{ id: 'r', to: 'agent:reviewer', brief: { prompt: '?' } }] };
				seen.push(answers['r'].value, answers['r'].failed);
				return answers['r'].failed === undefined ? pass() : { kind: 'fail', reason: answers['r'].failed.reason };
			},
		},
	};
	const agent: Script['agent'] = ({ role }) =>
		role === 'reviewer' ? { text: '{"decision": "GO"}', fail: { code: 'AGENT_EXIT', reason: 'it exited with 1' } } : '';
	const { session } = await judged(overlays, { agent });
	expect(seen).toEqual([null, { code: 'AGENT_EXIT', reason: 'it exited with 1' }]);
	expect(session.task('implement').status).toBe('FAILED');
});

test.each(['skip', 'warn', 'fail'] as const)(
	'rule 5: on_error: %s decides about transport errors only',
	async (onError) => {
		const run = async (after: () => Verdict | Promise<Verdict>) => {
			const world = scriptedWorld({ overlays: { a: { after } } });
			const overlays = [overlayPlan('a', { onError, timeoutMs: 5 })];
			return (await runPlan(planOf([taskPlan({ overlays })]), world)).session;
		};
		const late = await run(() => new Promise(() => {}));
		expect(late.task('implement').status).toBe(onError === 'fail' ? 'FAILED' : 'COMPLETED');
		const warnings = late.records.flatMap((one) => (one.kind === 'warning' ? [one.message] : []));
		expect(warnings).toEqual(
			onError === 'warn' ? ['overlay "a" skipped at after, as its on_error says: no verdict at after within 5ms'] : [],
		);
		const threw = await run(() => {
			throw new Error('boom');
		});
		expect(threw.task('implement').status).toBe('FAILED');
		const malformed = await run(() => ({ kind: 'sure' }) as unknown as Verdict);
		expect(malformed.task('implement').status).toBe('FAILED');
	},
);

test('rule 6: a verdict is bound to the content it judged', async () => {
	const agent: Script['agent'] = () => ({ files: { 'out.txt': 'good' } });
	const { session } = await judged({ a: { after: pass } }, { agent }, { outputs: ['out.txt'] });
	const without = await judged({ a: { after: pass } });
	const contents = [session, without.session].map(({ records }) => records.find((one) => one.kind === 'verdict'));
	expect(contents[0]).toMatchObject({ content: expect.stringMatching(/^[0-9a-f]{64}$/) });
	expect(contents[0]).not.toMatchObject({ content: (contents[1] as { content: string }).content });
});

test('rule 6: if the content changes afterwards, the approval is void and the overlays are consulted again', async () => {
	const agent: Script['agent'] = () => ({ files: { 'out.txt': 'good' } });
	const overlays: Script['overlays'] = { a: { after: pass } };
	const meddler: NonNullable<Script['overlays']> = {
		...overlays,
		b: {
			after({ attempt }) {
				if (attempt === 1) world.files.set('out.txt', 'evil');
				return { kind: 'pass' };
			},
		},
	};
	const world = scriptedWorld({ agent, overlays: meddler });
	const plan = planOf([taskPlan({ outputs: ['out.txt'], overlays: [a, b] })]);
	const { session } = await runPlan(plan, world);
	expect(world.consulted).toEqual([
		'implement#1/after/a',
		'implement#1/after/b',
		'implement#2/after/a',
		'implement#2/after/b',
	]);
	expect(session.records.find((one) => one.kind === 'approval_voided')).toMatchObject({
		changed: [{ path: 'out.txt' }],
	});
	expect(session.task('implement').status).toBe('COMPLETED');
});

test('rule 7: order is declared by the overlay’s definition and settled when planning', () => {
	const overlays = [
		['late', 90],
		['review', 30],
		['usual', undefined],
		['person', 10],
	].map(([name, order]) => ({
		merged: { name, entry: {} },
		definition: { name, summary: '', hooks: ['after'], options: {}, ...(order === undefined ? {} : { order }) },
		enabled: true,
		use: null,
		options: {},
	}));
	const { overlays: planned } = planOverlays({ overlays } as never, undefined);
	expect(planned.map(({ name, order }) => [name, order])).toEqual([
		['person', 10],
		['review', 30],
		['usual', 50],
		['late', 90],
	]);
});

test('rule 7: hil comes before agentic_review, which excludes paired_workflow', () => {
	const orders = Object.fromEntries(builtinOverlays.map(({ name, order }) => [name, order ?? 50]));
	expect(orders['hil']).toBeLessThan(orders['agentic_review'] ?? 0);
	expect(builtinOverlays.find(({ name }) => name === 'agentic_review')?.conflictsWith).toContain('paired_workflow');
});

test('rule 8: the engine knows no overlay by name', () => {
	const engine = fileURLToPath(new URL('../../engine', import.meta.url));
	// `hil` is also the name of the queue's folder, so only the other names are looked for.
	const names = ['agentic_review', 'paired_workflow', 'policy_gate', 'confidence'];
	const files = readdirSync(engine, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
	expect(files.length).toBeGreaterThan(50);
	for (const file of files) {
		const code = readFileSync(join(engine, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
		expect(code, file).not.toMatch(/from '(\.\.\/)+overlays/);
		for (const name of names) expect(code, file).not.toMatch(new RegExp(`['"\`]${name}['"\`]`));
	}
});

test('rule 8: without any overlay the engine runs tasks', async () => {
	const { ending, session } = await judged({});
	expect(ending).toBe('all_ended');
	expect(session.task('implement').status).toBe('COMPLETED');
});
