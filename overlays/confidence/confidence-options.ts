/** The options of `confidence`, as written in a workflow. */
import type { OptionProblem } from '../../engine/contract.ts';
import type { JsonObject } from '../../engine/json.ts';

/** What the score can be made of. */
export const METRICS = ['test_coverage', 'lint_score', 'security_score', 'checklist_completion', 'llm_judge'] as const;
export type Metric = (typeof METRICS)[number];

export interface ConfidenceOptions {
	readonly evaluator_agent?: string;
	readonly weights?: { readonly [M in Metric]?: number };
	readonly threshold?: number;
	readonly on_low?: 'note' | 'ask';
}

export const DEFAULT_THRESHOLD = 0.7;

/** What a metric counts in the mean; 0 leaves it out. */
export function weightOf(metric: Metric, { weights }: ConfidenceOptions): number {
	return weights?.[metric] ?? 1;
}

const weight = (what: string): JsonObject => ({
	type: 'number',
	minimum: 0,
	maximum: 1000,
	default: 1,
	description: what,
});

export const confidenceOptionsSchema: JsonObject = {
	type: 'object',
	additionalProperties: false,
	properties: {
		evaluator_agent: {
			type: 'string',
			description: 'Who gives the score of the metric llm_judge. Never the coder; without it there is no llm_judge.',
		},
		weights: {
			type: 'object',
			additionalProperties: false,
			properties: {
				test_coverage: weight('What the figure of the checks of kind coverage counts.'),
				lint_score: weight('What the share of passing checks of kind lint counts.'),
				security_score: weight('What the share of passing checks of kind security counts.'),
				checklist_completion: weight('What the share of passing checks of kind acceptance counts.'),
				llm_judge: weight("What the evaluator's score counts."),
			},
			description: 'What each metric counts in the mean; 1 where nothing is said, 0 leaves it out.',
		},
		threshold: {
			type: 'number',
			minimum: 0,
			maximum: 1,
			default: DEFAULT_THRESHOLD,
			description: 'Below this the score is low.',
		},
		on_low: {
			enum: ['note', 'ask'],
			default: 'note',
			description: 'What a low score leads to: a note in the record, or a question to a person.',
		},
	},
};

/** What the schema cannot say: nobody evaluates their own work, and there must be something to weigh. */
export function confidenceProblems(
	options: ConfidenceOptions,
	task: { readonly agent: string },
): readonly OptionProblem[] {
	const { evaluator_agent: evaluator, weights = {} } = options;
	if (evaluator !== undefined && evaluator === task.agent) {
		return [
			{
				path: ['evaluator_agent'],
				message: `coder and evaluator are the same agent, "${evaluator}"`,
				remedy: 'name another agent as evaluator_agent: nobody evaluates their own work',
			},
		];
	}
	if (evaluator === undefined && (weights.llm_judge ?? 0) > 0) {
		const remedy = 'name an evaluator_agent, or take the weight out';
		return [
			{ path: ['weights', 'llm_judge'], message: 'llm_judge has a weight, but nobody to give its score', remedy },
		];
	}
	if (METRICS.some((metric) => weightOf(metric, options) > 0)) return [];
	return [
		{ path: ['weights'], message: 'every metric has the weight 0', remedy: 'give at least one of them a weight' },
	];
}
