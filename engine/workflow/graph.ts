/** The order of tasks, and what stands in its way. Pure; no recursion, so a chain may be as long as it likes. */
import type { TaskEntry } from './workflow-file.ts';

type Tasks = { readonly [id: string]: Pick<TaskEntry, 'depends_on'> };

/** A dependency that closes a circle. */
export interface Cycle {
	readonly task: string;
	/** Which of its `depends_on` entries closes it. */
	readonly index: number;
	/** Each depends on the next; the last is the first again. */
	readonly path: readonly string[];
}

/** What depends on what. */
export interface Graph {
	/** Every task after those it depends on; otherwise as in the file. */
	readonly order: readonly string[];
	readonly cycles: readonly Cycle[];
	/** Whether one task is completed before another starts; only meaningful without cycles. */
	isUpstream(task: string, of: string): boolean;
}

const NONE: readonly string[] = [];

/** The graph of these tasks; dependencies on unknown tasks or on itself do not count. */
export function graphOf(tasks: Tasks): Graph {
	const { order, cycles } = walk(tasks);
	let positions: ReadonlyMap<string, number> | undefined;
	let known: { readonly task: string; readonly below: ReadonlySet<string> } | undefined;
	const isUpstream = (task: string, of: string): boolean => {
		positions ??= new Map(order.map((id, position) => [id, position]));
		const near = reaches(tasks, positions, of, task);
		if (near !== undefined) return near;
		// Thousands of tasks may ask about the same one far above them.
		if (known?.task !== task) known = { task, below: allBelow(tasks, order, task) };
		return known.below.has(of);
	};
	return { order, cycles, isUpstream };
}

interface Step {
	readonly id: string;
	next: number;
}

function walk(tasks: Tasks): Pick<Graph, 'order' | 'cycles'> {
	const found = { order: [] as string[], cycles: [] as Cycle[], state: new Map<string, 'open' | 'done'>() };
	for (const id of Object.keys(tasks)) {
		if (found.state.has(id)) continue;
		found.state.set(id, 'open');
		const stack: Step[] = [{ id, next: 0 }];
		while (stack.length > 0) advance(tasks, stack, found);
	}
	return found;
}

function advance(
	tasks: Tasks,
	stack: Step[],
	found: { readonly order: string[]; readonly cycles: Cycle[]; readonly state: Map<string, 'open' | 'done'> },
): void {
	const top = stack.at(-1)!;
	const dependencies = tasks[top.id]!.depends_on ?? NONE;
	if (top.next === dependencies.length) {
		found.state.set(top.id, 'done');
		found.order.push(top.id);
		stack.pop();
		return;
	}
	const index = top.next++;
	const id = dependencies[index]!;
	if (id === top.id || !Object.hasOwn(tasks, id)) return;
	const seen = found.state.get(id);
	// Each may be as long as the file; of very many not all are told.
	const isTold = found.cycles.length < TOLD;
	if (seen === 'open') found.cycles.push({ task: top.id, index, path: isTold ? circle(stack, id) : [id] });
	if (seen !== undefined) return;
	found.state.set(id, 'open');
	stack.push({ id, next: 0 });
}

const TOLD = 200;

function circle(stack: readonly Step[], id: string): readonly string[] {
	const start = stack.findIndex((step) => step.id === id);
	return [...stack.slice(start).map((step) => step.id), id];
}

/** As many tasks are looked at on the way up. */
const NEAR = 200;

/** Goes up from a task; what comes before the wanted one in the order cannot lead to it. Undefined when it is too far. */
function reaches(
	tasks: Tasks,
	positions: ReadonlyMap<string, number>,
	from: string,
	wanted: string,
): boolean | undefined {
	const limit = positions.get(wanted) ?? Number.POSITIVE_INFINITY;
	const seen = new Set<string>();
	const open = [from];
	for (let id = open.pop(); id !== undefined; id = open.pop()) {
		for (const next of tasks[id]!.depends_on ?? NONE) {
			if (next === wanted) return true;
			if (seen.has(next) || !((positions.get(next) ?? -1) > limit)) continue;
			seen.add(next);
			open.push(next);
		}
		if (seen.size > NEAR) return undefined;
	}
	return false;
}

function allBelow(tasks: Tasks, order: readonly string[], task: string): ReadonlySet<string> {
	const below = new Set<string>();
	for (const id of order)
		if ((tasks[id]!.depends_on ?? NONE).some((one) => one === task || below.has(one))) below.add(id);
	return below;
}
