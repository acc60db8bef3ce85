/** Runs on a real disk, with everybody else scripted. */
import {
	appendFileSync,
	chmodSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OverlayDefinition } from '../../engine/contract.ts';
import { SddError } from '../../engine/errors.ts';
import type { ReportedEvent } from '../../engine/events.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { planFromDisk, planToDisk } from '../../engine/plan/plan-file.ts';
import { cancelRun, type ExecuteOptions, executeRun, tally } from '../../engine/run/execute-run.ts';
import { newestRunFile, newestRunOf, runNamed } from '../../engine/run/find-run.ts';
import { frozenPlan, isKnownToBeOver } from '../../engine/run/open-run.ts';
import { foldRun, readRun } from '../../engine/run/read-run.ts';
import { sha256 } from '../../engine/store/hash.ts';
import { readHeads } from '../../engine/store/heads.ts';
import { journalDir, logFile, planFile, workflowStateFile } from '../../engine/store/layout.ts';
import { agenticReview } from '../../overlays/review/review-overlay.ts';
import { overlayPlan, planOf, taskPlan } from '../builders.ts';
import { SCHEDULE, type Script, scriptedWorld } from '../scripted-world.ts';
import { temporaryFolders } from '../store/rig.ts';

const temporary = temporaryFolders();
const review = overlayPlan('agentic_review', { options: { reviewer_agent: 'reviewer', max_iterations: 2 } });
const reviewed: Script = {
	overlays: { agentic_review: agenticReview as unknown as OverlayDefinition },
	agent: ({ role, attempt }) =>
		role === 'reviewer'
			? JSON.stringify({ decision: attempt === 1 ? 'NO_GO' : 'GO', feedback: `review ${attempt}` })
			: 'done',
};

function options(
	project: string,
	plan: Plan,
	script: Script = {},
	parts: Partial<ExecuteOptions> = {},
): ExecuteOptions {
	return {
		...SCHEDULE,
		project,
		run: 'run-1',
		plan,
		planText: planToDisk(plan),
		world: scriptedWorld(script),
		version: '0.0.0',
		by: 'ann',
		report: () => {},
		stop: new AbortController(),
		hosts: { warmUp() {}, close: async () => [] },
		endOrphans: async () => {},
		...parts,
	};
}

function json(path: string): Record<string, unknown> {
	return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
}

test('a run that is carried through leaves its head, its state and its logs behind', async () => {
	const project = temporary();
	const plan = planOf([taskPlan({ overlays: [review] })]);
	const reported: ReportedEvent[] = [];
	const result = await executeRun(options(project, plan, reviewed, { report: (event) => reported.push(event) }));
	expect(result).toMatchObject({ run: 'run-1', ending: 'completed', head: expect.stringMatching(/^[0-9a-f]{64}$/) });
	expect(readHeads(project).lines.at(-1)).toMatchObject({ run: 'run-1', head: result.head, state: 'finished' });
	expect(json(workflowStateFile(project))).toMatchObject({
		status: 'finished',
		tasks: { implement: { status: 'COMPLETED', iterations: 2 } },
	});
	expect(json(logFile(project, 'review-logs', 'implement'))).toMatchObject({
		iterations: [{ decision: 'NO_GO' }, { decision: 'GO' }],
		final_decision: 'GO',
	});
	expect(reported.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['run_started', 'verdict', 'run_finished']));
	expect(isKnownToBeOver(project, 'run-1')).toBe(true);
});

test('a failed task makes the run a failed one', async () => {
	const result = await executeRun(
		options(temporary(), planOf([taskPlan()]), { agent: () => ({ fail: { code: 'AGENT_EXIT' } }) }),
	);
	expect(result.ending).toBe('failed');
	expect(result.state.outcome).toBe('failed');
});

