import { expect, it } from 'vitest';
import { findObjects, outside } from '../../overlays/shared/find-objects.ts';

function values(text: string): readonly unknown[] | undefined {
	return findObjects(text)?.map((object) => object.value);
}

it('an object is found in the middle of prose, with the text it was written in', () => {
	expect(findObjects('Well: { "a" : 1 } and so on')).toEqual([{ value: { a: 1 }, text: '{ "a" : 1 }', at: 6 }]);
});

it('the text outside of objects is what is left without them', () => {
	const text = '{"a":1}{"b":2} and {"a":1}, {';
	const objects = findObjects(text) ?? [];
	expect(outside(text, objects)).toBe('   and  , {');
	expect(outside(text, objects.slice(1, 2))).toBe('{"a":1}  and {"a":1}, {');
	expect(outside(text, [])).toBe(text);
});

it('objects come in the order in which they stand, also out of lists and code fences', () => {
	expect(values('```json\n{"a":1}\n```\n[{"b":2},{"c":3}]')).toEqual([{ a: 1 }, { b: 2 }, { c: 3 }]);
});

it('only the outermost object counts', () => {
	expect(values('{"a":{"b":{"c":1}}}')).toEqual([{ a: { b: { c: 1 } } }]);
});

it('braces and quotes inside texts mean nothing', () => {
	expect(values('{"a":"} \\" { \\\\"}')).toEqual([{ a: '} " { \\' }]);
});

it.each([
	['braces of code around it', 'if (x) { y({"a":1}) }'],
	['an opening brace before it', 'a lone { and {"a":1}'],
	['a closing brace before it', 'a lone } and {"a":1}'],
	['an odd quote before it', 'say "hi {"a":1}'],
	['an odd quote inside open braces before it', '{ " {"a":1}'],
])('%s does not hide an object', (_, text) => {
	expect(values(text)).toEqual([{ a: 1 }]);
});

it.each(['', 'nothing', '{', '}', '{]', '{"a":1', "{'a': 1}", '{"a":1,}', '[1,2]', '"{'])(
	'%j holds no object',
	(text) => {
		expect(values(text)).toEqual([]);
	},
);

it('a reply made of braces is given up, not scanned for ever', () => {
	expect(findObjects('{'.repeat(200_000))).toBeNull();
});

it('a long honest reply is read to its end', () => {
	expect(values(`${'function f() { return "x"; }\n'.repeat(20_000)}{"a":1}`)).toEqual([{ a: 1 }]);
});
