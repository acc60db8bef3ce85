/** Puts a validator's errors into our own words: one problem per real mistake, with a guess at what was meant. */
import type { ErrorObject } from 'ajv';
import type { OptionProblem, OverlayDefinition } from '../contract.ts';
import { quote } from '../diagnostic.ts';
import { DURATION_PATTERN } from '../duration.ts';
import type { ErrorCode } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { didYouMean, sharingWords } from '../suggest.ts';
import type { FileKind } from './check-shape.ts';
import { agentSchema, configSchema, workflowSchema } from './schema.ts';
import { nameOf, type Subject, schemaAt, within } from './schema-place.ts';
import type { Pointer, Problem, Source } from './source.ts';

/** One problem for each mistake the validator found. */
export function describeShape(
	kind: FileKind,
	source: Source,
	errors: readonly ErrorObject[],
	definitions: readonly OverlayDefinition[],
): readonly Problem[] {
	const context: Context = { kind, source, value: source.value, schema: schemaOf(kind, definitions), definitions };
	const real = errors.filter((error) => error.keyword !== 'if' && error.keyword !== 'propertyNames');
	const described = real.map((error) => describe(error, context)).filter((problem) => problem !== undefined);
	// Of a file in a format we do not know, nothing else can be said.
	const version = described.find((problem) => problem.code === 'WORKFLOW_VERSION');
	return version === undefined ? described : [version];
}

/** One problem for each mistake in the options of an overlay. */
export function describeOptions(
	schema: JsonObject,
	value: JsonObject,
	errors: readonly ErrorObject[],
): readonly OptionProblem[] {
	const real = errors.filter((error) => error.keyword !== 'if' && error.keyword !== 'propertyNames');
	return real.map((error) => {
		const at = toPointer(error.instancePath);
		const { message, remedy, pointer = at } = wordsFor(error, at, { kind: 'options', value, schema });
		return { path: pointer.map(String), message, remedy };
	});
}

/** What is described, and by which schema. */
interface Described {
	readonly kind: Subject;
	readonly value: unknown;
	readonly schema: JsonObject;
}

interface Context extends Described {
	readonly kind: FileKind;
	readonly source: Source;
	readonly definitions: readonly OverlayDefinition[];
}

interface Words {
	readonly code: ErrorCode;
	readonly message: string;
	readonly remedy: string;
	readonly on?: 'key' | 'value';
	readonly pointer?: Pointer;
}

function schemaOf(kind: FileKind, definitions: readonly OverlayDefinition[]): JsonObject {
	if (kind === 'agent') return agentSchema();
	return kind === 'config' ? configSchema(definitions) : workflowSchema(definitions);
}

function describe(error: ErrorObject, context: Context): Problem | undefined {
	const pointer = toPointer(error.instancePath);
	if (isBelowMistakenOverlay(pointer, context)) return undefined;
	const words = wordsFor(error, pointer, context);
	const place = { source: context.source, pointer: words.pointer ?? pointer, on: words.on ?? 'value' };
	return { code: words.code, severity: 'error', message: words.message, remedy: words.remedy, place };
}

/** An overlay that is neither built in nor brought by `use` gets one problem of its own; its options cannot be judged. */
function isBelowMistakenOverlay(pointer: Pointer, context: Context): boolean {
	const at = pointer.indexOf('overlays');
	if (at < 0 || pointer.length < at + 2) return false;
	const name = String(pointer[at + 1]);
	if (context.definitions.some((definition) => definition.name === name)) return false;
	const entry = valueAt(context.source.value, pointer.slice(0, at + 2));
	const common = ['enabled', 'use', 'timeout', 'on_error', 'options'];
	if (entry === null || typeof entry !== 'object' || 'use' in entry) return false;
	return pointer.length === at + 2 && Object.keys(entry).some((key) => !common.includes(key));
}

