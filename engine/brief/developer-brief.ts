/** The coder's brief: what an agent that does work is told. Heavy (Handlebars): reach it by `await import()`. */
import type { CheckResult } from '../contract.ts';
import type { TaskPlan } from '../plan/plan.ts';
import developerTemplate from './developer.hbs';
import { fence, randomNonce } from './fence.ts';
import { renderTemplate, type TemplateData } from './render.ts';

/** Everything a coder's brief is made of. */
export interface DeveloperFacts {
	/** The project's own template; null for the built-in one. */
	readonly template: string | null;
	readonly persona: string | null;
	readonly task: Pick<TaskPlan, 'id' | 'description' | 'acceptanceCriteria' | 'inputs' | 'outputs' | 'stopMarkers'>;
	/** The merged constitution, by section heading. */
	readonly constitution: { readonly [section: string]: string };
	readonly attempt: number;
	readonly maxAttempts: number;
	/** What was said of the last attempt, word for word. */
	readonly feedback: string | null;
	/** What a person wants done differently; unlike feedback it is an instruction. */
	readonly guidance?: string | null;
	/** Of the last attempt; only those that failed are shown. */
	readonly failedChecks: readonly CheckResult[];
	/** Texts that overlays added to the brief. */
	readonly amendments: readonly string[];
	/** For a fixer: the only files it may change. */
	readonly files?: readonly string[];
	/** Marks the blocks that hold others' words; random unless a test needs a stable one. */
	readonly nonce?: string;
}

/** The name by which a project replaces the template (`.ai-sdd/prompts/developer.hbs`). */
export const DEVELOPER_TEMPLATE = 'developer';

/** Writes the brief: the persona, untouched and first, then the rendered template. */
export function developerBrief(facts: DeveloperFacts): string {
	const text = renderTemplate(DEVELOPER_TEMPLATE, facts.template ?? developerTemplate, dataOf(facts));
	const body = `${text.trimEnd()}\n`;
	return facts.persona === null ? body : `${facts.persona}\n\n${body}`;
}

/** What a template may ask for: every name that there is, and something in every list. */
export function sampleData(): TemplateData {
	const check = { name: 'tests', kind: 'tests', required: true, ok: false, exit: 1, output: 'x', ms: 1 };
	return dataOf({
		template: null,
		persona: null,
		task: { id: 'x', description: 'x', acceptanceCriteria: ['x'], inputs: ['x'], outputs: ['x'], stopMarkers: ['X'] },
		constitution: { Standards: 'x' },
		attempt: 2,
		maxAttempts: 3,
		feedback: 'x',
		guidance: 'x',
		failedChecks: [check],
		amendments: ['x'],
		files: ['x'],
		nonce: 'x',
	});
}

function dataOf(facts: DeveloperFacts) {
	const { task, attempt, maxAttempts } = facts;
	const remaining = Math.max(0, maxAttempts - attempt);
	const failed = facts.failedChecks.filter((check) => !check.ok);
	// Most briefs hold nothing that has to be fenced.
	const nonce = facts.nonce ?? (facts.feedback === null && failed.length === 0 ? '' : randomNonce());
	return {
		nonce,
		task: taskOf(task),
		amendments: facts.amendments,
		constitution: sectionsOf(facts.constitution),
		attempt,
		max_attempts: maxAttempts,
		remaining,
		last_but_one: remaining === 1,
		rework: attempt > 1 || facts.feedback !== null || failed.length > 0,
		guidance: facts.guidance ?? '',
		feedback: facts.feedback === null ? '' : fence('feedback', facts.feedback, nonce),
		files: facts.files ?? [],
		checks: failed.map((check) => fence(labelOf(check), check.output, nonce)),
		stop_markers: task.stopMarkers,
	};
}

/** Templates are written by users: names in them are spelt as in the workflow file. */
function taskOf(task: DeveloperFacts['task']) {
	return {
		id: task.id,
		description: task.description.trim(),
		acceptance_criteria: task.acceptanceCriteria,
		inputs: task.inputs,
		outputs: task.outputs,
	};
}

function sectionsOf(constitution: { readonly [section: string]: string }) {
	return Object.entries(constitution)
		.filter(([, text]) => text.trim() !== '')
		.map(([heading, text]) => ({ heading, text: text.trim() }));
}

function labelOf(check: CheckResult): string {
	const exit = check.exit === null ? 'did not finish' : `exit ${check.exit}`;
	return `output of ${check.name} (${exit}${check.required ? ', required' : ''})`;
}
