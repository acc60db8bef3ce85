import { expect, it } from 'vitest';
import type { JsonObject } from '../../engine/json.ts';
import { agentSchema, configSchema, workflowSchema } from '../../engine/workflow/schema.ts';
import { builtinOverlays } from '../../overlays/index.ts';
import { codesIn, read, tableBelow } from './read-docs.ts';

const workflow = workflowSchema(builtinOverlays);
const parts = workflow['definitions'] as { readonly [name: string]: JsonObject };
const config = configSchema(builtinOverlays);
const settings = propertiesOf(parts['defaults']);
const custom = (parts['overlays'] as { readonly additionalProperties: JsonObject }).additionalProperties;

const TABLES: readonly (readonly [string, JsonObject])[] = [
	['workflow', propertiesOf(workflow)],
	['agent', propertiesOf(agentSchema())],
	['task', without(propertiesOf(parts['task']), settings)],
	['settings', settings],
	['check', propertiesOf(parts['check'])],
	['retry', propertiesOf(parts['retry'])],
	['overlay', propertiesOf(custom)],
	...builtinOverlays.map(({ name, options }) => [name, propertiesOf(options)] as const),
	['config', propertiesOf(config)],
	['prompts', propertiesOf((config['properties'] as { readonly prompts: JsonObject }).prompts)],
];

it.each(TABLES)(
	'the table of %s in docs/workflow.md has a row for each key of its schema, and no other',
	(name, properties) => {
		const rows = tableBelow(read('docs/workflow.md'), `<!-- schema: ${name} -->`);
		expect(rows.map(([key = '']) => codesIn(key)[0]).sort()).toEqual(Object.keys(properties).sort());
		for (const row of rows) expect(row, String(row[0])).toHaveLength(4);
	},
);

it.each(TABLES)('the table of %s says the defaults and the values that its schema knows', (name, properties) => {
	for (const [key = '', type = '', byDefault = ''] of tableBelow(
		read('docs/workflow.md'),
		`<!-- schema: ${name} -->`,
	)) {
		const about = properties[codesIn(key)[0] ?? ''] as {
			readonly default?: unknown;
			readonly enum?: readonly string[];
		};
		if (about.default !== undefined) expect(codesIn(byDefault), key).toContain(String(about.default));
		for (const value of about.enum ?? []) expect(codesIn(type), key).toContain(value);
	}
});

it('the tables of docs/workflow.md are all of a schema', () => {
	const markers = [...read('docs/workflow.md').matchAll(/<!-- schema: (\S+) -->/g)].map(([, name]) => name);
	expect(markers.sort()).toEqual(TABLES.map(([name]) => name).sort());
});

it.each(['OverlayDefinition', 'Moment'])('docs/overlays.md describes every member of %s, and no other', (name) => {
	const rows = tableBelow(read('docs/overlays.md'), `<!-- contract: ${name} -->`);
	expect(rows.flatMap(([member = '']) => codesIn(member)).sort()).toEqual([...membersOf(name)].sort());
});

it('docs/audit.md describes every kind of event, and no other', () => {
	const kinds = [...read('engine/events.ts').matchAll(/readonly kind: '([a-z_]+)'/g)].map(([, kind]) => kind);
	const rows = tableBelow(read('docs/audit.md'), '<!-- event kinds -->');
	expect(rows.flatMap(([kind = '']) => codesIn(kind)).sort()).toEqual(['opened', ...new Set(kinds)].sort());
});

it('docs/agents.md describes every key of a scripted reply, and no other', () => {
	const keys = /const KEYS = \[([^\]]+)\]/.exec(read('agents/replies.ts'))?.[1] ?? '';
	const rows = tableBelow(read('docs/agents.md'), '<!-- reply keys -->');
	expect(rows.flatMap(([key = '']) => codesIn(key)).sort()).toEqual(
		[...keys.matchAll(/'(\w+)'/g)].map(([, key]) => key).sort(),
	);
});

function propertiesOf(schema: JsonObject | undefined): JsonObject {
	return (schema?.['properties'] ?? {}) as JsonObject;
}

function without(properties: JsonObject, others: JsonObject): JsonObject {
	return Object.fromEntries(Object.entries(properties).filter(([key]) => !Object.hasOwn(others, key)));
}

/** The members of an interface of the contract, read from its source. */
function membersOf(name: string): readonly string[] {
	const body =
		new RegExp(`export interface ${name}(?:<[^{]*>)? \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(
			read('engine/contract.ts'),
		)?.[1] ?? '';
	return [...body.matchAll(/^\t(?:readonly )?(\w+)\??[:(]/gm)].map(([, member = '']) => member);
}
