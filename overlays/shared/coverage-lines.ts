/**
 * Reads coverage from a line of text, as tools print it: `coverage: 83.1% of statements`, `Lines : 83.1% ( 133/160 )`,
 * `83.10% coverage, 133/160 lines covered`, and the last row of tables.
 *
 * A line is understood only if every word in it is known; so `target`, `was`, `below` or `missing` need not be listed.
 */

/** Something that speaks of coverage: how much, or why that cannot be told. */
export type Mention = { readonly share: number } | { readonly doubt: string };

/** What a line says of coverage: nothing, one figure or several, or something that cannot be understood. */
export function lineMentions(line: string): readonly Mention[] {
	const said = withoutAsides(line);
	if (ODD_PERCENTAGE.test(said) || ODD_VALUE.test(said)) return [doubtful(line)];
	const figures = totalsIn(said) ?? figuresIn(said);
	if (figures === null) return SPEAKS_OF_COVERAGE.some((sign) => sign.test(said)) ? [doubtful(line)] : [];
	return figures.map((figure) => (figure > 1 ? doubtful(line) : { share: figure }));
}

/** `83.5%` or `0.835` as a share of one, without the noise of binary fractions: 56.7% is 0.567. */
export function shareOf(figure: string): number {
	const value = Number.parseFloat(figure);
	return figure.endsWith('%') ? Number((value / 100).toFixed(12)) : value;
}

/** A line as messages quote it. */
export function short(line: string): string {
	return line.length > 60 ? `${line.slice(0, 60)}…` : line;
}

function doubtful(line: string): Mention {
	return { doubt: `its line "${short(line)}" cannot be understood` };
}

/** What tools say besides: progress, changes, what pytest-cov requires, where simplecov writes, what Go means. */
const ASIDES = [
	/^\[\s*\d+%\]|(?<=(?:(?:^|\s)[.sxXFE]+|PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR)\s+)\[\s*\d+%\]$/g,
	/\(\s*[+-]\d+(?:\.\d+)?\s?%\s*\)|,\s*[+-]\d+(?:\.\d+)?% change in coverage$/g,
	/^(?:FAIL )?Required test coverage of [\d.]+% (?:not )?reached\./g,
	/^Coverage report generated for .* to .*?\. (?=\d)/g,
	/^\S+\.go:\d+:\s.*$/g,
	/^ok\s+\S+\s+(?:[\d.]+s|\(cached\))\s+(?=coverage: )|^\S+\t\t(?=coverage: )|(?<=% of statements) in \S.*$/g,
];

function withoutAsides(line: string): string {
	const said = ASIDES.reduce((text, aside) => text.replaceAll(aside, ' '), line);
	return said.replaceAll(/\s+/g, ' ').trim();
}

const KINDS = 'statements?|branch(?:es)?|functions?|funcs?|lines?|methods?|class(?:es)?|instructions?|regions?|loc';
const NAMES = `coverage|covered|${KINDS}`;
const NAME = new RegExp(`^(?:${NAMES})$`);
/** Words that may stand beside a name without changing what its figure means. */
const COMPANION =
	/^(?:total|overall|average|global|full|project|application|code|test|unit|rate|percent|all|files?|the|of|for|in|is|are|at|and)$/;

