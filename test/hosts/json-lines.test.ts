import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Line, lineReader } from '../../engine/hosts/json-lines.ts';

function linesIn(chunks: readonly (string | Buffer)[], maxBytes?: number): readonly Line[] {
	const lines: Line[] = [];
	const read = lineReader((line) => lines.push(line), maxBytes);
	for (const chunk of chunks) read.take(Buffer.from(chunk));
	return lines;
}

const value = (one: unknown): Line => ({ kind: 'value', value: one });

test('lines are found wherever the stream is cut', () => {
	const text = '{"a": "é😀"}\n\n  \r\n[1]\r\n"\\u2028"\n';
	const expected = [value({ a: 'é😀' }), value([1]), value('\u2028')];
	const bytes = Buffer.from(text);
	expect(linesIn([bytes])).toEqual(expected);
	expect(linesIn([...bytes].map((byte) => Buffer.from([byte])))).toEqual(expected);
	for (let at = 0; at <= bytes.length; at++) {
		expect(linesIn([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(expected);
	}
});

test('a line is not taken before it ends', () => {
	expect(linesIn(['{"a": 1}'])).toEqual([]);
});

test('what is no JSON is shown, shortened', () => {
	expect(linesIn(['hello\n', `${'x'.repeat(300)}\n`])).toEqual([
		{ kind: 'garbage', text: 'hello' },
		{ kind: 'garbage', text: 'x'.repeat(200) },
	]);
});

test.each([
	'{"kind":"fail","kind":"pass"}',
	'{"kind":"fail","\\u006bind":"pass"}',
	'[{"a":{"b\\\\":1,"b\\\\" : 2}}]',
	'{"error":{"code":1},"error":null,"result":{}}',
])('JSON that has a member twice is told apart: %s', (text) => {
	expect(linesIn([`${text}\n`])).toEqual([{ kind: 'ambiguous', text }]);
});

test('any other JSON is taken for what it says, whatever its texts look like', () => {
	fc.assert(
		fc.property(
			fc.jsonValue({ maxDepth: 4, stringUnit: fc.constantFrom('"', ':', '\\', '{', 'a', ' ', '\u2028') }),
			(one) => {
				const text = JSON.stringify(one, null, ' ').replaceAll('\n', '');
				expect(linesIn([`${text}\n`])).toEqual([value(JSON.parse(text))]);
			},
		),
	);
	const deep = `${'['.repeat(5000)}{"a":1}${']'.repeat(5000)}`;
	expect(linesIn([`${deep}\n`])[0]?.kind).toBe('value');
});

test('JSON in another encoding is no JSON: what was meant cannot be known', () => {
	expect(linesIn([Buffer.from('"\u00e9"\n', 'latin1')])).toEqual([{ kind: 'garbage', text: '"\ufffd"' }]);
});

test('a line may be as long as the limit, and no longer; after that nothing more is taken', () => {
	expect(linesIn(['"123"\n1\n'], 5)).toEqual([value('123'), value(1)]);
	expect(linesIn(['"12', '34"\n1\n', '2\n'], 5)).toEqual([{ kind: 'too_long', limit: 5 }]);
	expect(linesIn(['123456'], 5)).toEqual([{ kind: 'too_long', limit: 5 }]);
});
