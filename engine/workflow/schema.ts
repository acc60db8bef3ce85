/**
 * The JSON Schemas (draft-07) of the files people write, as data.
 *
 * Validators are compiled from them ahead of time; `sdd schema` prints the workflow's, so every key has a description.
 */
import type { OverlayDefinition } from '../contract.ts';
import type { JsonObject } from '../json.ts';
import {
	byId,
	CHECK_KINDS,
	command,
	count,
	duration,
	ID_PATTERN,
	keys,
	ON_ERROR,
	text,
	texts,
} from './schema-parts.ts';

const DRAFT = 'http://json-schema.org/draft-07/schema#';

/** More tasks than this in one file are taken for a mistake. */
export const MAX_TASKS = 20_000;

/** The schema of a workflow file, with the options of these overlays in it. */
export function workflowSchema(definitions: readonly OverlayDefinition[]): JsonObject {
	const properties = {
		version: { const: '1', description: 'The version of this format: "1".' },
		name: text('What the workflow is called. Default: the name of the file.', { pattern: ID_PATTERN }),
		description: text('What the workflow is for.'),
		agents: byId('Who does the work, by name. Agents may also be defined in .ai-sdd/agents/<name>.yaml.', ref('agent')),
		defaults: ref('defaults'),
		max_parallel: MAX_PARALLEL,
		tasks: byId('The pieces of work, by id.', ref('task'), { minProperties: 1, maxProperties: MAX_TASKS }),
	};
	const schema = keys('A workflow: agents, tasks, and the overlays that judge them.', properties, ['version', 'tasks']);
	return { $schema: DRAFT, title: 'sdd workflow', ...schema, definitions: parts(definitions) };
}

/** The schema of the project's settings, `.ai-sdd/ai-sdd.yaml`. */
export function configSchema(definitions: readonly OverlayDefinition[]): JsonObject {
	const properties = {
		version: { const: '1', description: 'The version of this format: "1".' },
		defaults: ref('defaults'),
		max_parallel: MAX_PARALLEL,
		python: text('The interpreter of Python overlays: a path, or a name on the PATH. Default: .venv, then python3.'),
		prompts: prompts(definitions),
	};
	const schema = keys("The project's settings.", properties);
	return { $schema: DRAFT, title: 'sdd settings', ...schema, definitions: parts(definitions) };
}

/** The coder's brief is the engine's; all other prompts belong to overlays. */
function prompts(definitions: readonly OverlayDefinition[]): JsonObject {
	const ofOverlays = definitions.flatMap(({ name, templates = {} }) =>
		Object.keys(templates).map((template) => [template, text(`Template of the prompt "${template}" of ${name}.`)]),
	);
	return keys("Templates that replace the built-in prompts: files relative to the project's root.", {
		developer: text("Template of the coder's brief."),
		...Object.fromEntries(ofOverlays),
	});
}

/** The schema of one agent, in a workflow or in `.ai-sdd/agents/<name>.yaml`. */
export function agentSchema(): JsonObject {
	return { $schema: DRAFT, title: 'sdd agent', ...agent() };
}

const MAX_PARALLEL = count('How many tasks may run at the same time. Default: 3.', 1, 256);

function ref(name: string): JsonObject {
	return { $ref: `#/definitions/${name}` };
}

function parts(definitions: readonly OverlayDefinition[]): JsonObject {
	return {
		agent: agent(),
		check: check(),
		retry: retry(),
		overlays: overlays(definitions),
		defaults: keys('What holds for every task that says nothing else.', settings()),
		task: task(),
	};
}

function agent(): JsonObject {
	return keys('Who does work: which adapter, and what it needs.', {
		adapter: text('How the agent is reached: command (any program) or scripted (replies from a file).'),
		extends: text('Another agent whose keys hold where this one says nothing.'),
		run: command('What the command adapter starts. The brief arrives on its standard input.'),
		model: text('The model, for adapters that offer a choice.'),
		timeout: duration('How long one run may take.'),
		env: texts('Names of environment variables it gets besides the basic ones; a trailing * stands for any ending.', {
			items: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*\\*?$' },
		}),
		read_only: { type: 'boolean', description: 'Whether it must leave the files as they are, as a reviewer does.' },
		persona: text("A file, relative to the project's root, that is put whole at the head of its brief."),
		replies: text("For the scripted adapter: the file with its replies, relative to the project's root."),
		max_output: {
			type: ['integer', 'string'],
			minimum: 1,
			pattern: '^[1-9][0-9]*(B|KB|MB)$',
			description: 'How much it may print before it is stopped: bytes, or like 64MB.',
		},
	});
}