test('a run that is interrupted is paused, and goes on from its own plan', async () => {
	const project = temporary();
	const plan = planOf([taskPlan({ id: 'a' }), taskPlan({ id: 'b', dependsOn: ['a'] })]);
	const stop = new AbortController();
	const agent: Script['agent'] = ({ task }) => {
		if (task === 'b') stop.abort();
		return '';
	};
	const first = await executeRun(options(project, plan, { agent }, { stop }));
	expect(first.ending).toBe('interrupted');
	expect(isKnownToBeOver(project, 'run-1')).toBe(false);
	const { plan: digest } = newestRunOf(project, 'workflow.yaml') ?? { plan: '' };
	const frozen = planFromDisk(frozenPlan(project, 'run-1', digest));
	const world = scriptedWorld();
	const second = await executeRun(options(project, frozen, {}, { planText: null, world }));
	expect(second.ending).toBe('completed');
	expect(world.calls.map(({ key }) => key)).toEqual(['b#1']);
	expect(readdirSync(journalDir(project, 'run-1'))).toHaveLength(2);
});

test('a fault rejects, what agents left behind is ended, and the run can be gone on with', async () => {
	const project = temporary();
	const plan = planOf([taskPlan()]);
	let swept = 0;
	const agent: Script['agent'] = () => {
		throw new Error('the adapter is broken');
	};
	const endOrphans = async (): Promise<void> => void swept++;
	await expect(executeRun(options(project, plan, { agent }, { endOrphans }))).rejects.toThrow('the adapter is broken');
	expect(swept).toBe(1);
	expect((await executeRun(options(project, plan, {}, { planText: null }))).ending).toBe('completed');
});

test('two processes cannot work on a project at once', async () => {
	const project = temporary();
	const plan = planOf([taskPlan()]);
	let second: unknown;
	const agent: Script['agent'] = async () => {
		second = await executeRun(options(project, plan, {}, { run: 'run-2' })).catch((error: unknown) => error);
		return '';
	};
	await executeRun(options(project, plan, { agent }));
	expect(second).toBeInstanceOf(SddError);
	expect(second).toMatchObject({ code: 'RUN_LOCKED' });
});

test('a run of which nothing more is wanted is cancelled: what has not ended is cancelled with it', async () => {
	const project = temporary();
	const plan = planOf([taskPlan({ id: 'a' }), taskPlan({ id: 'b' })]);
	const step = async (): Promise<boolean> => false;
	const { state } = await executeRun(options(project, plan, {}, { step }));
	expect(tally(state, plan)).toEqual({ COMPLETED: ['a'], PENDING: ['b'] });
	await cancelRun(options(project, plan), 'a new run was begun');
	const after = foldRun(project, 'run-1');
	expect(after).toMatchObject({ status: 'finished', outcome: 'cancelled' });
	expect(tally(after, plan)).toEqual({ COMPLETED: ['a'], CANCELLED: ['b'] });
	expect(after.tasks.get('b')?.reason).toBe('a new run was begun');
	expect(isKnownToBeOver(project, 'run-1')).toBe(true);
});

test('the logs of the run before are put aside, each under its run', async () => {
	const project = temporary();
	const plan = planOf([taskPlan({ overlays: [review] })]);
	await executeRun(options(project, plan, reviewed));
	const old = readFileSync(logFile(project, 'review-logs', 'implement'), 'utf8');
	await executeRun(options(project, plan, reviewed, { run: 'run-2' }));
	expect(json(logFile(project, 'review-logs', 'implement'))).toMatchObject({ run_id: 'run-2' });
	expect(readFileSync(join(project, '.ai-sdd/state/review-logs/archive/run-1/implement.json'), 'utf8')).toBe(old);
});

test('views heal: one that was lost or changed is written anew, to the byte', async () => {
	const project = temporary();
	const plan = planOf([taskPlan({ overlays: [review] }), taskPlan({ id: 'later' })]);
	await executeRun(options(project, plan, reviewed, { only: new Set(['implement']) }));
	const log = logFile(project, 'review-logs', 'implement');
	const was = readFileSync(log, 'utf8');
	appendFileSync(log, 'junk');
	rmSync(workflowStateFile(project));
	await executeRun(options(project, plan, reviewed, { planText: null }));
	expect(readFileSync(log, 'utf8')).toBe(was);
	expect(json(workflowStateFile(project))).toMatchObject({ status: 'finished' });
});

test.skipIf(process.getuid?.() === 0)('a log that cannot be written is a warning; the decision stands', async () => {
	const project = temporary();
	mkdirSync(join(project, '.ai-sdd/state/review-logs'), { recursive: true });
	chmodSync(join(project, '.ai-sdd/state/review-logs'), 0o500);
	const result = await executeRun(options(project, planOf([taskPlan({ overlays: [review] })]), reviewed));
	chmodSync(join(project, '.ai-sdd/state/review-logs'), 0o700);
	expect(result.ending).toBe('completed');
	expect(result.state.warnings).toBeGreaterThan(0);
});

