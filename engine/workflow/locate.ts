/** Finds the line and column of a value or key, from the parser's events. Loaded only when a diagnostic needs it. */
import { EVENT_ID, type Event, getScalarValue, parseEvents } from 'js-yaml';
import type { Pointer } from './source.ts';

/** A spot in a text, counted from 1. */
export interface Spot {
	readonly line: number;
	readonly column: number;
	/** Characters to underline. */
	readonly length: number;
	/** The whole source line. */
	readonly snippet: string;
}

/** A function that finds spots in one text; the text is parsed once, at the first question. */
export function locator(text: string): (pointer: Pointer, on: 'key' | 'value', offset?: number) => Spot {
	let events: readonly Event[] | undefined;
	return (pointer, on, offset = 0) => {
		events ??= parseEvents(text, {});
		return toSpot(text, findRange({ text, events }, pointer, on), offset);
	};
}

interface Document {
	readonly text: string;
	readonly events: readonly Event[];
}

interface Range {
	readonly start: number;
	readonly end: number;
	/** Whether the text there is the value itself, without escapes or folding: then offsets into it mean something. */
	readonly literal?: boolean;
}

/** Walks down the pointer; where it leads nowhere, the last thing that exists is the answer. */
function findRange(document: Document, pointer: Pointer, on: 'key' | 'value'): Range {
	let node = document.events.findIndex((event) => event.type !== EVENT_ID.DOCUMENT);
	let key: Range | undefined;
	for (const step of pointer) {
		const child = childOf(document, node, step);
		if (child === undefined) return key ?? rangeOf(document, node);
		key = child.key ?? rangeOf(document, child.value);
		node = child.value;
	}
	if (on === 'key' && key !== undefined) return key;
	const value = rangeOf(document, node);
	return value.start < 0 && key !== undefined ? key : value;
}

interface Child {
	readonly key?: Range;
	readonly value: number;
}

function childOf(document: Document, node: number, step: string | number): Child | undefined {
	const { type } = document.events[node] ?? { type: EVENT_ID.POP };
	if (type === EVENT_ID.SEQUENCE) return itemOf(document, node, Number(step));
	return type === EVENT_ID.MAPPING ? memberOf(document, node, String(step)) : undefined;
}

function itemOf(document: Document, node: number, index: number): Child | undefined {
	let at = node + 1;
	for (let item = 0; document.events[at]?.type !== EVENT_ID.POP; item++) {
		if (item === index) return { value: at };
		at = afterNode(document.events, at);
	}
	return undefined;
}

function memberOf(document: Document, node: number, name: string): Child | undefined {
	let at = node + 1;
	while (document.events[at] !== undefined && document.events[at]!.type !== EVENT_ID.POP) {
		const value = afterNode(document.events, at);
		if (scalarText(document, at) === name) return { key: rangeOf(document, at), value };
		at = afterNode(document.events, value);
	}
	return undefined;
}

function scalarText(document: Document, at: number): string | undefined {
	const event = document.events[at]!;
	return event.type === EVENT_ID.SCALAR ? getScalarValue(document.text, event) : undefined;
}

/** The index of the first event behind a node and all that is in it. */
function afterNode(events: readonly Event[], node: number): number {
	let depth = 0;
	let at = node;
	do {
		const type = events[at]?.type;
		if (type === EVENT_ID.SEQUENCE || type === EVENT_ID.MAPPING) depth++;
		if (type === EVENT_ID.POP) depth--;
		at++;
	} while (depth > 0 && at < events.length);
	return at;
}

function rangeOf(document: Document, at: number): Range {
	const event = document.events[at];
	switch (event?.type) {
		case EVENT_ID.SCALAR:
			return {
				start: event.valueStart,
				end: event.valueEnd,
				literal: document.text.slice(event.valueStart, event.valueEnd) === getScalarValue(document.text, event),
			};
		case EVENT_ID.ALIAS:
			return { start: event.anchorStart - 1, end: event.anchorEnd };
		case EVENT_ID.SEQUENCE:
		case EVENT_ID.MAPPING:
			return { start: event.start, end: event.start + 1 };
		default:
			return { start: 0, end: 0 };
	}
}

function toSpot(text: string, range: Range, within: number): Spot {
	const offset = range.literal === true ? within : 0;
	const start = Math.max(0, Math.min(range.start + offset, text.length));
	const lineStart = text.lastIndexOf('\n', start - 1) + 1;
	const newline = text.indexOf('\n', start);
	const snippet = text.slice(lineStart, newline < 0 ? text.length : newline).replace(/\r$/, '');
	const column = start - lineStart + 1;
	const length = Math.max(1, Math.min(offset > 0 ? 1 : range.end - start, snippet.length - column + 1));
	return { line: countLines(text, lineStart) + 1, column, length, snippet };
}

function countLines(text: string, end: number): number {
	let lines = 0;
	for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) lines++;
	return lines;
}
