import { describe, expect, test } from 'vitest';
import { type Diagnostic, formatDiagnostic, quote } from '../../engine/diagnostic.ts';
import { formatDuration, parseDuration } from '../../engine/duration.ts';
import { didYouMean } from '../../engine/suggest.ts';

describe('a misspelling is recognised', () => {
	const keys = ['agent', 'agents', 'timeout', 'retry', 'depends_on', 'description'];
	test.each([
		['agnet', 'agent'],
		['retrys', 'retry'],
		['depend_on', 'depends_on'],
		['depends-on', 'depends_on'],
		['Timeout', 'timeout'],
		['discription', 'description'],
	])('%s is %s', (word, meant) => expect(didYouMean(word, keys)).toBe(meant));

	test.each(['colour', 'x', 'budget'])('%s is nothing known', (word) => expect(didYouMean(word, keys)).toBeUndefined());
});

describe('a length of time', () => {
	test.each([
		['500ms', 500],
		['20m', 1_200_000],
		['1h30m', 5_400_000],
		['1.5s', 1500],
		[90, 90_000],
		[0, 0],
	])('%s is %d ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

	test.each(['', 'm', '20', '20 m', '-5s', 'soon', '25d', '1e3s', -1, Number.NaN, 3_000_000])('%s is none', (text) => {
		expect(parseDuration(text)).toBeUndefined();
	});

	test.each([0, 1, 500, 5_400_000, 86_400_000, 61_001])('%d ms is read as it is written', (ms) => {
		expect(parseDuration(formatDuration(ms))).toBe(ms);
	});
});

describe('a diagnostic', () => {
	const diagnostic: Diagnostic = {
		code: 'WORKFLOW_UNKNOWN_KEY',
		severity: 'error',
		message: 'unknown key "retrys" in task "design"',
		file: 'workflows/x.yaml',
		line: 7,
		column: 5,
		length: 6,
		snippet: '    retrys: 2',
		remedy: 'did you mean "retry"?',
	};

	test('shows the place, the line with a caret, and the remedy', () => {
		expect(formatDiagnostic(diagnostic, { color: false })).toBe(
			[
				'workflows/x.yaml:7:5 error: unknown key "retrys" in task "design" [WORKFLOW_UNKNOWN_KEY]',
				'  7 |     retrys: 2',
				'    |     ^^^^^^',
				'  remedy: did you mean "retry"?',
			].join('\n'),
		);
	});

	test('is coloured only on demand', () => {
		expect(formatDiagnostic(diagnostic, { color: true })).toContain('\u001b[31merror\u001b[0m');
		expect(formatDiagnostic({ ...diagnostic, severity: 'warning' }, { color: true })).toContain('\u001b[33mwarning');
	});

	test('without a line has neither line nor snippet', () => {
		const whole = { ...diagnostic, line: 0, column: 0 };
		expect(formatDiagnostic(whole, { color: false }).split('\n')).toHaveLength(2);
	});

	test('lets no control character through, and the caret stays under what it marks', () => {
		const hostile = {
			...diagnostic,
			message: 'a\u001b[31mb',
			snippet: '\t\u001b[2J x: 1',
			column: 7,
			length: 1,
			file: 'a\nb',
		};
		const [head, line, caret] = formatDiagnostic(hostile, { color: false }).split('\n');
		expect(head).toBe('a\\nb:7:7 error: a\\u001b[31mb [WORKFLOW_UNKNOWN_KEY]');
		expect(line!.indexOf('x')).toBe(caret!.indexOf('^'));
		expect(line).not.toContain('\u001b');
	});

	test('shows a message of several lines, such as the end of a traceback, line by line', () => {
		const message = 'it ended; the last it wrote to stderr:\nFile "j.py", line 1\n    def(:\n\u001b[2JSyntaxError';
		const [head, ...rest] = formatDiagnostic({ ...diagnostic, message }, { color: false }).split('\n');
		expect(head).toMatch(/error: it ended; the last it wrote to stderr: \[WORKFLOW_UNKNOWN_KEY\]$/);
		expect(rest.slice(0, 3)).toEqual(['      File "j.py", line 1', '          def(:', '      \\u001b[2JSyntaxError']);
	});

	test('cuts a very long line around the column', () => {
		const long = { ...diagnostic, snippet: `${'a'.repeat(500)}HERE${'b'.repeat(500)}`, column: 501, length: 4 };
		const [, line, caret] = formatDiagnostic(long, { color: false }).split('\n');
		expect(line!.length).toBeLessThan(130);
		expect(line!.slice(caret!.indexOf('^'), caret!.lastIndexOf('^') + 1)).toBe('HERE');
	});

	test('quotes long text shortened', () => expect(quote('x'.repeat(100), 5)).toBe('"xxxxx…"'));
});
