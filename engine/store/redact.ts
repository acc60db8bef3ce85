/** Takes secrets out of what is about to be recorded. */
import type { Json, JsonObject } from '../json.ts';
import { MAX_DEPTH } from './canonical.ts';
import { type Range, secretRanges } from './secret-patterns.ts';

/** Redacts a text, or every text inside a JSON value; what holds no secret is returned as it is, not copied. */
export interface Redactor {
	text(text: string): string;
	value<T>(value: T): T;
}

/** What stands where a secret was. */
export const REDACTED = '[redacted]';

/** Shorter values of environment variables are not taken for secrets: they would blot out ordinary words. */
export const MIN_SECRET_LENGTH = 6;

/** Makes a redactor for the common kinds of keys and tokens and for these exact values. */
export function redactor(secrets: readonly string[]): Redactor {
	const exact = exactForms(secrets);
	const text = (input: string) => redactText(input, exact);
	return { text, value: (value) => redactValue(value as Json, text, 0) as typeof value };
}

/** Each secret as it is and as it looks inside JSON or a diff; the longest first, as one may contain another. */
export function exactForms(secrets: readonly string[]): readonly string[] {
	const long = secrets.map((secret) => secret.trim()).filter((secret) => secret.length >= MIN_SECRET_LENGTH);
	const forms = new Set(long.flatMap((secret) => [secret, ...jsonForms(secret), ...diffForms(secret)]));
	return [...forms].sort((a, b) => b.length - a.length);
}

/** JSON may be written in ASCII only, with small or large hexadecimal digits. */
function jsonForms(secret: string): readonly string[] {
	const json = JSON.stringify(secret).slice(1, -1);
	const codeOf = (char: string) => char.charCodeAt(0).toString(16).padStart(4, '0');
	const small = json.replaceAll(/[\u007f-\uffff]/g, (char) => `\\u${codeOf(char)}`);
	const large = json.replaceAll(/[\u007f-\uffff]/g, (char) => `\\u${codeOf(char).toUpperCase()}`);
	return [json, small, large];
}

/** A diff puts a sign before every line. */
function diffForms(secret: string): readonly string[] {
	return secret.includes('\n') ? ['+', '-', ' '].map((sign) => secret.replaceAll('\n', `\n${sign}`)) : [];
}

/** Where the exact secrets and all that looks like one lie, in order and without overlap. */
export function rangesToHide(text: string, exact: readonly string[]): readonly Range[] {
	const ranges = [...secretRanges(text)];
	for (const secret of exact) {
		for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length)) {
			ranges.push([at, at + secret.length]);
		}
	}
	return ranges.length < 2 ? ranges : merged(ranges);
}

function merged(ranges: readonly Range[]): readonly Range[] {
	const out: [number, number][] = [];
	for (const [start, end] of [...ranges].sort((a, b) => a[0] - b[0])) {
		const last = out.at(-1);
		if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end);
		else out.push([start, end]);
	}
	return out;
}

function redactText(text: string, exact: readonly string[]): string {
	if (text.length < MIN_SECRET_LENGTH) return text;
	const ranges = rangesToHide(text, exact);
	if (ranges.length === 0) return text;
	const parts: string[] = [];
	let at = 0;
	for (const [start, end] of ranges) {
		parts.push(text.slice(at, start), REDACTED);
		at = end;
	}
	parts.push(text.slice(at));
	return parts.join('');
}

function redactValue(value: Json | undefined, text: (input: string) => string, depth: number): Json | undefined {
	if (typeof value === 'string') return text(value);
	// What is too deep to be recorded is refused by the journal; here it must only not exhaust the stack.
	if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
	if (Array.isArray(value)) return redactArray(value, text, depth + 1);
	return redactObject(value as JsonObject, text, depth + 1);
}

function redactArray(items: readonly Json[], text: (input: string) => string, depth: number): Json {
	let copy: Json[] | null = null;
	for (let i = 0; i < items.length; i++) {
		const clean = redactValue(items[i], text, depth) ?? null;
		if (clean !== items[i] && copy === null) copy = items.slice();
		if (copy !== null) copy[i] = clean;
	}
	return copy ?? items;
}

function redactObject(object: JsonObject, text: (input: string) => string, depth: number): JsonObject {
	let copy: { [key: string]: Json | undefined } | null = null;
	for (const key of Object.keys(object)) {
		const clean = redactValue(object[key], text, depth);
		if (clean === object[key]) continue;
		copy ??= { ...object };
		copy[key] = clean;
	}
	return copy ?? object;
}
