/** Canonical JSON (RFC 8785): one value, one text, so that a hash over it means something. */
import { SddError } from '../errors.ts';
import type { Json, JsonObject } from '../json.ts';

/**
 * The canonical text of a JSON value: no spaces, members sorted by UTF-16 code units, numbers as ECMAScript prints them.
 * As with `JSON.stringify`, members that are undefined are left out and numbers that are not finite become null.
 */
export function canonical(value: Json): string {
	return isSortedWithin(value, 0) ? JSON.stringify(value) : textOf(value, 0);
}

/** Whether the members of an object, and of all within it, come in canonical order; one of its own may stand anywhere. */
export function isSorted(object: JsonObject, except: string): boolean {
	return areSorted(object, except, 0);
}

/** Deeper values are refused: no honest record needs them, and they would exhaust the stack. */
export const MAX_DEPTH = 500;

function textOf(value: Json | undefined, depth: number): string {
	switch (typeof value) {
		case 'string':
			return JSON.stringify(value);
		case 'number':
			return Number.isFinite(value) ? String(value === 0 ? 0 : value) : 'null';
		case 'boolean':
			return value ? 'true' : 'false';
		case 'object':
			if (value === null) return 'null';
			if (depth === MAX_DEPTH) throw tooDeep();
			return Array.isArray(value) ? arrayText(value, depth + 1) : objectText(value as JsonObject, depth + 1);
		default:
			return 'null';
	}
}

function arrayText(items: readonly Json[], depth: number): string {
	let text = '[';
	for (let i = 0; i < items.length; i++) text += i === 0 ? textOf(items[i], depth) : `,${textOf(items[i], depth)}`;
	return `${text}]`;
}

function objectText(object: JsonObject, depth: number): string {
	let text = '';
	for (const key of Object.keys(object).sort()) {
		const value = object[key];
		if (value === undefined) continue;
		text += `${text === '' ? '{' : ','}${JSON.stringify(key)}:${textOf(value, depth)}`;
	}
	return text === '' ? '{}' : `${text}}`;
}

function areSorted(object: JsonObject, except: string | null, depth: number): boolean {
	let last: string | null = null;
	for (const key in object) {
		if (!isSortedWithin(object[key], depth + 1)) return false;
		if (key === except) continue;
		if (last !== null && key < last) return false;
		last = key;
	}
	return true;
}

function isSortedWithin(value: Json | undefined, depth: number): boolean {
	if (typeof value !== 'object' || value === null) return true;
	if (depth === MAX_DEPTH) return false;
	if (Array.isArray(value)) return value.every((item) => isSortedWithin(item, depth + 1));
	return areSorted(value as JsonObject, null, depth);
}

function tooDeep(): SddError {
	return new SddError(
		'STORE_RECORD_TOO_LARGE',
		`a value is nested deeper than ${MAX_DEPTH} levels and cannot be recorded`,
		'find out which agent or overlay produced it, and have it return something flatter',
	);
}
