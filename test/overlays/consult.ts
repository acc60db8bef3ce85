/** Consults an overlay the way a host does: whatever it says must be a verdict that the host accepts. */
import { Ajv } from 'ajv';
import { expect } from 'vitest';
import type { Moment, OverlayDefinition, Question, Verdict } from '../../engine/contract.ts';
import { verdictSchema } from '../../engine/workflow/verdict-schema.ts';
import { kit, momentOf } from './moment.ts';

const isVerdict = new Ajv({ strict: false }).compile(verdictSchema);
const signal = new AbortController().signal;

/** The overlay's verdict after an attempt. */
export async function verdictAfter<Options>(
	definition: OverlayDefinition<Options>,
	options: Options,
	parts: Partial<Moment> = {},
): Promise<Verdict> {
	const verdict = await definition.create(options, kit).after?.(momentOf(parts), { signal });
	if (verdict === undefined) throw new Error('there is no hook "after"');
	expect(isVerdict(JSON.parse(JSON.stringify(verdict))), JSON.stringify(isVerdict.errors)).toBe(true);
	return verdict;
}

/** The one question of a verdict that asks. */
export function questionOf(verdict: Verdict): Question {
	if (verdict.kind !== 'ask') throw new Error(`not a question, but ${verdict.kind}`);
	expect(verdict.questions).toHaveLength(1);
	return verdict.questions[0]!;
}

/** Whether options fit the overlay's schema. */
export function fits(definition: OverlayDefinition<never>, options: unknown): boolean {
	return new Ajv({ strict: false }).compile(definition.options)(options) as boolean;
}
