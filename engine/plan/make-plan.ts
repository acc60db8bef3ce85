/**
 * Turns a valid workflow into a plan. Pure: all files are read already.
 *
 * Ten thousand tasks must stay small in memory, so whatever is equal is shared: empty lists, defaults, constitutions.
 */
import { parseDuration } from '../duration.ts';
import { type Expression, parseExpression } from '../expression.ts';
import { normalPath } from '../workflow/inside-project.ts';
import type { ResolvedTask } from '../workflow/resolve-tasks.ts';
import type { ValidWorkflow } from '../workflow/validate.ts';
import { defaultsOf } from '../workflow/workflow.ts';
import {
	type CheckEntry,
	DEFAULT_CHECK_KIND,
	type Duration,
	type RetryEntry,
	type Settings,
} from '../workflow/workflow-file.ts';
import type { CheckPlan, Plan, RetryPlan, TaskPlan } from './plan.ts';
import { planAgents } from './plan-agents.ts';
import { type PlannedOverlays, planOverlays } from './plan-overlays.ts';

/** What the plan is made of besides the workflow. */
export interface PlanInputs {
	/** The workflow's path relative to the project. */
	readonly file: string;
	readonly templates: Plan['templates'];
	readonly constitutions: Plan['constitutions'];
	/** Index of a task's constitution. */
	readonly constitutionOf: (task: string) => number;
	/** A file of scripted replies that stands in for every agent, relative to the project. */
	readonly stubs?: string;
	/** Overrides `max_iterations` of every overlay that has that option. */
	readonly maxIterations?: number;
}

/** How long things may take, and how often they are tried, where nobody says otherwise. */
export const BUILT_IN = {
	timeoutMs: 30 * 60_000,
	checkTimeoutMs: 10 * 60_000,
	maxAttempts: 5,
	maxParallel: 3,
	retry: { times: 0, backoffMs: 1000, factor: 2, maxBackoffMs: 60_000 },
} as const;

/** The plan of a workflow without errors. */
export function makePlan(valid: ValidWorkflow, inputs: PlanInputs): Plan {
	const { workflow, graph } = valid;
	const tasks = new Map(valid.tasks.map((task) => [task.id, task]));
	const tails = tailsOf(valid);
	const planTask = taskPlanner(valid, inputs);
	return {
		workflow: workflow.name,
		file: inputs.file,
		agents: planAgents(valid, inputs.stubs),
		tasks: graph.order.map((id) => planTask(tasks.get(id)!, tails.get(id) ?? 0)),
		constitutions: inputs.constitutions,
		templates: inputs.templates,
	};
}

/** Hops from each task to the end of the longest path behind it. */
function tailsOf({ graph, workflow }: ValidWorkflow): ReadonlyMap<string, number> {
	const tails = new Map<string, number>();
	for (const id of graph.order.toReversed()) {
		const tail = (tails.get(id) ?? 0) + 1;
		for (const before of workflow.file.tasks[id]!.depends_on ?? NONE) {
			if ((tails.get(before) ?? 0) < tail) tails.set(before, tail);
		}
	}
	return tails;
}

const NONE: readonly never[] = [];

function taskPlanner(valid: ValidWorkflow, inputs: PlanInputs): (task: ResolvedTask, tail: number) => TaskPlan {
	const defaults = mergeSettings(defaultsOf(valid.workflow).map((layer) => layer.settings));
	const defaultRetry = planRetry(defaults.retry, BUILT_IN.retry);
	const defaultChecks = planChecks(defaults.checks);
	const defaultTimeout = toMs(defaults.timeout, BUILT_IN.timeoutMs);
	const overlaysOf = sharing((task: ResolvedTask) => planOverlays(task, inputs.maxIterations));
	return (task, tail) => {
		const { id, entry, agent } = task;
		const retry = entry.retry === undefined ? defaultRetry : planRetry(entry.retry, defaultRetry);
		const { overlays, attempts } = overlaysOf(task);
		return {
			id,
			agent,
			description: entry.description ?? '',
			acceptanceCriteria: listOf(entry.acceptance_criteria),
			dependsOn: entry.depends_on ?? NONE,
			inputs: entry.inputs?.map(normalPath) ?? NONE,
			outputs: entry.outputs?.map(normalPath) ?? NONE,
			checks: entry.checks === undefined ? defaultChecks : planChecks(entry.checks),
			when: entry.when === undefined ? null : parsed(entry.when),
			timeoutMs: toMs(entry.timeout, defaultTimeout),
			maxAttempts:
				entry.max_attempts ?? defaults.max_attempts ?? Math.max(BUILT_IN.maxAttempts, attempts + retry.times),
			retry,
			stopMarkers: entry.stop_markers ?? defaults.stop_markers ?? NONE,
			overlays,
			constitution: inputs.constitutionOf(id),
			tail,
		};
	};
}

/** Tasks that say nothing of overlays share those of the defaults. */
function sharing(plan: (task: ResolvedTask) => PlannedOverlays): (task: ResolvedTask) => PlannedOverlays {
	const planned = new Map<ResolvedTask['overlays'], PlannedOverlays>();
	return (task) => {
		if (task.entry.overlays !== undefined) return plan(task);
		const known = planned.get(task.overlays) ?? plan(task);
		planned.set(task.overlays, known);
		return known;
	};
}

/** Later layers over earlier ones; retries field by field. */
function mergeSettings(layers: readonly Settings[]): Settings {
	const retry: RetryEntry = Object.assign({}, ...layers.map((layer) => retryEntry(layer.retry)));
	return Object.assign({}, ...layers, { retry });
}

function retryEntry(retry: number | RetryEntry | undefined): RetryEntry {
	return typeof retry === 'number' ? { times: retry } : (retry ?? {});
}

function planRetry(retry: number | RetryEntry | undefined, otherwise: RetryPlan): RetryPlan {
	const entry = retryEntry(retry);
	if (Object.keys(entry).length === 0) return otherwise;
	return {
		times: entry.times ?? otherwise.times,
		backoffMs: toMs(entry.backoff, otherwise.backoffMs),
		factor: entry.factor ?? otherwise.factor,
		maxBackoffMs: toMs(entry.max_backoff, otherwise.maxBackoffMs),
	};
}

function planChecks(checks: readonly CheckEntry[] = NONE): readonly CheckPlan[] {
	if (checks.length === 0) return NONE;
	return checks.map(({ name, run, required = true, kind = DEFAULT_CHECK_KIND, timeout }) => {
		return { name, run, required, kind, timeoutMs: toMs(timeout, BUILT_IN.checkTimeoutMs) };
	});
}

function toMs(value: Duration | undefined, otherwise: number): number {
	return value === undefined ? otherwise : (parseDuration(value) ?? otherwise);
}

function listOf(value: string | readonly string[] | undefined): readonly string[] {
	if (value === undefined) return NONE;
	return typeof value === 'string' ? [value] : value;
}

function parsed(text: string): Expression | null {
	const result = parseExpression(text);
	return result.ok ? result.expression : null;
}
