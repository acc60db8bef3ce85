/** The one place where names change between the contract (camelCase) and what overlays in other languages see (snake_case). */
import type { Answer, Artifact, CheckResult, Moment, Past, Usage } from '../contract.ts';
import type { Json, JsonObject } from '../json.ts';

/** A moment as it goes over the wire. */
export function momentToWire(moment: Moment): JsonObject {
	const { run, workflow, hook, at, attempt, worker, iteration, brief, output, diff, constitution, failure } = moment;
	const { id, agent, description, acceptanceCriteria, inputs, outputs } = moment.task;
	return {
		run,
		workflow,
		hook,
		at,
		task: { id, agent, description, acceptance_criteria: acceptanceCriteria, inputs, outputs },
		attempt,
		worker,
		iteration,
		brief: { prompt: brief.prompt },
		output: { text: output.text },
		artifacts: moment.artifacts.map((artifact: Artifact) => ({ ...artifact })),
		diff,
		touched: [...moment.touched],
		checks: moment.checks.map((check: CheckResult) => ({ ...check })),
		constitution: { ...constitution },
		history: moment.history.map((past: Past) => ({ ...past })),
		answers: Object.fromEntries(
			Object.entries(moment.answers).map(([question, answer]) => [question, answerToWire(answer)]),
		),
		failure: failure === null ? null : { ...failure },
	};
}

function answerToWire({ promptSha256, usage, failed, ...rest }: Answer): JsonObject {
	return {
		...rest,
		...(failed === undefined ? {} : { failed: { ...failed } }),
		...(promptSha256 === undefined ? {} : { prompt_sha256: promptSha256 }),
		...(usage === undefined ? {} : { usage: usageToWire(usage) }),
	};
}

function usageToWire({ inputTokens, outputTokens, costUsd }: Usage): JsonObject {
	return { input_tokens: inputTokens, output_tokens: outputTokens, cost_usd: costUsd };
}

/** A verdict as it came over the wire, not yet checked: only its names are changed, so that every mistake is still in it. */
export function verdictFromWire(value: unknown): unknown {
	if (!isObject(value) || value['kind'] !== 'ask' || !Array.isArray(value['questions'])) return value;
	return { ...value, questions: value['questions'].map(questionFromWire) };
}

function questionFromWire(value: unknown): unknown {
	if (!isObject(value)) return value;
	const { review_id, reviewId, ...rest } = value;
	// The name that modules use is a typo here, and has to stay one.
	const typo = reviewId === undefined ? {} : { 'reviewId (it is review_id here)': reviewId };
	return { ...rest, ...typo, ...(review_id === undefined ? {} : { reviewId: review_id }) };
}

function isObject(value: unknown): value is { readonly [name: string]: Json | undefined } {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