function wordsFor(error: ErrorObject, pointer: Pointer, context: Described): Words {
	switch (error.keyword) {
		case 'additionalProperties':
			return unknownKey(String(error.params['additionalProperty']), pointer, context);
		case 'required':
			return missingKey(String(error.params['missingProperty']), pointer, context);
		case 'type':
			return wrongType(error, pointer, context);
		case 'const':
			return context.kind === 'options'
				? notThat(error, pointer, context)
				: wrongVersion(valueAt(context.value, pointer));
		case 'enum':
			return notAmong(error, pointer, context);
		case 'pattern':
			return error.propertyName === undefined ? wrongForm(error, pointer, context) : badId(error.propertyName, pointer);
		default:
			return outOfBounds(error, pointer, context);
	}
}

function unknownKey(key: string, pointer: Pointer, context: Described): Words {
	const known = Object.keys((schemaAt(context.schema, pointer)['properties'] ?? {}) as object);
	const meant = didYouMean(key, known);
	return {
		code: 'WORKFLOW_UNKNOWN_KEY',
		message: `unknown key ${quote(key)}${within(pointer, context.kind)}`,
		remedy: meant === undefined ? otherKeys(key, pointer, known) : `did you mean "${meant}"?`,
		on: 'key',
		pointer: [...pointer, key],
	};
}

function otherKeys(key: string, pointer: Pointer, known: readonly string[]): string {
	if (key === '<<')
		return 'YAML 1.2 merges nothing: put what tasks share into `defaults`, and what agents share behind `extends`';
	const isOwnOverlay = pointer.at(-2) === 'overlays' && known.includes('use');
	if (isOwnOverlay) return "put an overlay's own options below `options:`";
	const near = sharingWords(key, known);
	return `${near === undefined ? 'remove it' : `perhaps "${near}"`}; known keys are ${known.join(', ')}`;
}

function missingKey(key: string, pointer: Pointer, context: Described): Words {
	const described = schemaAt(context.schema, [...pointer, key])['description'];
	const what = typeof described === 'string' ? `: ${lowerFirst(described)}` : '';
	const remedy = key === 'version' ? 'write `version: "1"` at the top' : `add "${key}"${what}`;
	return {
		code: 'WORKFLOW_MISSING_KEY',
		message: `"${key}" is missing${within(pointer, context.kind)}`,
		remedy,
		on: pointer.length === 0 ? 'value' : 'key',
	};
}

function wrongType(error: ErrorObject, pointer: Pointer, context: Described): Words {
	const types = [error.params['type']].flat().map((type) => TYPE_NAMES[String(type)] ?? String(type));
	const found = valueAt(context.value, pointer);
	return {
		code: 'WORKFLOW_TYPE',
		message: `${nameOf(pointer, context.kind)} must be ${types.join(' or ')}, not ${typeName(found)}`,
		remedy: remedyFromSchema(pointer, context),
		on: found === null ? 'key' : 'value',
	};
}

function wrongVersion(found: unknown): Words {
	const isNumber = typeof found === 'number';
	return {
		code: 'WORKFLOW_VERSION',
		message: isNumber ? `version must be text in quotes, not the number ${found}` : `unknown version ${shown(found)}`,
		remedy: 'write `version: "1"`, the only version this sdd understands',
	};
}

function notThat(error: ErrorObject, pointer: Pointer, context: Described): Words {
	const found = shown(valueAt(context.value, pointer));
	const remedy = `write ${JSON.stringify(error.params['allowedValue'])}`;
	return { code: 'WORKFLOW_VALUE', message: `${nameOf(pointer, context.kind)} cannot be ${found}`, remedy };
}

function notAmong(error: ErrorObject, pointer: Pointer, context: Described): Words {
	const allowed = (error.params['allowedValues'] as readonly unknown[]).map(String);
	const found = valueAt(context.value, pointer);
	const meant = typeof found === 'string' ? didYouMean(found, allowed) : undefined;
	return {
		code: 'WORKFLOW_VALUE',
		message: `${nameOf(pointer, context.kind)} cannot be ${shown(found)}`,
		remedy: meant === undefined ? `choose one of ${allowed.join(', ')}` : `did you mean "${meant}"?`,
	};
}

function badId(id: string, pointer: Pointer): Words {
	return {
		code: 'WORKFLOW_BAD_ID',
		message: `${quote(id)} cannot be an id`,
		remedy: 'use 1 to 64 lower-case letters, digits, "-" and "_", starting with a letter or digit',
		on: 'key',
		pointer: [...pointer, id],
	};
}