function check(): JsonObject {
	const properties = {
		name: text('What the check is called in reports and prompts.'),
		run: command('What is run after each attempt; exit code 0 means passed.'),
		required: { type: 'boolean', default: true, description: 'Whether its failure forbids the work to pass.' },
		kind: { enum: CHECK_KINDS, default: 'tests', description: 'What it is evidence for.' },
		timeout: duration('How long it may take.'),
	};
	return keys('Evidence that the engine gathers itself, after each attempt.', properties, ['name', 'run']);
}

function retry(): JsonObject {
	return {
		type: ['integer', 'object'],
		minimum: 0,
		maximum: 100,
		additionalProperties: false,
		properties: {
			times: count('How often a crashed attempt is tried again.', 0, 100),
			backoff: duration('How long to wait before the first retry.'),
			factor: { type: 'number', minimum: 1, maximum: 10, description: 'By what the wait grows each time.' },
			max_backoff: duration('The longest wait between two tries.'),
		},
		description: 'Tries after an agent crashed or timed out; never after a verdict. A number is short for `times`.',
	};
}

/** What may be said of every task and of a single one. */
function settings(): JsonObject {
	return {
		agent: text('Who does the work: the name of an agent.'),
		timeout: duration('How long one attempt may take.'),
		max_attempts: count('How many attempts the task may have in all, reworks included.', 1, 1000),
		retry: ref('retry'),
		stop_markers: texts('Words by which the coder says that it cannot go on.'),
		checks: { type: 'array', items: ref('check'), description: 'Commands the engine runs after each attempt.' },
		overlays: ref('overlays'),
	};
}

function task(): JsonObject {
	return keys('One piece of work, done by an agent and judged by overlays.', {
		description: text('What is to be done.'),
		acceptance_criteria: {
			...texts('What must be true for the work to be done. One text or a list.'),
			type: ['string', 'array'],
			minLength: 1,
		},
		depends_on: texts('Ids of the tasks that must be completed before.'),
		inputs: texts("Files the work starts from, relative to the project's root."),
		outputs: texts("Files or folders the work produces, relative to the project's root."),
		when: text('An expression over tasks upstream, such as `tasks.design.status == COMPLETED`; false skips the task.'),
		...settings(),
	});
}

function overlays(definitions: readonly OverlayDefinition[]): JsonObject {
	const properties = Object.fromEntries(definitions.map((one) => [one.name, builtinOverlay(one)]));
	const custom = keys("One of the project's own overlays.", {
		...COMMON,
		use: {
			type: ['string', 'object'],
			minLength: 1,
			additionalProperties: false,
			required: ['command'],
			properties: { command: OVERLAY_COMMAND },
			description:
				"Where the overlay comes from: a file relative to the project's root (./x.ts, ./x.py), a package name, or `{ command: [...] }` for a program that speaks the protocol.",
		},
		options: { type: 'object', description: "The overlay's own options." },
	});
	return { ...byId('The overlays that judge the work. Off unless enabled.', custom), properties };
}

/** No `texts`: two arguments may well be the same. */
const OVERLAY_COMMAND: JsonObject = {
	type: 'array',
	minItems: 1,
	items: { type: 'string', minLength: 1 },
	description: 'The program that speaks the protocol, and its arguments, such as `[node, tools/judge.mjs]`.',
};

const COMMON: JsonObject = {
	enabled: { type: 'boolean', default: false, description: 'Whether it judges. Default: false.' },
	timeout: duration('How long the overlay itself may think about one verdict.'),
	on_error: {
		enum: ON_ERROR,
		default: 'fail',
		description:
			'What it leads to that it cannot be reached (not created, no verdict in time). A throw or a malformed verdict always fails the task.',
	},
};

/** `required` is left out: options may be spread over defaults and task, so it is checked after they are merged. */
function builtinOverlay(definition: OverlayDefinition): JsonObject {
	const own = definition.options as { readonly properties?: JsonObject; readonly additionalProperties?: boolean };
	return {
		type: 'object',
		additionalProperties: own.additionalProperties ?? false,
		properties: { ...COMMON, ...own.properties },
		description: definition.summary,
	};
}
