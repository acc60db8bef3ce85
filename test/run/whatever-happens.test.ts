/** Properties of the run core: whatever agents, overlays and people do, and wherever the process dies. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ALLOWED_VERDICTS, type Hook, type Moment, type Verdict } from '../../engine/contract.ts';
import type { JournalRecord } from '../../engine/events.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { isEnded, type TaskState } from '../../engine/run/state.ts';
import { sha256 } from '../../engine/store/hash.ts';
import { overlayPlan, planOf, taskPlan } from '../builders.ts';
import { type MemorySession, runPlan, type Script, scriptedWorld } from '../scripted-world.ts';

const HOOKS: readonly Hook[] = ['before', 'after', 'failed'];
const CODES = ['AGENT_EXIT', 'AGENT_TIMEOUT', 'AGENT_NOT_FOUND', 'TASK_STOPPED'];
const KINDS = [
	'pass',
	'pass',
	'pass',
	'pass',
	'pass',
	'pass',
	'pass',
	'rework',
	'human',
	'agent',
	'fail',
	'nonsense',
	'throw',
	'takeover',
	'meddle',
] as const;
const overlays = ['first', 'second'].map((name) => overlayPlan(name, { hooks: HOOKS }));
const retry = { times: 1, backoffMs: 0, factor: 1, maxBackoffMs: 0 };

const plan: Plan = planOf([
	taskPlan({ id: 'a', outputs: ['a.txt'], overlays, maxAttempts: 4, retry }),
	taskPlan({ id: 'b', outputs: ['b.txt'], overlays: overlays.slice(0, 1), dependsOn: ['a'], maxAttempts: 3 }),
	taskPlan({ id: 'c', outputs: ['c.txt'], maxAttempts: 2, retry }),
]);

/** Prompts lie on the disk, whoever is killed. */
const prompts = new Map<string, string>();

/** A world in which everything depends on a seed and on what is asked, never on the order of calls. */
function worldOf(seed: number, files: { readonly [path: string]: string }) {
	const pick = <T>(key: string, from: readonly T[]): T => from[hashOf(`${seed}/${key}`) % from.length] as T;
	const world = scriptedWorld({
		files,
		prompts,
		agent({ key, task }) {
			const crashes = pick(`${key} crashes`, [false, false, false, true]);
			if (crashes) return { fail: { code: pick(`${key} code`, CODES) } };
			return { text: key, files: { [`${task}.txt`]: pick(`${key} text`, ['one', 'two', 'three']) } };
		},
		person: ({ id }) => ({ choice: pick(id, ['accept', 'reject']) }),
		overlays: Object.fromEntries(overlays.map(({ name }) => [name, judgeOf(name)])),
	});
	function judgeOf(name: string): NonNullable<Script['overlays']>[string] {
		const judge = (moment: Moment): Verdict => {
			const asked = Object.keys(moment.answers).length;
			const key = `${name}/${moment.task.id}#${moment.attempt}/${moment.hook}/${asked}`;
			const kind = pick(key, KINDS);
			if (kind === 'meddle') world.files.set(`${moment.task.id}.txt`, pick(`${key} text`, ['one', 'meddled']));
			return verdictOf(kind, `q${asked}`);
		};
		return { before: judge, after: judge, failed: judge };
	}
	return world;
}

function verdictOf(kind: (typeof KINDS)[number], id: string): Verdict {
	switch (kind) {
		case 'rework':
			return { kind: 'rework', feedback: 'again' };
		case 'takeover':
			return { kind: 'rework', feedback: 'mine', by: 'human' };
		case 'human':
			return { kind: 'ask', questions: [{ id, to: 'human', brief: { prompt: '?' } }] };
		case 'agent':
			return { kind: 'ask', questions: [{ id, to: 'agent:reviewer', brief: { prompt: '?' } }] };
		case 'fail':
			return { kind: 'fail', reason: 'no' };
		case 'nonsense':
			return { kind: 'sure' } as unknown as Verdict;
		case 'throw':
			throw new Error('boom');
		default:
			return { kind: 'pass' };
	}
}

function hashOf(text: string): number {
	let hash = 2166136261;
	for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16777619) >>> 0;
	return (hash ^ (hash >>> 13)) >>> 0;
}

