/** The tasks that could run now, the longest remaining path first: a binary heap. */
import type { TaskPlan } from '../plan/plan.ts';

export interface ReadyQueue {
	readonly size: number;
	add(task: TaskPlan): void;
	next(): TaskPlan | undefined;
}

/** An empty queue; `position` gives each task's place in the plan, which settles ties. */
export function readyQueue(position: ReadonlyMap<string, number>): ReadyQueue {
	const heap: TaskPlan[] = [];
	const isBefore = (a: TaskPlan, b: TaskPlan): boolean =>
		a.tail === b.tail ? (position.get(a.id) ?? 0) < (position.get(b.id) ?? 0) : a.tail > b.tail;
	return {
		get size() {
			return heap.length;
		},
		add(task) {
			heap.push(task);
			rise(heap, isBefore);
		},
		next() {
			const first = heap[0];
			const last = heap.pop();
			if (heap.length > 0 && last !== undefined) {
				heap[0] = last;
				sink(heap, isBefore);
			}
			return first;
		},
	};
}

type Order = (a: TaskPlan, b: TaskPlan) => boolean;

function rise(heap: TaskPlan[], isBefore: Order): void {
	let at = heap.length - 1;
	while (at > 0) {
		const parent = (at - 1) >> 1;
		if (!isBefore(heap[at] as TaskPlan, heap[parent] as TaskPlan)) return;
		swap(heap, at, parent);
		at = parent;
	}
}

function sink(heap: TaskPlan[], isBefore: Order): void {
	let at = 0;
	for (;;) {
		const children = [2 * at + 1, 2 * at + 2].filter((child) => child < heap.length);
		const [first] = children.sort((a, b) => (isBefore(heap[a] as TaskPlan, heap[b] as TaskPlan) ? -1 : 1));
		if (first === undefined || !isBefore(heap[first] as TaskPlan, heap[at] as TaskPlan)) return;
		swap(heap, at, first);
		at = first;
	}
}

function swap(heap: TaskPlan[], a: number, b: number): void {
	const kept = heap[a] as TaskPlan;
	heap[a] = heap[b] as TaskPlan;
	heap[b] = kept;
}
