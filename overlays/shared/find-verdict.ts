/** Finds the one verdict in an agent's reply: its own words, said once, and about what it was asked. */
import { ownWords } from './agent-stream.ts';
import { type FoundObject, findObjects, outside } from './find-objects.ts';
import { quotedIn } from './quotation.ts';
import { type Saying, sayingsIn } from './unread-verdict.ts';

/** A JSON object of a reply that may be the verdict. */
export type Candidate = { readonly [key: string]: unknown };

/** What was found, or why that is no verdict. */
export type Found<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly violation: string };

/** What is looked for. */
export interface Sought<T> {
	/** The member that makes an object a verdict. */
	readonly key: string;
	/** The members that say what was decided, and why: a verdict with the same in the work is a quotation. */
	readonly members: readonly string[];
	/** What others wrote: a verdict that stands there is not the agent's own. */
	readonly material: readonly string[];
	/** What the agent was told to echo as `review_id`, if it echoes. */
	readonly reviewId: string;
	/** Reads a candidate; what is wrong with it is a violation. */
	read(candidate: Candidate): Found<T>;
	/** Whether two verdicts may stand in one reply. */
	saysTheSame(one: T, other: T): boolean;
	/** Values of `key` that count as said even where they are not quoted. */
	readonly words: readonly string[];
	/** Whether what was found holds beside a verdict that cannot be read, but says this of `key`. */
	holdsBeside(found: T, saying: Saying): boolean;
}

/** The one verdict in a reply, or why there is none. */
export function findVerdict<T>(reply: string, sought: Sought<T>): Found<T> {
	const { key } = sought;
	const words = ownWords(reply);
	if (words === '' && reply !== '') return violation(NOTHING_SAID);
	const objects = findObjects(words);
	if (objects === null) return violation('the reply has too many braces to find a verdict in it');
	const candidates = objects.filter((object) => Object.hasOwn(object.value, key));
	if (candidates.length === 0) return violation(`the reply has no JSON object with "${key}"`);
	if (candidates.length > MAX_CANDIDATES)
		return violation(`the reply has ${candidates.length} JSON objects with "${key}"`);
	if (candidates.some((candidate) => saysTwice(candidate, key))) {
		return violation(`a verdict says "${key}" twice, differently`);
	}
	const quotations = quotedIn(sought.material, candidates, sought.members);
	const own = candidates.filter((candidate) => !quotations.has(candidate));
	if (own.length === 0)
		return violation('the verdict is no judgement: it stands word for word in the work that was judged');
	// The agent's own comes first, as it is the one that counts; what it quotes must not say otherwise.
	const read = [...own, ...quotations].map(({ value }) => readCandidate(value, sought));
	const found = oneOf(read, sought);
	return found.ok && hidesAnother(outside(words, candidates), found.value, sought)
		? violation(`beside its verdict the reply has another "${key}" that cannot be read`)
		: found;
}

const NOTHING_SAID =
	'the reply is a stream of events that ended in an error, or in which the agent itself said nothing';

/** More verdicts than any reply has; each must be looked for in the work. */
const MAX_CANDIDATES = 20;

/** JSON lets the last of two equal keys win; here that would hide a disagreement. */
function saysTwice({ text }: FoundObject, key: string): boolean {
	const plain = text.replaceAll(ESCAPED_LETTER, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
	const values = plain.matchAll(new RegExp(`(?<!\\\\)"${key}"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*"|[^\\s,}\\]]+)`, 'g'));
	return new Set([...values].map((match) => match[1])).size > 1;
}

/** A key may be written with escapes, too. */
const ESCAPED_LETTER = /\\u00([46][1-9a-f]|[57][\da])/gi;

function readCandidate<T>(candidate: Candidate, { reviewId, read }: Sought<T>): Found<T> {
	const echoed = candidate['review_id'];
	if (echoed !== undefined && echoed !== reviewId) {
		return violation(`the verdict is about another review (review_id ${show(echoed)}, asked for "${reviewId}")`);
	}
	return read(candidate);
}

function oneOf<T>(read: readonly Found<T>[], { saysTheSame }: Sought<T>): Found<T> {
	const bad = read.find((one) => !one.ok);
	if (bad !== undefined) return bad;
	const first = read[0];
	if (first === undefined || !first.ok) return violation('the reply has no verdict');
	const disagrees = read.some((other) => other.ok && !saysTheSame(first.value, other.value));
	return disagrees ? violation('the reply has verdicts that disagree with each other') : first;
}

/** What is no JSON was not weighed so far, and may be a no. */
function hidesAnother<T>(rest: string, found: T, { key, words, holdsBeside }: Sought<T>): boolean {
	return sayingsIn(rest, key, words).some((saying) => !holdsBeside(found, saying));
}

function violation(reason: string): { readonly ok: false; readonly violation: string } {
	return { ok: false, violation: reason };
}

/** Names a wrong value. Never its inside: that may be nested deeper than can be written out. */
export function show(value: unknown): string {
	if (value === undefined) return 'missing';
	if (Array.isArray(value)) return 'a list';
	if (typeof value === 'object' && value !== null) return 'an object';
	const text = JSON.stringify(value);
	return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
