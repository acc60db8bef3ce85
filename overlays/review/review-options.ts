/** The options of `agentic_review`, as written in a workflow. */
import type { Attachment, OptionProblem } from '../../engine/contract.ts';
import type { JsonObject } from '../../engine/json.ts';
import { conditionProblems } from '../shared/exit-conditions.ts';
import { QUALITY_CHECKS } from './parse-verdict.ts';

export interface ReviewOptions {
	readonly coder_agent?: string;
	readonly reviewer_agent: string;
	readonly max_iterations?: number;
	readonly exit_conditions?: readonly string[];
	readonly reviewer_context?: 'history' | 'fresh';
	readonly on_contract_violation?: 'fail' | 'retry' | 'hil';
	readonly protocol?: 'decision' | 'drift';
}

/** Reviews a task may have before a person is asked, where the workflow says nothing. */
export const DEFAULT_MAX_ITERATIONS = 3;

/** Reviews after which a person can no longer order one more round. */
export const HARD_CAP = 5;

/** A workflow that asks for more reviews than the usual cap means it: then its own limit is the cap. */
export function hardCap(options: ReviewOptions): number {
	return Math.max(HARD_CAP, options.max_iterations ?? DEFAULT_MAX_ITERATIONS);
}

export const reviewOptionsSchema: JsonObject = {
	type: 'object',
	additionalProperties: false,
	required: ['reviewer_agent'],
	properties: {
		coder_agent: { type: 'string', description: "Who writes the work: the task's own agent. Never the reviewer." },
		reviewer_agent: { type: 'string', description: 'Who reviews the work. Never the coder.' },
		max_iterations: {
			type: 'integer',
			minimum: 1,
			maximum: 1000,
			default: DEFAULT_MAX_ITERATIONS,
			description: 'Reviews before the work goes to a person.',
		},
		exit_conditions: {
			type: 'array',
			items: { type: 'string', minLength: 1 },
			minItems: 1,
			default: ['review.decision == GO'],
			description: 'Expressions that must all hold, besides a GO, for the work to pass.',
		},
		reviewer_context: {
			enum: ['history', 'fresh'],
			default: 'history',
			description: 'Whether the reviewer is shown its earlier NO_GO decisions (history) or only the work (fresh).',
		},
		on_contract_violation: {
			enum: ['fail', 'retry', 'hil'],
			default: 'fail',
			description:
				'What a reply without one clear verdict leads to: the task fails, the reviewer is asked once more, or a person decides.',
		},
		protocol: {
			enum: ['decision', 'drift'],
			default: 'decision',
			description:
				'How the reviewer answers: {"decision": "GO" | "NO_GO", "feedback"} or {"verdict": "pass" | "drift", "followUpPrompt"}.',
		},
	},
};

type JudgedTask = Pick<Attachment<unknown>['task'], 'agent' | 'checks'>;

/** What the schema cannot say: roles never switch and never meet, and every expression must parse. */
export function reviewProblems(options: ReviewOptions, task: JudgedTask): readonly OptionProblem[] {
	const about = { ...CONDITIONS, checks: task.checks };
	return [...roleProblems(options, task.agent), ...conditionProblems(options.exit_conditions ?? [], about)];
}

function roleProblems(options: ReviewOptions, taskAgent: string): readonly OptionProblem[] {
	const coder = options.coder_agent ?? taskAgent;
	if (coder === options.reviewer_agent) {
		return [
			{
				path: ['reviewer_agent'],
				message: `coder and reviewer are the same agent, "${coder}"`,
				remedy: 'name another agent as reviewer_agent: nobody reviews their own work',
			},
		];
	}
	if (options.coder_agent !== undefined && taskAgent !== '' && options.coder_agent !== taskAgent) {
		return [
			{
				path: ['coder_agent'],
				message: `coder_agent is "${options.coder_agent}", but the task's agent is "${taskAgent}"`,
				remedy: 'name the same agent in both places, or leave coder_agent out',
			},
		];
	}
	return [];
}

/** What exit conditions can ask about, in the words of the overlay's scope. */
const CONDITIONS = {
	paths: [
		'review.decision',
		'review.iteration',
		'review.findings',
		...QUALITY_CHECKS.map((name) => `review.quality_checks.${name}`),
	],
	example: 'review.decision == GO and checks.tests.ok',
};
