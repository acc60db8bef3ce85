/**
 * A run may be killed anywhere. Here the journal of a whole run (reviews, a rework, people's decisions, a retry, a
 * takeover, a gate behind an approved question) is cut after every single record, and the run goes on from there.
 */
import { beforeAll, expect, test } from 'vitest';
import type { Moment, OverlayDefinition, Verdict } from '../../engine/contract.ts';
import type { JournalRecord } from '../../engine/events.ts';
import type { JsonObject } from '../../engine/json.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { endOf, logDocument } from '../../engine/run/log-view.ts';
import { recordsOf } from '../../engine/run/state.ts';
import { hil } from '../../overlays/hil/overlay.ts';
import { reviewLog } from '../../overlays/review/review-log.ts';
import { agenticReview } from '../../overlays/review/review-overlay.ts';
import { overlayPlan, planOf, taskPlan } from '../builders.ts';
import {
	type Files,
	type MemorySession,
	runPlan,
	type Script,
	type ScriptedWorld,
	scriptedWorld,
} from '../scripted-world.ts';

const review = overlayPlan('agentic_review', { options: { reviewer_agent: 'reviewer', max_iterations: 2 }, order: 30 });
const approval = overlayPlan('hil', { hooks: ['before'], order: 10 });
const gate = overlayPlan('gate', { order: 50 });
const check = { name: 'tests', run: 'npm test', required: true, kind: 'tests', timeoutMs: 1000 };

const plan: Plan = planOf([
	taskPlan({ id: 'design', overlays: [approval, review], outputs: ['design.md'], maxAttempts: 9 }),
	taskPlan({
		id: 'build',
		dependsOn: ['design'],
		outputs: ['src/a.ts'],
		checks: [check],
		overlays: [review, gate],
		maxAttempts: 9,
		retry: { times: 1, backoffMs: 0, factor: 1, maxBackoffMs: 0 },
	}),
	taskPlan({ id: 'docs' }),
	taskPlan({ id: 'doomed' }),
	taskPlan({ id: 'never', dependsOn: ['doomed'] }),
]);

/** Everybody in this world does what they do by the key they are called with. */
const script: Script = {
	git: true,
	agent({ key, task, attempt, role }) {
		if (key === 'doomed#1') return { fail: { code: 'AGENT_EXIT', reason: 'exit 1' } };
		if (key === 'build#2') return { fail: { code: 'AGENT_TIMEOUT', reason: 'too slow' } };
		if (role === 'reviewer') return { text: JSON.stringify(verdictOn(task, attempt)) };
		const files: { readonly [task: string]: Files } = {
			design: { 'design.md': `design ${attempt}` },
			build: { 'src/a.ts': `code ${attempt}` },
		};
		return { text: `${task} ${attempt} done`, files: files[task] ?? {} };
	},
	check: (_task, attempt) => attempt > 1,
	person(item) {
		if (item.trigger === 'approval_required') return { choice: 'accept' };
		const log = item.context['review_log'] as { readonly iterations: readonly unknown[] } | undefined;
		if (item.task_id === 'design') return { choice: 'takeover', notes: 'I do it myself' };
		return log?.iterations.length === 2 ? { choice: 'rework', notes: 'look at the tests' } : { choice: 'accept' };
	},
	overlays: {
		hil: hil as unknown as OverlayDefinition,
		agentic_review: agenticReview as unknown as OverlayDefinition,
		gate: { after: gateSays },
	},
};

function verdictOn(task: string, attempt: number): JsonObject {
	const isGo = task === 'design' && attempt === 3;
	return {
		decision: isGo ? 'GO' : 'NO_GO',
		feedback: `${task}: attempt ${attempt} is ${isGo ? 'fine' : 'not there yet'}`,
	};
}

/** Behind the approved review: wants another agent's opinion and then a person's. */
function gateSays({ answers }: Moment): Verdict {
	if (answers['opinion'] === undefined) {
		return { kind: 'ask', questions: [{ id: 'opinion', to: 'agent:second', brief: { prompt: 'An opinion?' } }] };
	}
	if (answers['sign'] === undefined) {
		return { kind: 'ask', questions: [{ id: 'sign', to: 'human', brief: { prompt: 'Sign here' } }] };
	}
	return { kind: 'pass', record: { signed_by: answers['sign'].by } };
}

