/** What an agent's answer cost, as logs hold it: unknown is null, never 0. */
import type { Usage } from '../../engine/contract.ts';
import type { JsonObject } from '../../engine/json.ts';

/** The record of a usage. */
export function usageRecord(usage: Usage | undefined): JsonObject {
	return {
		input_tokens: usage?.inputTokens ?? null,
		output_tokens: usage?.outputTokens ?? null,
		cost_usd: usage?.costUsd ?? null,
	};
}
