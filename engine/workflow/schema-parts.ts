/** Pieces that the schemas of workflow, settings and agent files share. Types are plain unions, never `oneOf`: clearer errors. */
import { DURATION_PATTERN } from '../duration.ts';
import type { JsonObject } from '../json.ts';

/** What ids of tasks, agents and overlays look like: nothing that could be a path. */
export const ID_PATTERN = '^[a-z0-9][a-z0-9_-]{0,63}$';

/** Kinds of evidence a check can give. */
export const CHECK_KINDS = ['acceptance', 'tests', 'lint', 'coverage', 'security', 'operational'] as const;

/** What an overlay's own breakdown may lead to. */
export const ON_ERROR = ['fail', 'warn', 'skip'] as const;

/** A text that says something. */
export function text(description: string, more: JsonObject = {}): JsonObject {
	return { type: 'string', minLength: 1, description, ...more };
}

/** A length of time: `20m`, `1h30m`, `500ms`, or a number of seconds. */
export function duration(description: string): JsonObject {
	return {
		type: ['string', 'number'],
		pattern: DURATION_PATTERN,
		minimum: 0,
		description: `${description} Written like 30s, 20m or 1h30m; a bare number is seconds.`,
	};
}

/** A whole number within bounds. */
export function count(description: string, minimum: number, maximum: number): JsonObject {
	return { type: 'integer', minimum, maximum, description };
}

/** A list of texts, none of them empty or there twice. */
export function texts(description: string, more: JsonObject = {}): JsonObject {
	return { type: 'array', items: { type: 'string', minLength: 1 }, uniqueItems: true, description, ...more };
}

/** An object with exactly these keys. */
export function keys(description: string, properties: JsonObject, required: readonly string[] = []): JsonObject {
	const more = required.length > 0 ? { required } : {};
	return { type: 'object', additionalProperties: false, properties, description, ...more };
}

/** An object whose keys are ids and whose values are all alike. */
export function byId(description: string, value: JsonObject, more: JsonObject = {}): JsonObject {
	return {
		type: 'object',
		propertyNames: { pattern: ID_PATTERN },
		additionalProperties: value,
		description,
		...more,
	};
}

/** A command: a list of arguments, or one string for the shell. */
export function command(description: string): JsonObject {
	return {
		type: ['string', 'array'],
		minLength: 1,
		minItems: 1,
		items: { type: 'string' },
		description: `${description} A list of arguments, or one string for the shell.`,
	};
}
