/** Cuts a stream of bytes into lines of JSON, and gives up on one that is too long. */
import { isUtf8 } from 'node:buffer';

/** What came out of the stream. */
export type Line =
	| { readonly kind: 'value'; readonly value: unknown }
	| { readonly kind: 'garbage'; readonly text: string }
	/** JSON in which an object has a member twice: readers differ about which of them counts. */
	| { readonly kind: 'ambiguous'; readonly text: string }
	| { readonly kind: 'too_long'; readonly limit: number };

/** A line may be this long. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

export interface LineReader {
	/** Takes a chunk, calls back once per line; after `too_long` nothing more is taken. */
	take(chunk: Buffer): void;
	/** Whether the beginning of a line was taken, and not yet its end. */
	isMidLine(): boolean;
}

/** Reads lines from the chunks it is given. */
export function lineReader(onLine: (line: Line) => void, maxBytes: number = MAX_LINE_BYTES): LineReader {
	let parts: Buffer[] = [];
	let length = 0;
	let isOver = false;
	const finish = (last: Buffer): void => {
		const line = parts.length === 0 ? last : Buffer.concat([...parts, last]);
		parts = [];
		length = 0;
		const text = line.toString('utf8').trim();
		if (text !== '') onLine(isUtf8(line) ? parsed(text) : garbage(text));
	};
	const take = (chunk: Buffer): void => {
		let from = 0;
		while (!isOver) {
			const end = chunk.indexOf(0x0a, from);
			const piece = chunk.subarray(from, end < 0 ? chunk.length : end);
			if (length + piece.length > maxBytes) {
				isOver = true;
				parts = [];
				return onLine({ kind: 'too_long', limit: maxBytes });
			}
			if (end < 0) {
				if (piece.length > 0) parts.push(piece);
				length += piece.length;
				return;
			}
			finish(piece);
			from = end + 1;
		}
	};
	return { take, isMidLine: () => length > 0 };
}

function parsed(line: string): Line {
	try {
		const value: unknown = JSON.parse(line);
		if (membersWritten(line) !== membersOf(value)) return { kind: 'ambiguous', text: line.slice(0, 200) };
		return { kind: 'value', value };
	} catch {
		return garbage(line);
	}
}

/** How many members a text writes down that is known to be JSON. */
function membersWritten(json: string): number {
	let count = 0;
	for (let at = json.indexOf('"'); at >= 0; at = json.indexOf('"', at + 1)) {
		at = stringEnd(json, at);
		let next = at + 1;
		while (/\s/.test(json.charAt(next))) next++;
		if (json.charAt(next) === ':') count++;
	}
	return count;
}

function stringEnd(json: string, start: number): number {
	for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
		let slashes = 0;
		while (json.charAt(end - 1 - slashes) === '\\') slashes++;
		if (slashes % 2 === 0) return end;
	}
}

/** How many members its objects have; without recursion, as it may be nested as deep as one likes. */
function membersOf(value: unknown): number {
	let count = 0;
	const left = [value];
	for (let one = left.pop(); one !== undefined; one = left.pop()) {
		if (typeof one !== 'object' || one === null) continue;
		const inner: readonly unknown[] = Object.values(one);
		if (!Array.isArray(one)) count += inner.length;
		for (const item of inner) left.push(item);
	}
	return count;
}

function garbage(line: string): Line {
	return { kind: 'garbage', text: line.slice(0, 200) };
}
