import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../engine/json.ts';
import { canonical, MAX_DEPTH } from '../../engine/store/canonical.ts';
import { sha256 } from '../../engine/store/hash.ts';
import { errorOf } from './rig.ts';

describe('canonical JSON', () => {
	it('sorts members by UTF-16 code units, as RFC 8785 shows', () => {
		const value = {
			'\u20ac': 'Euro',
			'\r': 'CR',
			'\ufb33': 'Dalet',
			'1': 'One',
			'\u{1f600}': 'Smile',
			'\u0080': 'Control',
		};
		expect(Object.keys(JSON.parse(canonical(value)))).toContain('1');
		expect(canonical(value)).toBe(
			'{"\\r":"CR","1":"One","\u0080":"Control","\u20ac":"Euro","\u{1f600}":"Smile","\ufb33":"Dalet"}',
		);
	});

	it('prints numbers as ECMAScript does', () => {
		expect(canonical([333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0, 1e21])).toBe(
			'[333333333.3333333,1e+30,4.5,0.002,1e-27,0,1e+21]',
		);
	});

	it('leaves undefined members out and makes null of what is no finite number', () => {
		expect(canonical({ a: undefined, b: Number.NaN, c: { d: undefined } })).toBe('{"b":null,"c":{}}');
	});

	it('reads back as the value it was made of, and is its own canonical form', () => {
		fc.assert(
			fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
				const text = canonical(value as Json);
				expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
				expect(canonical(JSON.parse(text))).toBe(text);
			}),
			{ numRuns: 300 },
		);
	});

	it('does not depend on the order in which members were set', () => {
		fc.assert(
			fc.property(fc.dictionary(fc.string(), fc.integer()), (object) => {
				const reversed = Object.fromEntries(Object.entries(object).reverse());
				expect(canonical(reversed)).toBe(canonical(object));
			}),
		);
	});

	it('refuses a value nested too deep instead of exhausting the stack', () => {
		let deep: Json = 'x';
		for (let i = 0; i < MAX_DEPTH + 1; i++) deep = [deep];
		const error = errorOf(() => canonical(deep));
		expect(error.code).toBe('STORE_RECORD_TOO_LARGE');
		expect(error.message).toBe('a value is nested deeper than 500 levels and cannot be recorded');
	});
});

describe('sha256', () => {
	it('is the known hash of a text and of the same bytes', () => {
		const known = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
		expect(sha256('abc')).toBe(known);
		expect(sha256(Buffer.from('abc'))).toBe(known);
	});
});
