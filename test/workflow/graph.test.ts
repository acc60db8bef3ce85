import fc from 'fast-check';
import { expect, test } from 'vitest';
import { graphOf } from '../../engine/workflow/graph.ts';

test('tasks stand behind those they depend on, otherwise as in the file', () => {
	const graph = graphOf({ ship: { depends_on: ['build'] }, notes: {}, build: { depends_on: ['design'] }, design: {} });
	expect(graph.order).toEqual(['design', 'build', 'ship', 'notes']);
	expect(graph.cycles).toEqual([]);
});

test('upstream reaches over several steps, and not sideways or backwards', () => {
	const graph = graphOf({ a: {}, b: { depends_on: ['a'] }, c: { depends_on: ['b'] }, other: { depends_on: ['a'] } });
	expect(graph.isUpstream('a', 'c')).toBe(true);
	expect(graph.isUpstream('c', 'a')).toBe(false);
	expect(graph.isUpstream('b', 'other')).toBe(false);
	expect(graph.isUpstream('a', 'a')).toBe(false);
});

test('a circle is named from where it is entered', () => {
	const graph = graphOf({ start: { depends_on: ['a'] }, a: { depends_on: ['b'] }, b: { depends_on: ['a'] } });
	expect(graph.cycles).toEqual([{ task: 'b', index: 0, path: ['a', 'b', 'a'] }]);
});

test('unknown tasks and the task itself do not count', () => {
	const graph = graphOf({ a: { depends_on: ['a', 'nobody', 'toString'] } });
	expect(graph).toMatchObject({ order: ['a'], cycles: [] });
});

test('a chain of 20,000 tasks written backwards is ordered', () => {
	const ids = Array.from({ length: 20_000 }, (_, index) => `t${19_999 - index}`);
	const tasks = Object.fromEntries(ids.map((id, index) => [id, { depends_on: ids.slice(index + 1, index + 2) }]));
	expect(graphOf(tasks).order).toEqual(ids.toReversed());
});

test('of two long chains side by side each task is upstream of its own chain only, however far', () => {
	const chain = (name: string) =>
		Array.from({ length: 5000 }, (_, n) => [`${name}${n}`, { depends_on: n === 0 ? ['root'] : [`${name}${n - 1}`] }]);
	const graph = graphOf(Object.fromEntries([['root', {}], ...chain('a'), ...chain('b')]));
	const far = (task: string) => Array.from({ length: 5000 }, (_, n) => graph.isUpstream(task, `a${n}`));
	expect(far('root')).not.toContain(false);
	expect(far('a7').indexOf(true)).toBe(8);
	expect(far('a7').lastIndexOf(false)).toBe(7);
	expect(far('b7')).not.toContain(true);
});

test('any graph without circles is ordered so that each task follows its dependencies', () => {
	const graphs = fc.array(fc.array(fc.nat(20), { maxLength: 4 }), { minLength: 1, maxLength: 20 });
	fc.assert(
		fc.property(graphs, (edges) => {
			// Only earlier tasks are depended on, so there are no circles; names hide that order from the file's.
			const entries = edges.map((before, index) => {
				const depends_on = [...new Set(before.filter((one) => one < index).map((one) => `t${one}`))];
				return [`t${index}`, { depends_on }] as const;
			});
			const { order, cycles } = graphOf(Object.fromEntries(entries.toReversed()));
			expect(cycles).toEqual([]);
			expect(order).toHaveLength(edges.length);
			for (const [id, { depends_on }] of entries) {
				for (const before of depends_on) expect(order.indexOf(before)).toBeLessThan(order.indexOf(id));
			}
		}),
	);
});
