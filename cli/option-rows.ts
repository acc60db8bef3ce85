/** A JSON Schema of options as rows for people. */
import type { JsonObject } from '../engine/json.ts';
import { printableLine } from '../engine/printable.ts';

type Schema = { readonly [keyword: string]: unknown };

/** Name, type, whether it is needed, default and meaning of each option; those of an object inside follow it. */
export function optionRows(schema: JsonObject, above = ''): readonly (readonly string[])[] {
	const { properties, required } = schema as Schema;
	if (!isSchema(properties)) return [];
	const needed = Array.isArray(required) ? required : [];
	return Object.entries(properties).flatMap(([name, option]) => {
		if (!isSchema(option)) return [];
		const { default: usual, description } = option;
		const row = [
			`${above}${name}`,
			typeText(option),
			needed.includes(name) ? 'yes' : 'no',
			usual === undefined ? '' : JSON.stringify(usual),
			typeof description === 'string' ? printableLine(description, 200) : '',
		];
		return [row, ...optionRows(option as JsonObject, `${above}${name}.`)];
	});
}

function typeText(schema: unknown): string {
	if (!isSchema(schema)) return 'anything';
	const { type, enum: allowed, const: only, items, anyOf, oneOf } = schema;
	if (only !== undefined) return JSON.stringify(only);
	if (Array.isArray(allowed)) return allowed.map(String).join(' | ');
	for (const list of [anyOf, oneOf]) if (Array.isArray(list)) return [...new Set(list.map(typeText))].join(' | ');
	if (type === 'array') return `list of ${typeText(items)}`;
	if (Array.isArray(type)) return type.join(' | ');
	return typeof type === 'string' ? type : 'anything';
}

function isSchema(value: unknown): value is Schema {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