test('a log whose folder is a file is a warning; the decision stands', async () => {
	const project = temporary();
	mkdirSync(join(project, '.ai-sdd/state'), { recursive: true });
	writeFileSync(join(project, '.ai-sdd/state/review-logs'), 'in the way');
	const warnings: string[] = [];
	const report = (event: ReportedEvent): void =>
		void (event.kind === 'warning' && warnings.push(`${event.code}: ${event.message}`));
	const result = await executeRun(options(project, planOf([taskPlan({ overlays: [review] })]), reviewed, { report }));
	expect(result.ending).toBe('completed');
	expect(warnings[0]).toMatch(/^VIEW_NOT_WRITTEN: .*; the decision stands: it is in the journal$/);
	expect(foldRun(project, 'run-1').tasks.get('implement')?.past['agentic_review']).toHaveLength(2);
});

test('a frozen plan that was changed or removed is refused', async () => {
	const project = temporary();
	const plan = planOf([taskPlan()]);
	await executeRun(options(project, plan));
	const path = planFile(project, 'run-1');
	const digest = sha256(readFileSync(path, 'utf8'));
	expect(frozenPlan(project, 'run-1', digest)).toBe(planToDisk(plan));
	appendFileSync(path, ' ');
	expect(() => frozenPlan(project, 'run-1', digest)).toThrow(`the frozen plan ${path} was changed since the run began`);
	rmSync(path);
	expect(() => frozenPlan(project, 'run-1', digest)).toThrow(`the frozen plan ${path} cannot be read`);
	expect(() => readRun(project, 'run-1')).toThrow(`the frozen plan ${path} cannot be read`);
});

test('runs are found by the file of their workflow, the newest first, and by the beginning of their id', async () => {
	const project = temporary();
	expect(newestRunOf(project, 'workflow.yaml')).toBeNull();
	expect(newestRunFile(project)).toBeNull();
	expect(() => runNamed(project, null)).toThrow(`there is no run in ${project} yet`);
	await executeRun(options(project, planOf([taskPlan()]), {}, { run: '20260101-a' }));
	await executeRun(options(project, planOf([taskPlan()], { file: 'other.yaml' }), {}, { run: '20260102-b' }));
	expect(newestRunOf(project, 'workflow.yaml')).toMatchObject({ run: '20260101-a', by: 'ann' });
	expect(newestRunOf(project, 'unknown.yaml')).toBeNull();
	expect(newestRunFile(project)).toBe('other.yaml');
	expect(runNamed(project, null)).toBe('20260102-b');
	expect(runNamed(project, '20260101')).toBe('20260101-a');
	expect(() => runNamed(project, '2026')).toThrow('2 runs begin with "2026"');
	expect(() => runNamed(project, 'x')).toThrow('there is no run "x"');
});

test('a folder of a run that never began is not taken for a run', async () => {
	const project = temporary();
	await executeRun(options(project, planOf([taskPlan()]), {}, { run: 'a-run' }));
	mkdirSync(join(project, '.ai-sdd/state/runs/b-run/journal'), { recursive: true });
	writeFileSync(join(project, '.ai-sdd/state/runs/b-run/journal/000001.ndjson'), '{"kind":"run_sta');
	expect(newestRunOf(project, 'workflow.yaml')?.run).toBe('a-run');
	expect(existsSync(journalDir(project, 'b-run'))).toBe(true);
});

test('a run is read with its plan and every record on the way', async () => {
	const project = temporary();
	await executeRun(options(project, planOf([taskPlan()])));
	const kinds: string[] = [];
	const { plan, state } = readRun(project, 'run-1', ({ kind }) => kinds.push(kind));
	expect(plan.tasks.map(({ id }) => id)).toEqual(['implement']);
	expect(state.outcome).toBe('completed');
	expect(kinds).toEqual([
		'run_started',
		'task_started',
		'attempt_started',
		'attempt_finished',
		'task_completed',
		'run_finished',
	]);
});