/** One life of the run from its first record to its end, in as many processes as it takes. */
interface Life {
	readonly session: MemorySession;
	readonly worlds: readonly ScriptedWorld[];
	/** The files as they were when each record was taken. */
	readonly snapshots: readonly Files[];
}

async function live(records?: readonly JournalRecord[], files: Files = {}): Promise<Life> {
	const worlds: ScriptedWorld[] = [];
	const snapshots: Files[] = [];
	let known = records;
	let left = files;
	for (let process = 0; process < 20; process++) {
		const world = scriptedWorld({ ...script, files: left, prompts });
		worlds.push(world);
		const onRecord = (): void => void snapshots.push(Object.fromEntries(world.files));
		const { session, ending } = await runPlan(plan, world, {
			onRecord,
			...(known === undefined ? {} : { records: known }),
		});
		if (ending === 'all_ended') return { session, worlds, snapshots };
		known = session.records;
		left = Object.fromEntries(world.files);
	}
	throw new Error('the run did not end');
}

/** What was kept of prompts lies on the disk, whoever is killed. */
const prompts = new Map<string, string>();

/** What a run came to, without times, hashes and the number of processes it took. */
function outcome({ session }: Life): unknown {
	const tasks = plan.tasks.map(({ id }) => {
		const { startedAt: _, endedAt: __, ...state } = session.task(id);
		const about = { task: id, run: 'run-1', ended: endOf(session.task(id)) };
		return [id, state, logDocument(reviewLog, 'agentic_review', recordsOf(session.task(id), 'agentic_review'), about)];
	});
	return JSON.parse(JSON.stringify(tasks, (key, value) => (VARYING.has(key) ? undefined : value)));
}

const VARYING = new Set(['timestamp', 'at', 'hash', 'prev_hash', 'completed_at', 'prompt_sha256']);

/** The keys of agent runs whose end the journal holds. */
function finishedIn(records: readonly JournalRecord[]): ReadonlySet<string> {
	return new Set(
		records.flatMap((one) => {
			if (one.kind === 'attempt_finished' || one.kind === 'attempt_failed') return [`${one.task}#${one.attempt}`];
			return one.kind === 'answered' ? [`${one.task}#${one.attempt}/${one.hook}/${one.overlay}/${one.question}`] : [];
		}),
	);
}

function itemsOpened(records: readonly JournalRecord[]): readonly string[] {
	return records.flatMap((one) => (one.kind === 'hil_opened' ? [one.item.id] : []));
}

let whole: Life;

beforeAll(async () => {
	whole = await live();
});

test('the run that is cut is worth cutting: it has everything in it', () => {
	const kinds = new Set(whole.session.kinds());
	for (const kind of [
		'attempt_failed',
		'retry_scheduled',
		'attempt_checked',
		'hil_opened',
		'hil_resolved',
		'task_skipped',
	]) {
		expect(kinds).toContain(kind);
	}
	expect(plan.tasks.map(({ id }) => whole.session.task(id).status)).toEqual([
		'COMPLETED',
		'COMPLETED',
		'COMPLETED',
		'FAILED',
		'SKIPPED',
	]);
	expect(itemsOpened(whole.session.records).length).toBeGreaterThanOrEqual(5);
});

test('cut after any record, with the files as they were then, the run comes to the same end', async () => {
	for (let cut = 1; cut < whole.session.records.length; cut++) await resumeAt(cut, whole.snapshots[cut - 1] ?? {});
});

test('cut after any record, with the files as the unfinished effect left them, the run comes to the same end', async () => {
	for (let cut = 1; cut < whole.session.records.length; cut++) await resumeAt(cut, whole.snapshots[cut] ?? {});
});

/** Resumes from a prefix of the journal and holds the result against the whole run. */
async function resumeAt(cut: number, files: Files): Promise<void> {
	const prefix = whole.session.records.slice(0, cut);
	const where = `cut after record ${cut}, ${prefix.at(-1)?.kind}`;
	const resumed = await live(prefix, files);
	expect(outcome(resumed), where).toEqual(outcome(whole));
	const finished = finishedIn(prefix);
	const again = resumed.worlds.flatMap(({ calls }) => calls.map(({ key }) => key)).filter((key) => finished.has(key));
	expect(again, `${where}: finished effects that ran again`).toEqual([]);
	const opened = itemsOpened(resumed.session.records);
	expect(new Set(opened).size, `${where}: a question was put twice`).toBe(opened.length);
	expect([...opened].sort(), where).toEqual([...itemsOpened(whole.session.records)].sort());
}
