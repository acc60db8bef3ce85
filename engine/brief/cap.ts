/** Cuts what is too long for a brief, and says so: a reader must never take a part for the whole. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Characters of an agent's output that are kept. */
export const OUTPUT_CAP = 50_000;

/** Characters of a diff that are kept. */
export const DIFF_CAP = 50_000;

/** Keeps the first `max` characters; what is cut is replaced by a line that says how much it was. */
export function capText(text: string, max: number): string {
	if (text.length <= max) return text;
	const kept = headOf(text, max);
	const cut = grouped(text.length - kept.length);
	return detached(`${kept}\n[… ${cut} characters cut by sdd; ${grouped(text.length)} in all]`);
}

/** Keeps the first and the last part of a text, `max` characters together, with a line about what is between. */
export function capMiddle(text: string, max: number): string {
	if (text.length <= max) return text;
	const head = headOf(text, Math.floor(max / 2));
	let from = text.length - (max - head.length);
	if (isLowSurrogate(text.charCodeAt(from))) from++;
	const cut = grouped(from - head.length);
	return detached(`${head}\n[… ${cut} characters cut by sdd; ${grouped(text.length)} in all]\n${text.slice(from)}`);
}

/** The first `max` characters of a file, read without reading the rest; bytes that are not UTF-8 become U+FFFD. */
export function capFile(path: string, max: number): string {
	const fd = openSync(path, 'r');
	try {
		const { size } = fstatSync(fd);
		const bytes = Buffer.allocUnsafeSlow(Math.min(size, bytesFor(max)));
		const read = readFully(fd, bytes);
		return capBytes(bytes.subarray(0, read), Math.max(size, read), max);
	} finally {
		closeSync(fd);
	}
}

/** How many bytes of UTF-8 must be read to be sure of `max` characters, and of whether there are more. */
export function bytesFor(max: number): number {
	// No UTF-16 unit takes more than three bytes; four more tell whether the text goes on.
	return max * 3 + 4;
}

/** The first `max` characters of a text of which `head` holds the beginning, and which has `size` bytes in all. */
export function capBytes(head: Uint8Array, size: number, max: number): string {
	const whole = head.length >= size;
	const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(head, { stream: !whole });
	if (whole) return capText(text, max);
	return detached(`${headOf(text, max)}\n[… the rest cut by sdd; ${grouped(size)} bytes in all]`);
}

/** Writes a number so that people can read it: 1,234,567. */
export function grouped(n: number): string {
	return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

function headOf(text: string, max: number): string {
	const end = isHighSurrogate(text.charCodeAt(max - 1)) && text.length > max ? max - 1 : max;
	return text.slice(0, end);
}

/** A slice keeps the whole string it was cut from in memory: only a copy lets that go. */
function detached(text: string): string {
	return Buffer.from(text, 'utf8').toString('utf8');
}

function readFully(fd: number, into: Buffer): number {
	let filled = 0;
	while (filled < into.length) {
		const read = readSync(fd, into, filled, into.length - filled, filled);
		if (read === 0) break;
		filled += read;
	}
	return filled;
}

function isHighSurrogate(unit: number): boolean {
	return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
	return unit >= 0xdc00 && unit <= 0xdfff;
}
