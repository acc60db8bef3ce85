import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluate, parseExpression, paths } from '../../engine/expression.ts';
import type { Json } from '../../engine/json.ts';

function holds(text: string, scope: Json): boolean {
	const parsed = parseExpression(text);
	if (!parsed.ok) throw new Error(`${parsed.message} at ${parsed.offset}`);
	return evaluate(parsed.expression, scope);
}

function faultOf(text: string): { readonly message: string; readonly offset: number } {
	const parsed = parseExpression(text);
	if (parsed.ok) throw new Error(`"${text}" was read`);
	return { message: parsed.message, offset: parsed.offset };
}

const scope = {
	review: { decision: 'GO', iteration: 2, score: 0.5 },
	checks: { tests: { ok: true }, 'unit-1': { ok: false } },
	nothing: null,
	limit: 2,
	list: [1],
};

describe('an expression holds', () => {
	test.each([
		'review.decision == GO',
		"review.decision == 'GO'",
		'review.decision == "GO"',
		'review.decision != NO_GO',
		'review.iteration >= 2 and review.iteration < 3',
		'review.iteration == limit',
		'review.score > -1',
		'review.score <= 5e-1',
		'checks.tests.ok',
		'not checks.unit-1.ok',
		'checks.unit-1.ok == false',
		'nothing == null',
		'review.decision == NO_GO or checks.tests.ok and limit == 2',
		'(review.decision == NO_GO or checks.tests.ok) and limit == 2',
		'not (review.decision == NO_GO)',
		"review.decision < 'GP'",
		'  review.decision==GO  ',
	])('%s', (text) => expect(holds(text, scope)).toBe(true));
});

describe('an expression does not hold', () => {
	test.each([
		['a comparison with something missing', 'review.mood == GO'],
		['its opposite neither', 'review.mood != GO'],
		['a number is not a text', "limit == '2'"],
		['a text is not a number', 'review.decision > 1'],
		['a bare path that is not exactly true', 'review.iteration'],
		['a text is not true', 'review.decision'],
		['null is not less than a number', 'nothing < 1'],
		['what is inherited', 'review.constructor == null'],
		['the prototype itself', 'review.__proto__ != null'],
		['lists compare with nothing', 'list == list'],
		['"and" binds more tightly than "or"', '(review.decision == GO or limit == 2) and limit == 3'],
	])('%s: %s', (_why, text) => expect(holds(text, scope)).toBe(false));
});

describe('a malformed expression is refused with its place', () => {
	test.each([
		['', 'the expression ends where a path such as review.decision is expected', 0],
		['review.decision = GO', '"=" means nothing here: write "=="', 16],
		['a && b', '"&&" means nothing here: write "and"', 2],
		['a || b', '"||" means nothing here: write "or"', 2],
		['!a', '"!" means nothing here: write "not"', 0],
		['a ==', 'expected a value after "=="', 4],
		['a == and', 'expected a value, found "and"', 5],
		['a == GO GO', 'expected "and", "or" or the end, found "GO"', 8],
		['(a', 'this "(" has no closing ")"', 0],
		['a)', 'this ")" closes nothing', 1],
		["a == 'x", 'the text that starts here has no closing quote', 5],
		['a == 1.2.3', 'this is not a number', 5],
		['1 == a', 'expected a path such as review.decision, found "1"', 0],
		['true', 'expected a path such as review.decision, found "true"', 0],
		['a ; b', 'unexpected character ";"', 2],
		['a.b()', 'expected "and", "or" or the end, found "("', 3],
	])('%s', (text, message, offset) => expect(faultOf(text)).toEqual({ message, offset }));

	test('one that is too long', () => {
		expect(faultOf(`a${' '.repeat(2000)}`).message).toBe('the expression is longer than 2000 characters');
	});

	test('one that is nested too deep', () => {
		expect(faultOf(`${'('.repeat(60)}a${')'.repeat(60)}`).message).toBe('nested deeper than 50 levels');
		expect(faultOf(`${'not '.repeat(60)}a`).message).toBe('nested deeper than 50 levels');
	});
});

test('every path is listed in order of appearance', () => {
	const parsed = parseExpression('not a.b and (c == d.e or f > 1)');
	expect(parsed.ok && paths(parsed.expression)).toEqual([['a', 'b'], ['c'], ['d', 'e'], ['f']]);
});

test('a parsed expression survives JSON and keeps its source', () => {
	const parsed = parseExpression('review.decision == GO and not stale');
	if (!parsed.ok) throw new Error(parsed.message);
	const copy = JSON.parse(JSON.stringify(parsed.expression));
	expect(copy).toEqual(parsed.expression);
	expect(copy.source).toBe('review.decision == GO and not stale');
	expect(evaluate(copy, { review: { decision: 'GO' } })).toBe(true);
});

test('any text is either read or refused inside its bounds, never thrown at', () => {
	const piece = fc.constantFrom(
		'a',
		'a.b',
		'and',
		'or',
		'not',
		'(',
		')',
		'==',
		'<',
		'1',
		"'x'",
		'GO',
		' ',
		'!',
		'"',
		'\u0000',
	);
	fc.assert(
		fc.property(
			fc.oneof(
				fc.string(),
				fc.array(piece).map((pieces) => pieces.join(' ')),
			),
			(text) => {
				const parsed = parseExpression(text);
				if (parsed.ok) expect(typeof evaluate(parsed.expression, { a: { b: true } })).toBe('boolean');
				else expect(parsed.offset).toBeLessThanOrEqual(text.length);
			},
		),
	);
});
