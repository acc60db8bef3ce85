import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capMiddle } from '../../engine/brief/cap.ts';
import { coverageFigure } from '../../overlays/shared/coverage-figure.ts';
import { COVERAGE_OUTPUTS } from './coverage-outputs.ts';

function share(output: string): number | string {
	const figure = coverageFigure(output);
	return figure.share ?? figure.reason;
}

const NONE = 'no line says how much is covered';
const notUnderstood = (line: string) =>
	`its line "${line.length > 60 ? `${line.slice(0, 60)}…` : line}" cannot be understood`;

it.each(COVERAGE_OUTPUTS)('$tool', ({ output, figure }) => {
	expect(share(output)).toBe(figure);
	expect(share(output.replaceAll('\n', '\r\n'))).toBe(figure);
});

describe('what a script prints', () => {
	it.each([
		['coverage: 83.5%', 0.835],
		['Coverage 83 %', 0.83],
		['Code coverage = 83%', 0.83],
		['Total test coverage is 83%.', 0.83],
		['line_coverage: 83%', 0.83],
		['line-coverage=83%', 0.83],
		['83% of lines covered', 0.83],
		['coverage: 0.835', 0.835],
		['coverage .5', 0.5],
		['"coverage": 0.5,', 0.5],
		['lines,83%', 0.83],
		['| Lines | 83.1% (133/160) |', 0.831],
		['coverage: 56.7%', 0.567],
		['\u001b[32mcoverage: 83%\u001b[0m', 0.83],
		['working 10%\rworking 90%\rcoverage: 83%', 0.83],
		['TOTAL 83%', 0.83],
		['TOTAL 83% (-0.5%)', 0.83],
		['All files 40%', 0.4],
		['TOTAL 83%\n12 passed in 0.93s', 0.83],
		['TOTAL 83%\ntests/test_a.py::test_coverage PASSED   [ 50%]\n[ 60%] Building coverage', 0.83],
	])('%j is %d', (output, figure) => {
		expect(share(output)).toBe(figure);
	});

	it.each([
		['{"coverage": 0.83}', 0.83],
		['{"coverage":1}', 1],
		['{"coverage": 0, "lines": 12}', 0],
		['{"coverage": 0.9, "files": {"a.js": {"coverage": 0.2}}}', 0.9],
		['{\n  "coverage": 0.83\n}\n', 0.83],
		['{"coverage": 0.12}\nbenchmark done 100%', 0.12],
	])('the JSON %j is %d', (output, figure) => {
		expect(share(output)).toBe(figure);
	});

	it.each([
		['83.5%', 0.835],
		['0.835\n', 0.835],
		['.5', 0.5],
		['0%', 0],
		['100%', 1],
		['1.0', 1],
		['> app@1.0.0 coverage\n> node coverage.js\n\n83%', 0.83],
		['$ c8 report\n83%', 0.83],
	])('the number alone in %j is %d', (output, figure) => {
		expect(share(output)).toBe(figure);
	});
});

it.each([
	['Statements 99%\nLines 71%', 0.71],
	['Line 12% / Branch 95%', 0.12],
	['{"coverage": 1}\nAll files 40%', 0.4],
	['coverage: 12%\n{"coverage": 0.95}', 0.12],
	['{"coverage": 0.95} {"coverage": 0.12}', 0.12],
	['coverage: 12.0% of statements\nversion 0.95', 0.12],
	['coverage: 12.0% of statements\nelapsed: 0.95', 0.12],
	['coverage: 12.0% of statements\n95%', 0.12],
	['coverage: 0.95\ncoverage: 12%', 0.12],
])('of the figures in %j the lowest counts: %d', (output, figure) => {
	expect(share(output)).toBe(figure);
});