/** Runs until nothing is left to do, in as many processes as people make necessary. */
async function live(seed: number, records?: readonly JournalRecord[], files: { readonly [path: string]: string } = {}) {
	let known = records;
	let left = files;
	for (let process = 0; process < 60; process++) {
		const world = worldOf(seed, left);
		const { session, ending } = await runPlan(plan, world, known === undefined ? {} : { records: known });
		if (ending === 'all_ended') return { session, files: world.files };
		known = session.records;
		left = Object.fromEntries(world.files);
	}
	throw new Error(`the run with seed ${seed} did not end`);
}

const seeds = fc.integer({ min: 0, max: 1_000_000 });

test('every run ends, every task has ended, and every attempt is within its limit or was ordered by a person', async () => {
	await fc.assert(
		fc.asyncProperty(seeds, async (seed) => {
			const { session } = await live(seed);
			for (const task of plan.tasks) {
				const state = session.task(task.id);
				expect(isEnded(state.status)).toBe(true);
				const orders = session.records.filter((one) => one.kind === 'hil_resolved' && one.task === task.id);
				expect(state.machineAttempts).toBeLessThanOrEqual(task.maxAttempts + orders.length);
			}
		}),
		{ numRuns: 300 },
	);
});

test('a task is completed only if the last word of every overlay on its last attempt is pass, on the files that lie there', async () => {
	await fc.assert(
		fc.asyncProperty(seeds, async (seed) => {
			const { session, files } = await live(seed);
			for (const task of plan.tasks) {
				const state = session.task(task.id);
				if (state.status !== 'COMPLETED') continue;
				for (const { name } of task.overlays) expect(lastWord(state, name)).toBe('pass');
				if (task.overlays.length > 0)
					expect(state.artifacts.map((one) => one.sha256)).toEqual([sha256(files.get(`${task.id}.txt`) ?? '')]);
			}
		}),
		{ numRuns: 300 },
	);
});

test('what depends on a task that failed is skipped, and nothing runs before what it depends on is done', async () => {
	await fc.assert(
		fc.asyncProperty(seeds, async (seed) => {
			const { session } = await live(seed);
			const begun = position(session, 'b', 'task_started');
			if (begun >= 0) expect(position(session, 'a', 'task_completed')).toBeLessThan(begun);
			expect(session.task('b').status === 'SKIPPED').toBe(position(session, 'a', 'task_completed') < 0);
		}),
		{ numRuns: 60 },
	);
});

test('no verdict is recorded twice, none at a hook that does not take it, and no question is put twice', async () => {
	await fc.assert(
		fc.asyncProperty(seeds, async (seed) => {
			const { session } = await live(seed);
			const verdicts = session.records.flatMap((one) => (one.kind === 'verdict' ? [one] : []));
			const keys = verdicts.map(({ task, attempt, hook, overlay, round }) =>
				[task, attempt, hook, overlay, round].join(),
			);
			expect(new Set(keys).size).toBe(keys.length);
			for (const { hook, verdict } of verdicts) expect(ALLOWED_VERDICTS[hook]).toContain(verdict.kind);
			const items = session.records.flatMap((one) => (one.kind === 'hil_opened' ? [one.item.id] : []));
			expect(new Set(items).size).toBe(items.length);
		}),
		{ numRuns: 60 },
	);
});

test('killed after any record, a run still ends, with no attempt beyond its limit unless ordered, and no question put twice', async () => {
	await fc.assert(
		fc.asyncProperty(seeds, fc.nat(), async (seed, where) => {
			const whole = await live(seed);
			const cut = 1 + (where % (whole.session.records.length - 1));
			const { session } = await live(seed, whole.session.records.slice(0, cut), Object.fromEntries(whole.files));
			for (const task of plan.tasks) {
				expect(isEnded(session.task(task.id).status)).toBe(true);
				const orders = session.records.filter((one) => one.kind === 'hil_resolved' && one.task === task.id);
				expect(session.task(task.id).machineAttempts).toBeLessThanOrEqual(task.maxAttempts + orders.length);
			}
			const items = session.records.flatMap((one) => (one.kind === 'hil_opened' ? [one.item.id] : []));
			expect(new Set(items).size).toBe(items.length);
		}),
		{ numRuns: 300 },
	);
});

function lastWord(state: TaskState, overlay: string): string | undefined {
	return state.past[overlay]?.filter(({ hook, attempt }) => hook === 'after' && attempt === state.attempt).at(-1)
		?.verdict;
}

function position(session: MemorySession, task: string, kind: JournalRecord['kind']): number {
	return session.records.findIndex((one) => one.kind === kind && 'task' in one && one.task === task);
}
