import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TaskPlan } from '../../engine/plan/plan.ts';
import { readyQueue } from '../../engine/run/ready-queue.ts';
import { taskPlan } from '../builders.ts';

function tasksWith(tails: readonly number[]): readonly TaskPlan[] {
	return tails.map((tail, index) => taskPlan({ id: `t${index}`, tail }));
}

function drain(tasks: readonly TaskPlan[], order: readonly TaskPlan[]): readonly string[] {
	const queue = readyQueue(new Map(tasks.map((task, index) => [task.id, index])));
	for (const task of order) queue.add(task);
	const out: string[] = [];
	for (let next = queue.next(); next !== undefined; next = queue.next()) out.push(next.id);
	return out;
}

test('the longest remaining path comes first, and the plan settles ties', () => {
	const tasks = tasksWith([1, 3, 2, 3]);
	expect(drain(tasks, tasks)).toEqual(['t1', 't3', 't2', 't0']);
});

test('an empty queue has nothing to give', () => {
	const queue = readyQueue(new Map());
	expect(queue.size).toBe(0);
	expect(queue.next()).toBeUndefined();
});

test('whatever the order in which tasks become ready, they come out sorted and once each', () => {
	fc.assert(
		fc.property(fc.array(fc.nat(5), { maxLength: 40 }), fc.infiniteStream(fc.nat()), (tails, picks) => {
			const tasks = tasksWith(tails);
			const rest = [...tasks];
			const shuffled = tasks.flatMap(() => rest.splice((picks.next().value ?? 0) % rest.length, 1));
			const expected = [...tasks].sort((a, b) => b.tail - a.tail).map(({ id }) => id);
			expect(drain(tasks, shuffled)).toEqual(expected);
		}),
	);
});
