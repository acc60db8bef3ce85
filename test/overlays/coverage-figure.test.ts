import fc from 'fast-check';
import { expect, it } from 'vitest';
import { coverageFigure } from '../../overlays/shared/coverage-figure.ts';

it.each([
	['83%', 0.83],
	['Lines: 83.33 % (10/12)', 0.8333],
	['100%', 1],
	['0%', 0],
	['0.83', 0.83],
	['coverage .5', 0.5],
	['total 1.0', 1],
	['{"coverage": 0.83}', 0.83],
	['{"coverage":1}', 1],
	['{"coverage": 0, "lines": 12}', 0],
	['lines,83%', 0.83],
	['56.7%', 0.567],
	['\u001b[32m83%\u001b[0m', 0.83],
])('%j is %d', (output, figure) => {
	expect(coverageFigure(output)).toBeCloseTo(figure, 10);
});

it.each([
	['Statements 99%\nLines 71%', 0.71],
	['{"coverage": 1}\nAll files 40%', 0.4],
	['TOTAL 83%\n12 passed in 0.93s', 0.83],
	['TOTAL 83%\n12 passed in 0.93 seconds', 0.83],
	['TOTAL 83% (+2.5%)', 0.83],
	['TOTAL 83% (-0.5%)', 0.83],
	['TOTAL 83%, tool 0.8.1', 0.83],
	['100% of the tests passed\n0.4', 0.4],
])('in %j the last figure counts: %d', (output, figure) => {
	expect(coverageFigure(output)).toBeCloseTo(figure, 10);
});

it.each([
	'',
	'all good',
	'120%',
	'83',
	'{"coverage": 83}',
	'1.2',
	'v0.8.1',
	'12 passed in 0.93s',
	'83,5 %',
	'+2%',
	'TOTAL,20,83%',
	'1/2',
])('%j has no figure', (output) => {
	expect(coverageFigure(output)).toBeNull();
});

it('whatever is printed, a figure lies between 0 and 1', () => {
	fc.assert(
		fc.property(fc.string(), fc.double({ min: 0, max: 200, noNaN: true }), (text, number) => {
			const figure = coverageFigure(`${text} ${number}% ${text}`);
			expect(figure === null || (figure >= 0 && figure <= 1)).toBe(true);
		}),
	);
});
