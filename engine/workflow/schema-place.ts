/** Names places in a file the way a person would: `retry of task "design"`. */
import { quote } from '../diagnostic.ts';
import type { JsonObject } from '../json.ts';
import type { FileKind } from './check-shape.ts';
import type { Pointer } from './source.ts';

/** What a schema is about: a file, or the options of an overlay. */
export type Subject = FileKind | 'options';

/** The part of a schema that rules the value at a pointer. */
export function schemaAt(schema: JsonObject, pointer: Pointer): JsonObject {
	let at = schema;
	for (const step of pointer) at = resolve(schema, below(at, step));
	return at;
}

/** `in task "design"`, with a space before it; nothing at the top of a file. */
export function within(pointer: Pointer, kind: Subject): string {
	const owner = ownerOf(pointer);
	if (owner !== '') return ` in ${owner}`;
	return { workflow: '', config: ' in the settings', agent: ' in this agent', options: ' in its options' }[kind];
}

/** A value's own name, and whose it is. */
export function nameOf(pointer: Pointer, kind: Subject): string {
	if (pointer.length === 0) return WHOLE[kind];
	const owner = ownerOf(pointer);
	const own = pointer.slice(pointer.findIndex((_, length) => ownerOf(pointer.slice(0, length)) === owner));
	if (pointer.every((_, length) => ownerOf(pointer.slice(0, length)) !== owner)) return owner;
	const last = String(own.at(-1));
	const isEntry = /^\d+$/.test(last);
	const name = quote(own.slice(0, isEntry ? -1 : undefined).join('.'));
	const whole = isEntry ? `entry ${Number(last) + 1} of ${name}` : name;
	return owner === '' ? whole : `${whole} of ${owner}`;
}

const WHOLE: { readonly [S in Subject]: string } = {
	workflow: 'the workflow file',
	config: 'the settings file',
	agent: 'the agent file',
	options: '"options"',
};

function below(schema: JsonObject, step: string | number): JsonObject {
	const properties = (schema['properties'] ?? {}) as JsonObject;
	const member = Object.hasOwn(properties, step) ? properties[String(step)] : schema['additionalProperties'];
	const found = member ?? schema['items'];
	return found !== null && typeof found === 'object' ? (found as JsonObject) : ((schema['items'] as JsonObject) ?? {});
}

function resolve(schema: JsonObject, part: JsonObject): JsonObject {
	const target = part['$ref'];
	if (typeof target !== 'string') return part;
	const name = target.slice(target.lastIndexOf('/') + 1);
	return (schema['definitions'] as { readonly [name: string]: JsonObject })[name] ?? {};
}

function ownerOf(pointer: Pointer): string {
	const overlays = pointer.indexOf('overlays');
	if (overlays >= 0 && pointer.length > overlays + 1) {
		return `overlay ${quote(String(pointer[overlays + 1]))} of ${ownerOf(pointer.slice(0, overlays))}`;
	}
	const checks = pointer.indexOf('checks');
	if (checks >= 0 && pointer.length > checks + 1) {
		return `check ${Number(pointer[checks + 1]) + 1} of ${ownerOf(pointer.slice(0, checks))}`;
	}
	return sectionOf(pointer);
}

function sectionOf(pointer: Pointer): string {
	const [section, name] = pointer;
	if (section === 'defaults') return 'the defaults';
	if (section === 'prompts') return 'the prompts';
	if (name === undefined) return '';
	if (section === 'tasks') return `task ${quote(String(name))}`;
	return section === 'agents' ? `agent ${quote(String(name))}` : '';
}
