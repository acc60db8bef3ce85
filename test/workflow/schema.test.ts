import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import type { Verdict } from '../../engine/contract.ts';
import type { JsonObject } from '../../engine/json.ts';
import { agentSchema, configSchema, workflowSchema } from '../../engine/workflow/schema.ts';
import { verdict } from '../../generated/verdict.mjs';
import published from '../../generated/workflow.schema.json' with { type: 'json' };
import { builtinOverlays } from '../../overlays/index.ts';

const schemas = {
	workflow: workflowSchema(builtinOverlays),
	config: configSchema(builtinOverlays),
	agent: agentSchema(),
};

describe.each(Object.entries(schemas))('the %s schema', (_name, schema) => {
	test('is a schema', () => {
		expect(() => new Ajv({ allowUnionTypes: true, strictRequired: false }).compile(schema)).not.toThrow();
	});

	test('describes every key', () => {
		expect(undescribed(schema)).toEqual([]);
	});
});

test('the generated workflow schema is today’s', () => {
	expect(published).toEqual(JSON.parse(JSON.stringify(schemas.workflow)));
});

test('the options of every built-in overlay are in it', () => {
	const { overlays } = schemas.workflow['definitions'] as { readonly overlays: { readonly properties: JsonObject } };
	expect(Object.keys(overlays.properties)).toEqual(builtinOverlays.map((definition) => definition.name));
});

describe('a verdict', () => {
	const good: readonly Verdict[] = [
		{ kind: 'pass' },
		{ kind: 'pass', amend: { brief: 'x', output: 'y' }, note: 'n', record: { a: 1 } },
		{ kind: 'rework', feedback: 'do it again', findings: [{ severity: 'high', issue: 'x' }], by: 'human' },
		{ kind: 'rework', feedback: 'f', fixers: [{ agent: 'fixer', files: ['a.ts'], feedback: 'here' }] },
		{ kind: 'ask', questions: [{ id: 'q', to: 'human', brief: { prompt: 'May I?' }, choices: ['yes', 'no'] }] },
		{ kind: 'ask', questions: [{ id: 'q', to: 'agent:reviewer', brief: { prompt: '' }, reviewId: 'r' }] },
		{ kind: 'fail', reason: 'no', code: 'X' },
	];
	test.each(good)('of a known shape is accepted: %j', (value) => expect(verdict(value)).toBe(true));

	test.each([
		null,
		'pass',
		{},
		{ kind: 'maybe' },
		{ kind: 'pass', feedback: 'x' },
		{ kind: 'pass', record: [] },
		{ kind: 'rework' },
		{ kind: 'rework', feedback: '' },
		{ kind: 'rework', feedback: 'x', by: 'nobody' },
		{ kind: 'rework', feedback: 'x', findings: [{ issue: 'x' }] },
		{ kind: 'ask', questions: [] },
		{ kind: 'ask', questions: [{ id: '../q', to: 'human', brief: { prompt: 'x' } }] },
		{ kind: 'ask', questions: [{ id: 'q', to: 'agent:', brief: { prompt: 'x' } }] },
		{ kind: 'ask', questions: [{ id: 'q', to: 'human' }] },
		{ kind: 'fail' },
		{ kind: 'fail', reason: 'x', extra: 1 },
	])('of another shape is refused: %j', (value) => expect(verdict(value)).toBe(false));
});

/** Paths of keys without a description. */
function undescribed(schema: unknown, path = ''): readonly string[] {
	if (schema === null || typeof schema !== 'object') return [];
	return Object.entries(schema).flatMap(([key, value]) => {
		const here = `${path}/${key}`;
		if (key !== 'properties') return undescribed(value, here);
		return Object.entries(value as { readonly [name: string]: JsonObject }).flatMap(([name, property]) => {
			const described = property['$ref'] !== undefined || typeof property['description'] === 'string';
			return [...(described ? [] : [`${here}/${name}`]), ...undescribed(property, `${here}/${name}`)];
		});
	});
}
