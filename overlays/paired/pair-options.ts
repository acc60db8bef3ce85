/** The options of `paired_workflow`, as written in a workflow, and who has which role when. */
import type { Attachment, OptionProblem } from '../../engine/contract.ts';
import type { JsonObject } from '../../engine/json.ts';
import { conditionProblems } from '../shared/exit-conditions.ts';

export interface PairOptions {
	readonly driver_agent?: string;
	readonly challenger_agent: string;
	readonly role_switch?: 'session' | 'subtask' | 'checkpoint';
	readonly checkpoint_every?: number;
	readonly max_rounds?: number;
	readonly exit_conditions?: readonly string[];
}

/** Rounds a pair may have before a person is asked, where the workflow says nothing. */
export const DEFAULT_MAX_ROUNDS = 3;

/** Rounds after which a person can no longer order one more. */
const HARD_CAP = 5;

const DEFAULT_CHECKPOINT = 2;

/** A workflow that asks for more rounds than the usual cap means it: then its own limit is the cap. */
export function hardCap({ max_rounds }: PairOptions): number {
	return Math.max(HARD_CAP, max_rounds ?? DEFAULT_MAX_ROUNDS);
}

/** Who does the work and who challenges it. */
export interface Roles {
	readonly driver: string;
	readonly challenger: string;
}

/** The roles of a round (1 for the first), by the workflow's `role_switch`. */
export function rolesIn(round: number, options: PairOptions, taskAgent: string): Roles {
	const first = { driver: options.driver_agent ?? taskAgent, challenger: options.challenger_agent };
	return switchesBefore(round, options) % 2 === 0 ? first : { driver: first.challenger, challenger: first.driver };
}

function switchesBefore(round: number, { role_switch, checkpoint_every }: PairOptions): number {
	switch (role_switch ?? 'session') {
		case 'session':
			return 0;
		case 'subtask':
			return round - 1;
		case 'checkpoint':
			return Math.floor((round - 1) / (checkpoint_every ?? DEFAULT_CHECKPOINT));
	}
}

export const pairOptionsSchema: JsonObject = {
	type: 'object',
	additionalProperties: false,
	required: ['challenger_agent'],
	properties: {
		driver_agent: { type: 'string', description: "Who drives first: the task's own agent. Never the challenger." },
		challenger_agent: { type: 'string', description: 'Who challenges first. Never the driver.' },
		role_switch: {
			enum: ['session', 'subtask', 'checkpoint'],
			default: 'session',
			description:
				'When driver and challenger switch roles: never (session), after every attempt (subtask), or after every few (checkpoint).',
		},
		checkpoint_every: {
			type: 'integer',
			minimum: 1,
			maximum: 1000,
			default: DEFAULT_CHECKPOINT,
			description: 'With `role_switch: checkpoint`: after how many attempts the roles switch.',
		},
		max_rounds: {
			type: 'integer',
			minimum: 1,
			maximum: 1000,
			default: DEFAULT_MAX_ROUNDS,
			description: 'Rounds before the work goes to a person.',
		},
		exit_conditions: {
			type: 'array',
			items: { type: 'string', minLength: 1 },
			minItems: 1,
			default: ['pair.decision == AGREE'],
			description: 'Expressions that must all hold, besides an AGREE, for the work to pass.',
		},
	},
};

/** What exit conditions can ask about. */
const CONDITIONS = {
	paths: ['pair.decision', 'pair.confidence', 'pair.round'],
	example: 'pair.confidence >= 0.8 and checks.tests.ok',
};

type JudgedTask = Pick<Attachment<unknown>['task'], 'agent' | 'checks'>;

/** What the schema cannot say: a pair is two, and every expression must parse. */
export function pairProblems(options: PairOptions, task: JudgedTask): readonly OptionProblem[] {
	const about = { ...CONDITIONS, checks: task.checks };
	return [
		...roleProblems(options, task.agent),
		...switchProblems(options),
		...conditionProblems(options.exit_conditions ?? [], about),
	];
}

function switchProblems({ role_switch, checkpoint_every }: PairOptions): readonly OptionProblem[] {
	if (checkpoint_every === undefined || role_switch === 'checkpoint') return [];
	const message = `checkpoint_every means nothing with role_switch: ${role_switch ?? 'session'}`;
	return [{ path: ['checkpoint_every'], message, remedy: 'set `role_switch: checkpoint`, or leave it out' }];
}

function roleProblems(options: PairOptions, taskAgent: string): readonly OptionProblem[] {
	const driver = options.driver_agent ?? taskAgent;
	if (driver === options.challenger_agent) {
		return [
			{
				path: ['challenger_agent'],
				message: `driver and challenger are the same agent, "${driver}"`,
				remedy: 'name another agent as challenger_agent: nobody challenges their own work',
			},
		];
	}
	if (options.driver_agent !== undefined && taskAgent !== '' && options.driver_agent !== taskAgent) {
		return [
			{
				path: ['driver_agent'],
				message: `driver_agent is "${options.driver_agent}", but the task's agent is "${taskAgent}"`,
				remedy: 'name the same agent in both places, or leave driver_agent out',
			},
		];
	}
	return [];
}
