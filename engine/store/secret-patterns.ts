/**
 * Finds what looks like a secret in a text.
 *
 * Every pattern is linear in the length of the text: it begins with fixed characters, and what it then scans cannot be
 * scanned again from another beginning.
 */

/** A stretch of text, `[start, end)`. */
export type Range = readonly [start: number, end: number];

/** The stretches of a text that look like keys, tokens or passwords; none for nearly every text, and cheaply so. */
export function secretRanges(text: string): readonly Range[] {
	if (text.length < MIN_LENGTH) return NONE;
	const ranges: Range[] = [];
	if (TOKEN_HINT.test(text)) {
		for (const pattern of TOKENS) for (const match of text.matchAll(pattern)) ranges.push(spanOf(match, 0));
	}
	if (BEARER_HINT.test(text)) {
		for (const match of text.matchAll(BEARER)) if (hasDigit(match[1])) ranges.push(spanOf(match, 1));
	}
	if (text.includes('://')) for (const match of text.matchAll(URL_PASSWORD)) ranges.push(spanOf(match, 1));
	if (ASSIGNMENT_HINT.test(text)) assignmentRanges(text, ranges);
	if (text.includes('PRIVATE KEY')) keyBlockRanges(text, ranges);
	return ranges;
}

const NONE: readonly Range[] = [];

/** Nothing shorter can hold any of the patterns. */
const MIN_LENGTH = 8;

/** Without one of these none of TOKENS can match. No letter may come before: a `task-7` is in most texts. */
const TOKEN_HINT = /(?<![A-Za-z0-9])(?:sk-|[sr]k_|gh[opsur]_|github_pat_|glpat-|npm_|AKIA|ASIA|xox|AIza|eyJ)/;

const TOKENS: readonly RegExp[] = [
	/(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}/g,
	/(?<![A-Za-z0-9])[sr]k_(?:live|test)_[A-Za-z0-9]{16,}/g,
	/(?<![A-Za-z0-9])gh[opsur]_[A-Za-z0-9]{20,}/g,
	/(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{20,}/g,
	/(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{16,}/g,
	/(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,}/g,
	/(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])/g,
	/(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,}/g,
	/(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}/g,
	/(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
];

const BEARER_HINT = /bearer[ \t]/i;
const BEARER = /(?<![A-Za-z0-9])bearer[ \t]{1,4}([A-Za-z0-9._~+/=-]{16,})/dgi;

const URL_PASSWORD = /:\/\/[^\s:@/'"`]{0,64}:([^\s:@/'"`$<{]{3,128})@/dg;

function spanOf(match: RegExpMatchArray, group: number): Range {
	const found = match.indices?.[group];
	if (found !== undefined) return found;
	const start = match.index ?? 0;
	return [start, start + match[0].length];
}

function hasDigit(text: string | undefined): boolean {
	return text !== undefined && /\d/.test(text);
}

const NAME =
	'(?:passw(?:or)?d|passphrase|pwd|secret|token|credentials?|(?:api|access|auth|private|account)[_-]?key|secret[_-]?access[_-]?key)';

/** Every assignment begins like this; prose that merely speaks of passwords does not. */
const ASSIGNMENT_HINT = new RegExp(`${NAME}\\\\?["']?[ \\t]{0,4}[:=]`, 'i');

/** `password=hunter22`, as in an environment or a URL: no spaces, and the value ends where such values end. */
const BARE = new RegExp(`${NAME}=([^\\s"'\`()[\\]{}<>$,;&|\\\\]{6,256})(?=[\\s"'\`;&|\\\\]|$)`, 'dgi');
/** `"password": "hunter22"` and `secret = 'x9…'`. The quotes may be escaped, as in JSON inside JSON. */
const QUOTED = new RegExp(
	`${NAME}\\\\?["']?[ \\t]{0,4}[:=][ \\t]{0,4}\\\\?["'\`]([^\\s"'\`\\\\$<{]{6,512})\\\\?["'\`]`,
	'dgi',
);
/** `password: hunter22`, as in YAML or on a page. */
const COLON = new RegExp(`${NAME}:[ \\t]{1,4}([^\\s"'\`()[\\]{}<>$,;&|\\\\]{6,256})(?=[\\s"'\`\\\\]|$)`, 'dgi');

function assignmentRanges(text: string, ranges: Range[]): void {
	for (const match of text.matchAll(BARE)) if (!isCode(match[1] ?? '')) ranges.push(spanOf(match, 1));
	for (const match of text.matchAll(QUOTED)) if (isOpaque(match[1] ?? '')) ranges.push(spanOf(match, 1));
	for (const match of text.matchAll(COLON)) if (isOpaque(match[1] ?? '')) ranges.push(spanOf(match, 1));
}

/** `token=self.token`, `max_token=100000`: an expression or a number, no secret. */
function isCode(value: string): boolean {
	return /^\d{1,9}$/.test(value) || /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/.test(value) || value.startsWith('[redacted');
}

/** Words are names or prose; what has a digit or sign among its letters, and is no expression, is taken for a secret. */
function isOpaque(value: string): boolean {
	return !/^[A-Za-z]+(?:[ _./-][A-Za-z]+)*[.!?]?$/.test(value) && !isCode(value);
}

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;

/** A block counts only with key material in it: code that merely names the markers is left alone. */
function keyBlockRanges(text: string, ranges: Range[]): void {
	for (const match of text.matchAll(KEY_BEGIN)) {
		const start = match.index;
		const bodyStart = start + match[0].length;
		const dashes = text.indexOf('-----', bodyStart);
		const bodyEnd = dashes < 0 ? text.length : dashes;
		const material = /[A-Za-z0-9+/=]{24,}/.exec(text.slice(bodyStart, bodyEnd));
		if (material === null) continue;
		KEY_END.lastIndex = bodyEnd;
		ranges.push([start, KEY_END.test(text) ? KEY_END.lastIndex : materialEnd(text, bodyStart, bodyEnd)]);
	}
}

/** Of a block without an end (cut off), only what can be key material goes. */
function materialEnd(text: string, start: number, end: number): number {
	const other = /[^A-Za-z0-9+/=\s\\:,-]/.exec(text.slice(start, end));
	return other === null ? end : start + other.index;
}
