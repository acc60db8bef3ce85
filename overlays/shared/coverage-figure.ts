/** Reads the one figure in what a coverage check printed. Whatever is doubtful is no figure: a gate stands behind it. */
import { isCut } from '../../engine/brief/cap.ts';
import { printable } from '../../engine/printable.ts';
import { lineMentions, shareOf, short } from './coverage-lines.ts';
import { isReport, reportMentions } from './coverage-reports.ts';
import { findObjects, outside } from './find-objects.ts';

/** The covered share of one, or why none can be told. */
export type Coverage = { readonly share: number } | { readonly share: null; readonly reason: string };

/** What the check's author can do about a figure that is not understood. */
export const PRINT_A_FIGURE = 'have it print only `coverage: 83.5%` or {"coverage": 0.835}';

/**
 * The figure in the output. Of several that are said to be coverage the lowest counts, and one that is not understood
 * spoils them all: it might be lower. A number alone counts if it is all there is.
 */
export function coverageFigure(output: string): Coverage {
	const text = printable(output.replaceAll('\r', '\n'));
	if (isCut(text)) return none('its output was cut, and what is missing might say less');
	const objects = findObjects(text);
	if (objects === null) return none('its output has too many braces to be read');
	const reports = objects.filter(isReport);
	const lines = outside(text, reports)
		.split('\n')
		.map((line) => line.trim())
		.filter((line) => line !== '');
	const mentions = [...reports.flatMap(reportMentions), ...lines.flatMap(lineMentions)];
	const doubt = mentions.find((mention) => 'doubt' in mention);
	if (doubt !== undefined) return none(doubt.doubt);
	const shares = mentions.flatMap((mention) => ('share' in mention ? mention.share : []));
	return shares.length > 0 ? { share: Math.min(...shares) } : numberAlone(lines);
}

/** What npm, pnpm and yarn print before they run a script. */
const BANNER = /^(?:> |\$ )/;
const ALONE = /^(?:\d+(?:\.\d+)?\s?%|[01]?\.\d+)$/;

/** Nothing is said to be coverage: then the figure must be all that the check itself printed. */
function numberAlone(lines: readonly string[]): Coverage {
	const numbers = lines.filter((line) => ALONE.test(line));
	const [number] = numbers;
	if (number === undefined) return none('no line says how much is covered');
	if (numbers.length > 1) return none(`it printed ${numbers.slice(0, 3).join(', ')} without saying which is coverage`);
	const other = lines.find((line) => line !== number && !BANNER.test(line));
	if (other !== undefined)
		return none(`it printed ${number} without saying that this is coverage, and "${short(other)}"`);
	const share = shareOf(number);
	return share > 1 ? none(`${number} is more than all`) : { share };
}

function none(reason: string): Coverage {
	return { share: null, reason };
}
