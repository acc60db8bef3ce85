/** `decide(task, state)`: what is to be done next about a task. Pure: the same state always gives the same step. */
import type { Answer, Hook, Question } from '../contract.ts';
import type { Worker } from '../events.ts';
import { failedRequired } from '../failed-checks.ts';
import type { OverlayPlan, RetryPlan, TaskPlan } from '../plan/plan.ts';
import { type Judgement, judge } from './judge.ts';
import { isEnded, type TaskState } from './state.ts';

export type Step =
	| { readonly do: 'start' }
	| { readonly do: 'consult'; readonly hook: Hook; readonly overlay: OverlayPlan; readonly round: number }
	| { readonly do: 'put'; readonly hook: Hook; readonly overlay: OverlayPlan; readonly questions: readonly Question[] }
	| { readonly do: 'work'; readonly attempt: number; readonly by: Worker }
	| { readonly do: 'check' }
	| { readonly do: 'retry'; readonly attempt: number; readonly delayMs: number }
	| { readonly do: 'sleep'; readonly due: string }
	| { readonly do: 'wait' }
	| { readonly do: 'complete' }
	/** `fault` is the overlay that broke down, where that is the reason. */
	| { readonly do: 'fail'; readonly code: string; readonly reason: string; readonly fault?: string }
	| { readonly do: 'nothing' };

/** The next step of a task whose dependencies are met. */
export function decide(task: TaskPlan, state: TaskState): Step {
	if (isEnded(state.status)) return { do: 'nothing' };
	if (state.status === 'PENDING') return { do: 'start' };
	switch (state.phase.kind) {
		case 'before':
			return afterJudging(task, state, 'before', { do: 'work', attempt: 1, by: 'agent' });
		case 'working':
			return { do: 'work', attempt: state.attempt, by: state.phase.by };
		case 'worked':
			if (task.checks.length > 0 && state.work?.checks === null) return { do: 'check' };
			return afterJudging(task, state, 'after', completion(state));
		case 'crashed':
			return afterCrash(task, state, state.phase);
		case 'retrying':
			return { do: 'sleep', due: state.phase.due };
		case 'voided':
			return nextAttempt(task, state, 'outside');
	}
}

/**
 * A required check that failed stands against completion, whatever overlays say; only a person may overrule it, by accepting
 * the work. The item they were asked by names the check.
 */
function completion(state: TaskState): Step {
	const failed = failedRequired(state.work?.checks ?? []);
	const said = state.judging?.hook === 'after' ? Object.values(state.judging.by) : [];
	const isOverruled = said.some(({ answers }) => Object.values(answers).some(isAcceptance));
	if (failed.length === 0 || isOverruled) return { do: 'complete' };
	return { do: 'fail', code: 'CHECK_FAILED', reason: `required checks failed: ${failed.join(', ')}` };
}

function isAcceptance({ item, value }: Answer): boolean {
	return item !== undefined && value === 'accept';
}

function afterJudging(task: TaskPlan, state: TaskState, hook: Hook, onPass: Step): Step {
	const judgement = judge(task.overlays, hook, state);
	return judgement.kind === 'pass' ? onPass : stepFor(task, state, hook, judgement);
}

function stepFor(task: TaskPlan, state: TaskState, hook: Hook, judgement: Exclude<Judgement, { kind: 'pass' }>): Step {
	switch (judgement.kind) {
		case 'consult':
			return { do: 'consult', hook, overlay: judgement.overlay, round: judgement.round };
		case 'put':
			return { do: 'put', hook, overlay: judgement.overlay, questions: judgement.questions };
		case 'wait':
			return { do: 'wait' };
		case 'rework':
			return nextAttempt(task, state, judgement.verdict.by ?? 'agent', isOrdered(state, judgement.overlay));
		case 'fail':
			return {
				do: 'fail',
				code: judgement.verdict.code ?? 'OVERLAY_FAILED_TASK',
				reason: `${judgement.overlay}: ${judgement.verdict.reason}`,
				...(state.judging?.by[judgement.overlay]?.isFault === true ? { fault: judgement.overlay } : {}),
			};
	}
}

/** Whether a person, asked about this very attempt, ordered what the overlay now says. */
function isOrdered(state: TaskState, overlay: string): boolean {
	return Object.values(state.judging?.by[overlay]?.answers ?? {}).some(({ item }) => item !== undefined);
}

/**
 * Every loop is bounded: a rework that would go past `max_attempts` fails the task. What a person does or orders is not held
 * to that limit, which is one for machines; people are held to the hard caps of the overlays that ask them.
 */
function nextAttempt(task: TaskPlan, state: TaskState, by: Worker, isOrdered = false): Step {
	if (by !== 'human' && !isOrdered && state.machineAttempts >= task.maxAttempts) {
		const reason = `all ${task.maxAttempts} attempts are used up${lastTrouble(state, by)}`;
		return { do: 'fail', code: 'TASK_ATTEMPTS_USED_UP', reason };
	}
	return { do: 'work', attempt: state.attempt + 1, by };
}

function lastTrouble({ feedback }: TaskState, by: Worker): string {
	if (by === 'outside') return '; its content changed once more after it was judged';
	return feedback === null ? '' : `; the last feedback was: ${feedback.text}`;
}

/** Crashes that may pass by themselves: what `retry` is for. */
export const RETRIED: ReadonlySet<string> = new Set(['AGENT_EXIT', 'AGENT_TIMEOUT', 'AGENT_KILLED', 'AGENT_FLOOD']);

function afterCrash(task: TaskPlan, state: TaskState, crash: { readonly code: string; readonly reason: string }): Step {
	if (crash.code === 'TASK_STOPPED') return { do: 'fail', code: crash.code, reason: crash.reason };
	const judgement = judge(task.overlays, 'failed', state);
	if (judgement.kind !== 'pass') return stepFor(task, state, 'failed', judgement);
	const mayRetry =
		RETRIED.has(crash.code) && state.crashes <= task.retry.times && state.machineAttempts < task.maxAttempts;
	if (!mayRetry) return { do: 'fail', code: crash.code, reason: crash.reason };
	return { do: 'retry', attempt: state.attempt + 1, delayMs: retryDelay(task.retry, state.crashes) };
}

/** How long to wait after so many crashes in a row. */
export function retryDelay({ backoffMs, factor, maxBackoffMs }: RetryPlan, crashes: number): number {
	return Math.min(backoffMs * factor ** (crashes - 1), maxBackoffMs);
}