describe('no figure', () => {
	it.each([
		'',
		'all good',
		'83',
		'v0.8.1',
		'12 passed in 0.93s',
		'83,5 %',
		'+2%',
		'1/2',
		'since 1.0: nothing',
		'12.0% (was 95%)',
		'12.0% < 95%',
		'progress 100%',
		'Lines: 120',
		'100% tests passed, 0 tests failed out of 5\n\nTotal Test time (real) =   0.05 sec',
		'.....                                                    [100%]\nCoverageWarning: No data was collected. (no-data-collected)\n5 passed in 0.12s',
		'Branches     : 100% ( 0/0 )',
		'0 / 0 LOC (100.0%) covered.',
		'TOTAL   0   0   100%',
		'src/coverage.ts 100%',
		'<counter type="LINE" missed="27" covered="133"/>',
	])('%j does not say how much is covered', (output) => {
		expect(share(output)).toBe(NONE);
	});

	it.each([
		'coverage: 120%',
		'coverage: 83',
		'coverage: 1',
		'coverage: 1.2',
		'coverage: -5%',
		'coverage NaN%',
		'coverage unknown',
		'coverage: n/a',
		'coverage: no data',
		'coverage: 83,5%',
		'coverage: ~83%',
		'coverage: +2%',
		'coverage: 12.0% of statements, target: 95%',
		'coverage: 12.0% (was 95%)',
		'coverage: 12.0% < 95%',
		'Lines: 12% (threshold 80%)',
		'TOTAL 12% (target 80%)',
		'TOTAL,20,83%',
		'TOTAL   76   10   5,95%',
		'| Total | 12 | 5,95% |',
		'| Total | 95% | -2% |',
		'coverage: [12%]',
		'minimum coverage: 80%',
		'uncovered: 88%',
		'not covered: 88%',
		'88% missing',
		'[####] 100% done, no coverage data',
		'100% tests passed, coverage off',
		'Coverage for lines (75%) does not meet global threshold (90%)',
		'Line coverage (75.00%) is below the expected minimum coverage (90.00%).',
		'Statements   : Unknown% ( 0/0 )',
		'| Total | NaN% | 95% |',
		'{"result": {"coverage": 0.12}}',
	])('%j is not understood, and spoils every other figure', (line) => {
		expect(share(line)).toBe(notUnderstood(line));
		expect(share(`Functions: 95%\n${line}`)).toBe(notUnderstood(line));
		expect(share(`${line}\n100%\n`)).toBe(notUnderstood(line));
	});

	it.each([
		['{"coverage": 83}', '"coverage" is 83, expected a number from 0 to 1'],
		['{"coverage": -0.1}', '"coverage" is -0.1, expected a number from 0 to 1'],
		['{"coverage": "83%"}', '"coverage" is "83%", expected a number from 0 to 1'],
		['{"coverage": null}\n83%', '"coverage" is null, expected a number from 0 to 1'],
		['{"coverage": 0.12, "coverage": 0.95}', 'its JSON says the same key twice'],
		['{"coverage": 0.12, "c\\u006fverage": 0.95}', 'its JSON says the same key twice'],
		['{"total": {"lines": {"total": 5, "pct": "?"}}}', '"total.lines.pct" is "?", expected a number from 0 to 100'],
		['{'.repeat(9_000), 'its output has too many braces to be read'],
	])('in the JSON %.60s', (output, reason) => {
		expect(share(output)).toBe(reason);
	});

	it.each([
		['95%\n150%', 'it printed 95%, 150% without saying which is coverage'],
		['0.5\n0.6\n0.7\n0.8', 'it printed 0.5, 0.6, 0.7 without saying which is coverage'],
		['150%', '150% is more than all'],
		['1.2', '1.2 is more than all'],
		['100%\nbye', 'it printed 100% without saying that this is coverage, and "bye"'],
		['no coverage data\n100%', 'it printed 100% without saying that this is coverage, and "no coverage data"'],
		['12 failed\n95%', 'it printed 95% without saying that this is coverage, and "12 failed"'],
		[
			'coverage: twelve percent\n95%',
			'it printed 95% without saying that this is coverage, and "coverage: twelve percent"',
		],
	])('a number alone in %j is doubtful', (output, reason) => {
		expect(share(output)).toBe(reason);
	});

	it('a long line is quoted by its beginning', () => {
		const line = `coverage: 12% ${'x'.repeat(100)}`;
		expect(share(line)).toBe(`its line "coverage: 12% ${'x'.repeat(46)}…" cannot be understood`);
	});
});

it('nothing is read from an output that was cut: what is missing might say less', () => {
	const output = `coverage: 12%\n${'ok 1 - it works\n'.repeat(1000)}coverage: 95%\n`;
	expect(share(output)).toBe(0.12);
	expect(share(`\n${'ok\n'.repeat(2000)}${output}`)).toBe(0.12);
	const reason = 'its output was cut, and what is missing might say less';
	expect(share(capMiddle(output, 10_000))).toBe(reason);
	expect(share('x\n[... the middle cut by sdd; 900,000 bytes in all]\n{"coverage": 0.95}')).toBe(reason);
});

it('whatever is printed, a figure lies between 0 and 1', () => {
	fc.assert(
		fc.property(fc.string(), fc.double({ min: 0, max: 200, noNaN: true }), (text, number) => {
			for (const output of [`${text} ${number}% ${text}`, `${text}\ncoverage: ${number}%\n${text}`, `${number}%`]) {
				const figure = coverageFigure(output);
				expect(figure.share === null || (figure.share >= 0 && figure.share <= 1)).toBe(true);
			}
		}),
	);
});

it('whatever is printed besides, it never makes a figure higher', () => {
	const piece = fc.oneof(
		fc.string(),
		fc.constantFrom(
			'\n',
			' ',
			':',
			'%',
			'95%',
			'100%',
			'0.95',
			'coverage',
			'Lines',
			'TOTAL',
			'|',
			'{"coverage": 0.95}',
		),
	);
	fc.assert(
		fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
			const figure = coverageFigure(`${pieces.join('')}\ncoverage: 12%\n${pieces.join('')}`);
			expect(figure.share === null || figure.share <= 0.12).toBe(true);
		}),
	);
});

it('an output that is made to be hard to read is read in good time', () => {
	const pieces = [
		' ',
		'1',
		'1%',
		'coverage ',
		'coverage:',
		'(',
		', ',
		'1 1% ',
		'|',
		'Coverage report generated for  to ',
	];
	for (const piece of pieces) {
		for (const start of ['x', 'coverage ', 'TOTAL ', '| total |', 'Coverage report generated for a to b']) {
			share(`${start}${piece.repeat(9_000 / piece.length)}x`);
		}
	}
});
