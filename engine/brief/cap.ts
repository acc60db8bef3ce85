/** Cuts what is too long for a brief, and says so: a reader must never take a part for the whole. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Characters of an agent's output that are kept. */
export const OUTPUT_CAP = 50_000;

/** Characters of a diff that are kept. */
export const DIFF_CAP = 50_000;

/**
 * Keeps the first `max` characters; what is cut is replaced by a line that says how much it was. The line of an earlier
 * cut is made anew, so that it tells of the whole; as anybody can write such a line, it never tells of less than is there.
 */
export function capText(text: string, max: number): string {
	if (text.length <= max) return text;
	const mark = MARK.exec(text.slice(-LONGEST_MARK));
	if (mark === null) return cutAfter(text, max, text.length);
	const body = text.slice(0, text.length - mark[0].length);
	if (body.length <= max) return text;
	const [, characters, bytes] = mark;
	if (bytes === undefined) return cutAfter(body, max, Math.max(body.length, numberIn(characters)));
	return withoutRest(body, max, Math.max(Buffer.byteLength(body), numberIn(bytes)));
}

/** Keeps the first and the last part of a text, `max` characters together, with a line about what is between. */
export function capMiddle(text: string, max: number): string {
	if (text.length <= max) return text;
	const head = headOf(text, Math.floor(max / 2));
	const tail = tailOf(text, max - head.length);
	const cut = grouped(text.length - head.length - tail.length);
	return detached(`${head}\n[... ${cut} characters cut by sdd; ${grouped(text.length)} in all]\n${tail}`);
}

/** The first `max` characters of a file, read without reading the rest; bytes that are not UTF-8 become U+FFFD. */
export function capFile(path: string, max: number): string {
	const fd = openSync(path, 'r');
	try {
		const { size } = fstatSync(fd);
		const head = readAt(fd, 0, Math.min(size, bytesFor(max)));
		return capBytes(head, Math.max(size, head.length), max);
	} finally {
		closeSync(fd);
	}
}

/** The first and the last part of a file, `max` characters together, read without reading what is between. */
export function capFileMiddle(path: string, max: number): string {
	const fd = openSync(path, 'r');
	try {
		const { size } = fstatSync(fd);
		if (size <= 2 * bytesFor(max)) return capMiddle(decode(readAt(fd, 0, size)), max);
		const half = Math.floor(max / 2);
		const head = headOf(decode(readAt(fd, 0, bytesFor(half)), true), half);
		const tail = tailOf(decode(readAt(fd, size - bytesFor(half), bytesFor(half))), max - half);
		return detached(`${head}\n[... the middle cut by sdd; ${grouped(size)} bytes in all]\n${tail}`);
	} finally {
		closeSync(fd);
	}
}

/** Whether a text has a line that says that something was cut from it; as anybody can write one, only a doubt. */
export function isCut(text: string): boolean {
	return /^\[\.\.\. .* cut by sdd; .* in all\]$/m.test(text);
}

/** How many bytes of UTF-8 must be read to be sure of `max` characters, and of whether there are more. */
export function bytesFor(max: number): number {
	// No UTF-16 unit takes more than three bytes; four more tell whether the text goes on.
	return max * 3 + 4;
}

/** The first `max` characters of a text of which `head` holds the beginning, and which has `size` bytes in all. */
export function capBytes(head: Uint8Array, size: number, max: number): string {
	const whole = head.length >= size;
	const text = decode(head, !whole);
	if (!whole) return withoutRest(text, max, size);
	return text.length <= max ? text : cutAfter(text, max, text.length);
}

/** Writes a number so that people can read it: 1,234,567. */
export function grouped(n: number): string {
	return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

const NUMBER = '(\\d{1,3}(?:,\\d{3}){0,4})';
/** The line that cutAfter and withoutRest leave. */
const MARK = new RegExp(
	`\\n\\[\\.\\.\\. (?:[\\d,]{1,20} characters cut by sdd; ${NUMBER} in all|the rest cut by sdd; ${NUMBER} bytes in all)\\]$`,
);
const LONGEST_MARK = 100;

function numberIn(text = '0'): number {
	return Number(text.replaceAll(',', ''));
}

function cutAfter(text: string, max: number, total: number): string {
	const kept = headOf(text, max);
	return detached(`${kept}\n[... ${grouped(total - kept.length)} characters cut by sdd; ${grouped(total)} in all]`);
}

function withoutRest(text: string, max: number, bytes: number): string {
	return detached(`${headOf(text, max)}\n[... the rest cut by sdd; ${grouped(bytes)} bytes in all]`);
}

function headOf(text: string, max: number): string {
	const end = isHighSurrogate(text.charCodeAt(max - 1)) && text.length > max ? max - 1 : max;
	return text.slice(0, end);
}

function tailOf(text: string, max: number): string {
	const from = Math.max(0, text.length - max);
	return text.slice(isLowSurrogate(text.charCodeAt(from)) ? from + 1 : from);
}

/** Leaves out a character that the end of the bytes cuts in two, when more is known to follow. */
function decode(bytes: Uint8Array, more = false): string {
	return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: more });
}

/** A slice keeps the whole string it was cut from in memory: only a copy lets that go. */
function detached(text: string): string {
	return Buffer.from(text, 'utf8').toString('utf8');
}

function readAt(fd: number, from: number, length: number): Buffer {
	const bytes = Buffer.allocUnsafeSlow(length);
	let filled = 0;
	while (filled < length) {
		const read = readSync(fd, bytes, filled, length - filled, from + filled);
		if (read === 0) break;
		filled += read;
	}
	return bytes.subarray(0, filled);
}

function isHighSurrogate(unit: number): boolean {
	return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
	return unit >= 0xdc00 && unit <= 0xdfff;
}
