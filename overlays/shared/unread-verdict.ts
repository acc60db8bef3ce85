/** Looks for verdicts that cannot be read: garbled JSON beside a good verdict may be a no. */
import type { Words } from './round-log.ts';

/** What a garbled verdict says: one value, or the several between which it leaves the choice. */
export type Saying = readonly string[];

/**
 * What a text says behind each `"key":` in it, however the key and the value are quoted. Prose behind the colon says
 * nothing, and neither does a blank to be filled in; `words` are values that count even where they are not quoted.
 */
export function sayingsIn(text: string, key: string, words: readonly string[]): readonly Saying[] {
	const keys = new RegExp(`(?:[{,]\\s*${key}|["'“”‘’\`]${key}\\\\*["'“”‘’\`])\\s*(?:=>|[:=])`, 'gi');
	return [...text.matchAll(keys)].flatMap(({ 0: found, index }) => {
		const saying = sayingAt(text, index + found.length, words);
		return saying === null ? [] : [saying];
	});
}

/** Whether a yes holds beside a garbled verdict: that is a yes itself, or only repeats how to answer (`"GO" | "NO_GO"`). */
export function leavesYes(saying: Saying, { yes, no }: Words): boolean {
	const isChoice = saying.length > 1 && saying.every((word) => word === yes || word === no);
	return isChoice || saying[0] === yes;
}

/** What may stand before a value without being part of it: comments, brackets, emphasis. */
const NOISE = /(?:\s|\/\*[\s\S]*?\*\/|\/\/[^\n]*|[(*_])*/y;
const QUOTED = /\\*["'“‘`]([^"'“”‘’`\\\n]*)\\*["'”’`]?/y;
const BARE = /[^\s,;}\])|"'“”‘’`*\\]+/y;
const OR = /\s*(?:\||or\b)\s*/y;
const BETWEEN = /\s*(?:[|/]|\bor\b)\s*/;
/** What stands for a value in a text without quotes; any other word there is prose. */
const LITERAL = /^(?:[A-Z][A-Z_-]+|true|false|null|-?\.?\d.*)$/;
const BLANK = /^(?:…|\.\.\.|<)/;

function sayingAt(text: string, start: number, words: readonly string[]): Saying | null {
	matchAt(NOISE, text, start);
	const at = NOISE.lastIndex;
	let quoted = matchAt(QUOTED, text, at);
	if (quoted === null) return bareSaying(matchAt(BARE, text, at)?.[0].replace(/\.$/, ''), words);
	const values: string[] = [];
	while (quoted !== null) {
		values.push(quoted[1] ?? '');
		const or = matchAt(OR, text, QUOTED.lastIndex);
		quoted = or === null ? null : matchAt(QUOTED, text, OR.lastIndex);
	}
	const [only = ''] = values;
	if (values.length > 1) return values;
	return BLANK.test(only) ? null : only.split(BETWEEN);
}

function bareSaying(value: string | undefined, words: readonly string[]): Saying | null {
	if (value === undefined) return null;
	return LITERAL.test(value) || words.includes(value) ? [value] : null;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
	pattern.lastIndex = at;
	return pattern.exec(text);
}
