/**
 * Takes one task as far as it goes without a person: decide ─▶ do it ─▶ record ─▶ decide …
 *
 * All that is remembered between two steps is in the journal, so the loop may be cut anywhere and entered again.
 */
import type { RunEvent } from '../events.ts';
import { type Expression, evaluate, paths } from '../expression.ts';
import type { Json, JsonObject } from '../json.ts';
import type { TaskPlan } from '../plan/plan.ts';
import { voidIfChanged, voidIfTouched } from './approvals.ts';
import { makeAttempt } from './attempt.ts';
import { consult } from './consult.ts';
import { decide, type Step } from './decide.ts';
import { putQuestions, takeAnswers } from './questions.ts';
import { type Session, taskState } from './session.ts';

/** Why the loop left the task. */
export type Left =
	| { readonly kind: 'ended' }
	/** For a person: it holds no slot until there is an answer. */
	| { readonly kind: 'waiting' }
	| { readonly kind: 'sleeping'; readonly due: number }
	| { readonly kind: 'stopped' };

/** Drives a task whose dependencies are met. */
export async function driveTask(session: Session, task: TaskPlan): Promise<Left> {
	for (;;) {
		if (session.signal.aborted) return { kind: 'stopped' };
		const left = await perform(session, task, decide(task, taskState(session, task.id)));
		if (left !== null) return left;
	}
}

async function perform(session: Session, task: TaskPlan, step: Step): Promise<Left | null> {
	switch (step.do) {
		case 'nothing':
			return { kind: 'ended' };
		case 'start':
			session.record(startOrOmit(session, task));
			return null;
		case 'work':
			return unlessStopped(await makeAttempt(session, task, step.attempt, step.by));
		case 'check':
			return unlessStopped(await check(session, task));
		case 'consult':
			if (!isToBeHeard(session, task, step.overlay.name) && voided(session, task)) return null;
			return unlessStopped(await consult(session, task, step));
		case 'put':
			return unlessStopped(await putQuestions(session, task, step));
		case 'wait':
			return takeAnswers(session, task) ? null : { kind: 'waiting' };
		case 'retry':
			session.record(retry(session, task, step));
			return null;
		case 'sleep':
			return await wake(session, task, Date.parse(step.due));
		case 'complete':
			if (!voided(session, task)) session.record({ kind: 'task_completed', task: task.id });
			return null;
		case 'fail':
			session.record(failure(task, step));
			return null;
	}
}

function unlessStopped(went: boolean): Left | null {
	return went ? null : { kind: 'stopped' };
}

function failure(task: TaskPlan, { code, reason, fault }: Extract<Step, { do: 'fail' }>): RunEvent {
	return { kind: 'task_failed', task: task.id, code, reason, ...(fault === undefined ? {} : { fault }) };
}

function startOrOmit(session: Session, task: TaskPlan): RunEvent {
	if (task.when === null || evaluate(task.when, whenScope(session, task.when)))
		return { kind: 'task_started', task: task.id };
	return { kind: 'task_skipped', task: task.id, reason: `its condition does not hold: ${task.when.source}` };
}

/** What `when` can see: how the tasks that it names ended. */
function whenScope(session: Session, when: Expression): JsonObject {
	const seen: { [id: string]: Json } = {};
	for (const [root, id] of paths(when)) {
		if (root !== 'tasks' || id === undefined) continue;
		const { status, attempt } = taskState(session, id);
		seen[id] = { status, attempts: attempt };
	}
	return { tasks: seen };
}

async function check(session: Session, task: TaskPlan): Promise<boolean> {
	const { attempt } = taskState(session, task.id);
	await session.durable();
	const checks = await session.world.runChecks(task, attempt, session.signal);
	if (session.signal.aborted) return false;
	session.record({ kind: 'attempt_checked', task: task.id, attempt, checks });
	return true;
}

function retry(
	session: Session,
	task: TaskPlan,
	step: { readonly attempt: number; readonly delayMs: number },
): RunEvent {
	const due = new Date(session.world.now().getTime() + step.delayMs).toISOString();
	return { kind: 'retry_scheduled', task: task.id, attempt: step.attempt, due };
}

async function wake(session: Session, task: TaskPlan, due: number): Promise<Left | null> {
	const left = due - session.world.now().getTime();
	// Further away than any wait can be, the clock was put back: the task must not wait until it is where it was.
	if (left > 0 && left <= task.retry.maxBackoffMs) return { kind: 'sleeping', due };
	const { attempt } = taskState(session, task.id);
	return unlessStopped(await makeAttempt(session, task, attempt + 1, 'agent'));
}

/**
 * A person's decision is heard though the files changed since they were asked (whoever takes over edits them), and so is
 * an agent's failure (it may be that it changed them). An approval that follows is held to the content all the same.
 */
function isToBeHeard(session: Session, task: TaskPlan, overlay: string): boolean {
	const said = taskState(session, task.id).judging?.by[overlay];
	if (said?.verdict.kind !== 'ask') return false;
	return said.verdict.questions.some(({ id, to }) => to === 'human' || said.answers[id]?.failed !== undefined);
}

/** A verdict is about the content it saw. Content that changed since then is reported, and judged anew as an attempt of its own. */
function voided(session: Session, task: TaskPlan): boolean {
	const { phase, work } = taskState(session, task.id);
	if (phase.kind !== 'worked' || work === null) return false;
	return voidIfChanged(session, task, work.artifacts) || voidIfTouched(session, task, work.watched);
}
