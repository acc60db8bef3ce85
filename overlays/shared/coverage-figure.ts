/** Reads the figure in what a coverage tool printed. */
import { printable } from '../../engine/printable.ts';

/** The last figure in the output as a share of one: `83.5%`, `0.835` or `{"coverage": 0.835}`; null when there is none. */
export function coverageFigure(output: string): number | null {
	const text = printable(output);
	const figures = [...text.matchAll(PERCENTAGE), ...text.matchAll(FRACTION)]
		.map((match) => ({ at: match.index, share: shareOf(match) }))
		.filter(({ share }) => share >= 0 && share <= 1)
		.sort((a, b) => a.at - b.at);
	return figures.at(-1)?.share ?? null;
}

// Neither part of another number (1.2.3, 1,234), nor a change (+2.5%, -1%).
const START = String.raw`(?<![\w.+-]|\d,)`;
const PERCENTAGE = new RegExp(String.raw`${START}(\d+(?:\.\d+)?)\s?%`, 'g');
// Neither a version (0.8.1) nor a time (0.93 s, 0.5ms).
const FRACTION = new RegExp(
	String.raw`${START}([01]?\.\d+)(?![\w%]|\.\d|,\d|\s?%|\s?(?:ms|s|secs?|seconds?|min|minutes?|h)\b)|"coverage"\s*:\s*([01])(?=\s*[,}])`,
	'g',
);

function shareOf([all, first, whole]: RegExpMatchArray): number {
	const value = Number(first ?? whole);
	// Without the noise of binary fractions: 56.7% is 0.567.
	return all.endsWith('%') ? Number((value / 100).toFixed(12)) : value;
}
