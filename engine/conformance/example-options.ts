/** Makes up the least options that a schema asks for, so that an overlay can be tried without a workflow. */
import type { Json, JsonObject } from '../json.ts';

type Schema = { readonly [keyword: string]: Json | undefined };

/** The required members, each with its default, its first allowed value, or something of its type. */
export function exampleOptions(schema: JsonObject): JsonObject {
	const { properties, required } = schema as { readonly properties?: unknown; readonly required?: unknown };
	if (!isSchema(properties) || !Array.isArray(required)) return {};
	return Object.fromEntries(required.map((name) => [String(name), exampleOf(properties[String(name)])]));
}

function exampleOf(schema: unknown): Json {
	if (!isSchema(schema)) return 'example';
	const { default: usual, examples, enum: allowed, const: only, type, anyOf, oneOf } = schema;
	if (usual !== undefined) return usual;
	if (only !== undefined) return only;
	for (const list of [examples, allowed]) if (Array.isArray(list) && list[0] !== undefined) return list[0] as Json;
	for (const list of [anyOf, oneOf]) if (Array.isArray(list)) return exampleOf(list[0]);
	return ofType(Array.isArray(type) ? type[0] : type, schema);
}

function ofType(type: unknown, schema: Schema): Json {
	switch (type) {
		case 'object':
			return exampleOptions(schema as JsonObject);
		case 'array':
			return Array.from({ length: Number(schema['minItems'] ?? 0) }, () => exampleOf(schema['items']));
		case 'integer':
		case 'number':
			return (schema['minimum'] as Json | undefined) ?? 1;
		case 'boolean':
			return true;
		case 'null':
			return null;
		default:
			return 'example';
	}
}

function isSchema(value: unknown): value is Schema {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