// Neither part of another number (1.2.3, 1,234), nor a change (+2.5%, -1%).
const PERCENTAGE = /(?<![\w.+-]|\d,)\d+(?:\.\d+)?\s?%(?!\w)/g;
const FRACTION = /(?<=\bcoverage["']?\s*[:=]?\s*)[01]?\.\d+(?![\w%]|[.,]\d)/gi;
const COUNTS = /\(?\s*[\d,]+\s*(?:\/|(?:out )?of)\s*[\d,]+|\bin [\d,]+(?= \w)|,\s*\d+ ignored/g;

const ODD = 'nan|unknown|undefined|null|none|n/a|inf(?:inity)?';
const ODD_PERCENTAGE = new RegExp(`\\b(?:${ODD})\\s?%`, 'i');
const ODD_VALUE = new RegExp(
	`\\b(?:${NAMES})\\b["'\\s.:=|]*(?:(?:${ODD})\\b|-\\d)|\\bcoverage["']?\\s*[:=]\\s*(?:no\\b|-$)`,
	'i',
);

/** Signs that a line has a figure of coverage, however it is put. A name that is part of a path or a file's name is none. */
const SPEAKS_OF_COVERAGE = [
	/(?<![\p{L}\d./\\])(?:(?:un|non)?cover(?:age|ed)?|miss(?:ed|ing)?)(?![\p{L}\d/\\]|[\w-]*\.\p{L}).*\d\s?%/iu,
	/\d\s?%.*(?<![\p{L}\d./\\])(?:(?:un|non)?cover(?:age|ed)?|miss(?:ed|ing)?)(?![\p{L}\d/\\]|[\w-]*\.\p{L})/iu,
	new RegExp(`(?<![\\p{L}\\d./\\\\])(?:${KINDS})["'\\s.:=|]+[\\d.,]+\\s?%`, 'iu'),
	new RegExp(`\\d\\s?%\\s+(?:of\\s+)?(?:the\\s+|all\\s+)?(?:${KINDS})\\b`, 'i'),
	/^\W*(?:total|average|all files)[\W\d]*\d\s?%/i,
	// Without a percent sign it may be a share, but not a version; a table's columns are for its header to name.
	/^[^|]*(?<![\p{L}\d./\\])coverage["']?\s*[:=]\s*[\d.,]+(?![\d.]*\.\d+\.)/iu,
];

/** The figures of a line that only speaks of coverage; null if it says anything else. */
function figuresIn(text: string): readonly number[] | null {
	const found = [...text.matchAll(PERCENTAGE), ...text.matchAll(FRACTION)];
	const rest = [PERCENTAGE, FRACTION, COUNTS].reduce((left, part) => left.replaceAll(part, ' '), text);
	if (found.length === 0 || !/^[\p{L}\s.:=,;()|"'{}*_/-]*$/u.test(rest)) return null;
	const words = rest.toLowerCase().match(/\p{L}+/gu) ?? [];
	if (!words.some((word) => NAME.test(word)) || !words.every((word) => NAME.test(word) || COMPANION.test(word))) {
		return null;
	}
	return found.filter((figure) => !isOfNothing(text, figure)).map(([figure]) => shareOf(figure));
}

/** Where there is nothing to cover, tools say 100%: `Branches : 100% ( 0/0 )`, `0 / 0 LOC (100.0%) covered`. */
function isOfNothing(text: string, { 0: figure, index }: RegExpExecArray): boolean {
	const after = /^[^%]*?\b0\s*(?:\/|of)\s*0\b/.test(text.slice(index + figure.length));
	return after || /\b0\s*\/\s*0\s+\w+\s*\(\s*$/.test(text.slice(0, index));
}

const TOTAL = /^\W*(total|average|all files)\W*$/i;
const ROW_OF_TOTALS = /^(?:total|all files):?(?:\s+\(statements\))?((?:\s+(?:-|[\d,]+|\d+(?:\.\d+)?%))+)$/i;

/** The figures in a table's row of totals; null if the line is none. */
function totalsIn(text: string): readonly number[] | null {
	const cells = text.split(/[|│┃]/);
	const name = cells.map((cell) => TOTAL.exec(cell)?.[1]).find((found) => found !== undefined);
	if (cells.length > 1 && name !== undefined) return totalsInCells(cells, name);
	const row = ROW_OF_TOTALS.exec(text)?.[1];
	if (row === undefined || !row.includes('%')) return null;
	// Counts stand before their percentage; nothing of nothing is no figure.
	return [...row.matchAll(/((?:[^%]*\s)?)([\d.]+%)/g)].flatMap(([, counts = '', figure = '']) =>
		/\d/.test(counts) && !/[1-9]/.test(counts) ? [] : [shareOf(figure)],
	);
}

/** Istanbul and Node write percentages without a sign in the row of all files; elsewhere a number without one is a count. */
function totalsInCells(cells: readonly string[], name: string): readonly number[] | null {
	const isBare = name.toLowerCase() === 'all files';
	const figures = cells.flatMap((cell) =>
		isBare && /^\s*\d+(?:\.\d+)?\s*$/.test(cell)
			? [`${cell.trim()}%`]
			: [...cell.matchAll(PERCENTAGE)].map(([one]) => one),
	);
	const isUnclear = cells.some((cell) => cell.includes('%') && cell.match(PERCENTAGE) === null);
	return isUnclear || figures.length === 0 ? null : figures.map(shareOf);
}