function wrongForm(_error: ErrorObject, pointer: Pointer, context: Described): Words {
	const found = valueAt(context.value, pointer);
	const name = nameOf(pointer, context.kind);
	if (pointer.length === 1 && pointer[0] === 'name') return { ...badId(String(found), []), on: 'value', pointer };
	return {
		code: 'WORKFLOW_VALUE',
		message: `${name} cannot be ${shown(found)}`,
		remedy: remedyFromSchema(pointer, context),
	};
}

function outOfBounds(error: ErrorObject, pointer: Pointer, context: Described): Words {
	const { limit } = error.params as { readonly limit?: number };
	const bound = BOUNDS[error.keyword]?.(limit ?? 0) ?? `breaks the rule "${error.keyword}"`;
	return {
		code: 'WORKFLOW_VALUE',
		message: `${nameOf(pointer, context.kind)} ${bound}`,
		remedy: remedyFromSchema(pointer, context),
	};
}

const BOUNDS: { readonly [keyword: string]: (limit: number) => string } = {
	minimum: (limit) => `must be at least ${limit}`,
	exclusiveMinimum: (limit) => `must be more than ${limit}`,
	maximum: (limit) => `must be at most ${limit}`,
	exclusiveMaximum: (limit) => `must be less than ${limit}`,
	minLength: () => 'must not be empty',
	maxLength: (limit) => `must not be longer than ${limit} characters`,
	minItems: (limit) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} entries`),
	maxItems: (limit) => `must not have more than ${limit} entries`,
	minProperties: () => 'must not be empty',
	maxProperties: (limit) => `must not have more than ${limit} entries`,
	uniqueItems: () => 'has an entry twice',
};

const TYPE_NAMES: { readonly [type: string]: string } = {
	string: 'text',
	number: 'a number',
	integer: 'a whole number',
	boolean: 'true or false',
	array: 'a list',
	object: 'a map of keys',
	null: 'empty',
};

function typeName(value: unknown): string {
	if (value === null || value === undefined) return 'empty';
	if (Array.isArray(value)) return 'a list';
	if (typeof value === 'object') return 'a map of keys';
	if (typeof value === 'string') return `the text ${quote(value, 40)}`;
	return typeof value === 'number' ? `the number ${value}` : String(value);
}

function shown(value: unknown): string {
	return typeof value === 'string' ? quote(value) : typeName(value);
}

function remedyFromSchema(pointer: Pointer, context: Described): string {
	const wanted = wantedBy(schemaAt(context.schema, pointer));
	const described = lowerFirst(nearestDescription(pointer, context));
	return wanted === '' ? described : `write ${wanted} – ${described}`;
}

function nearestDescription(pointer: Pointer, context: Described): string {
	const described = schemaAt(context.schema, pointer)['description'];
	if (typeof described === 'string') return described;
	return pointer.length === 0 ? 'see `sdd schema`' : nearestDescription(pointer.slice(0, -1), context);
}

function wantedBy({ type, minimum, maximum, pattern }: JsonObject): string {
	if (pattern === DURATION_PATTERN) return 'a length of time';
	// Other patterns say nothing to people; the description gives examples.
	if (pattern !== undefined || type === undefined) return '';
	const bounds = maximum === undefined ? '' : ` from ${minimum ?? 0} to ${maximum}`;
	const names = [type].flat().map((one) => {
		const name = TYPE_NAMES[String(one)] ?? String(one);
		return one === 'integer' || one === 'number' ? name + bounds : name;
	});
	return names.join(' or ');
}

function lowerFirst(text: string): string {
	return /^[A-Z][a-z ]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

function toPointer(instancePath: string): Pointer {
	const steps = instancePath.split('/').slice(1);
	return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function valueAt(value: unknown, pointer: Pointer): unknown {
	let at = value;
	for (const step of pointer) {
		if (at === null || typeof at !== 'object' || !Object.hasOwn(at, step)) return undefined;
		at = (at as { readonly [key: string]: unknown })[step];
	}
	return at;
}
