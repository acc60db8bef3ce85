/** The JSON Schema of a verdict, exactly as `contract.ts` types it: what an overlay returns is never trusted unread. */
import type { JsonObject } from '../json.ts';

const text = { type: 'string' };
const record = { type: 'object' };
const shown = { type: 'string', minLength: 1 };

const finding = closed(
	{
		file: text,
		line: { type: 'integer' },
		severity: shown,
		issue: shown,
		details: text,
		fix: text,
		confidence: { type: 'number' },
		reviewer: text,
	},
	['severity', 'issue'],
);

const fixer = closed({ agent: shown, files: { type: 'array', items: text }, feedback: text }, ['agent', 'feedback']);

const members = closed(
	{
		id: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$' },
		to: { type: 'string', pattern: '^(human|agent:[a-z0-9][a-z0-9_-]{0,63})$' },
		brief: closed({ prompt: text }, ['prompt']),
		role: shown,
		choices: { type: 'array', items: shown, minItems: 1 },
		trigger: shown,
		context: record,
		reviewId: shown,
	},
	['id', 'to', 'brief'],
);

/** What would have no effect is refused: a person has no role, an agent chooses nothing. */
const question = {
	...members,
	if: { properties: { to: { const: 'human' } } },
	// biome-ignore lint/suspicious/noThenProperty: the JSON Schema keyword
	then: { properties: { role: false, reviewId: false } },
	else: { properties: { choices: false, trigger: false, context: false } },
};

const verdicts: { readonly [kind: string]: JsonObject } = {
	pass: closed({ kind: true, amend: closed({ brief: text, output: text }, []), note: text, record }, ['kind']),
	rework: closed(
		{
			kind: true,
			feedback: shown,
			findings: { type: 'array', items: finding },
			fixers: { type: 'array', items: fixer },
			by: { enum: ['agent', 'human'] },
			record,
		},
		['kind', 'feedback'],
	),
	ask: closed({ kind: true, questions: { type: 'array', items: question, minItems: 1 }, record }, [
		'kind',
		'questions',
	]),
	fail: closed({ kind: true, reason: shown, code: shown, record }, ['kind', 'reason']),
};

/** A verdict of any kind; which keys it may have depends on `kind`. */
export const verdictSchema: JsonObject = {
	$schema: 'http://json-schema.org/draft-07/schema#',
	title: 'sdd verdict',
	type: 'object',
	required: ['kind'],
	properties: { kind: { enum: Object.keys(verdicts) } },
	allOf: Object.entries(verdicts).map(([kind, shape]) => ({
		if: { properties: { kind: { const: kind } } },
		// biome-ignore lint/suspicious/noThenProperty: the JSON Schema keyword
		then: shape,
	})),
};

function closed(properties: JsonObject, required: readonly string[]): JsonObject {
	return { type: 'object', additionalProperties: false, properties, ...(required.length > 0 ? { required } : {}) };
}
