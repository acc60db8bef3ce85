/** From a workflow's path to its plan: load, validate, plan. The one way in. */
import { existsSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { constitutionFinder } from '../../constitution/find.ts';
import type { OverlayDefinition } from '../contract.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { faultFinder } from '../workflow/inside-project.ts';
import type { ResolveOverlay } from '../workflow/load-definitions.ts';
import { readWorkflow } from '../workflow/read-workflow.ts';
import { aboutFile, type Findings, hasErrors } from '../workflow/source.ts';
import { type ValidWorkflow, validate } from '../workflow/validate.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { BUILT_IN, makePlan } from './make-plan.ts';
import type { Plan } from './plan.ts';
import { type FoundTemplate, readTemplates } from './read-templates.ts';

/** What the command line may override; paths are relative to `cwd`. */
export interface CommandLine {
	readonly maxParallel?: number;
	readonly developerPrompt?: string;
	readonly reviewerPrompt?: string;
	/** A file of scripted replies that stands in for every agent. */
	readonly stubs?: string;
	/** Fixes after a review before a person is asked: one less than the reviews. */
	readonly reviewMaxFixAttempts?: number;
}

/** What preparing a run needs. */
export interface Preparation {
	/** The workflow, relative to `cwd`. */
	readonly file: string;
	/** The project's root. */
	readonly project: string;
	/** Where the user stands: diagnostics name files relative to it. */
	readonly cwd: string;
	/** The built-in overlays. */
	readonly definitions: readonly OverlayDefinition[];
	/** Names of the agent adapters there are. */
	readonly adapters: readonly string[];
	readonly resolveOverlay: ResolveOverlay;
	readonly commandLine: CommandLine;
	/** The folder of the user's own settings, where a constitution may lie; null for none. */
	readonly home: string | null;
}

export type Prepared =
	| {
			readonly ok: true;
			readonly plan: Plan;
			readonly maxParallel: number;
			readonly warnings: readonly Diagnostic[];
	  }
	| { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** The plan of a workflow, with warnings; or all that is wrong with it. */
export async function prepare(preparation: Preparation): Promise<Prepared> {
	const context = contextOf(preparation);
	const { findings, project } = context;
	const path = resolve(context.cwd, preparation.file);
	const workflow = await readWorkflow({ ...context, path, definitions: preparation.definitions });
	if (workflow === null) return { ok: false, diagnostics: await told(findings) };
	const adapters = preparation.commandLine.stubs === undefined ? preparation.adapters : null;
	const valid = await validate(workflow, { ...preparation, project, adapters, findings });
	const templates = await templatesFor(valid, context);
	const constitutions = constitutionsFor(valid, context);
	const stubs = stubsFrom(context);
	if (hasErrors(findings)) return { ok: false, diagnostics: await told(findings) };
	const plan = makePlan(valid, {
		file: fromProject(project, path),
		templates,
		...constitutions,
		...stubs,
		...iterationsFrom(preparation.commandLine),
	});
	return { ok: true, plan, maxParallel: maxParallelOf(workflow, preparation), warnings: await told(findings) };
}

interface Context extends Preparation {
	readonly show: (path: string) => string;
	readonly findings: Findings;
}

function contextOf(preparation: Preparation): Context {
	const cwd = resolve(preparation.cwd);
	const show = (path: string) => relative(cwd, path) || '.';
	return { ...preparation, cwd, project: resolve(cwd, preparation.project), show, findings: { problems: [], diagnostics: [] } };
}

/** Lines and columns are worked out only if there is something to tell. */
async function told(findings: Findings): Promise<readonly Diagnostic[]> {
	if (findings.problems.length === 0 && findings.diagnostics.length === 0) return [];
	const { toDiagnostics } = await import('../workflow/diagnose.ts');
	return toDiagnostics(findings);
}

/** On disk paths are written with `/` everywhere. */
function fromProject(project: string, path: string): string {
	return relative(project, path).split(sep).join('/');
}

async function templatesFor(valid: ValidWorkflow, context: Context): Promise<Plan['templates']> {
	const { developerPrompt, reviewerPrompt } = context.commandLine;
	const given = {
		...givenPrompt('developer', '--developer-prompt', developerPrompt, context.cwd),
		...givenPrompt('reviewer', '--reviewer-prompt', reviewerPrompt, context.cwd),
	};
	const findFault = faultFinder(context.project);
	const search = { ...context, workflow: valid.workflow, known: templateNames(valid, context.definitions), given, findFault };
	const found = readTemplates(search);
	if (found.size > 0) await checkTemplates(found, context.findings);
	return Object.fromEntries([...found].map(([name, { text }]) => [name, text]));
}

function givenPrompt(name: string, option: string, path: string | undefined, cwd: string) {
	return path === undefined ? {} : { [name]: { path: resolve(cwd, path), option } };
}

/** The coder's brief, and whatever the overlays print. */
function templateNames(valid: ValidWorkflow, definitions: readonly OverlayDefinition[]): readonly string[] {
	const used = valid.tasks.flatMap((task) => task.overlays.flatMap(({ definition }) => definition ?? []));
	const names = [...new Set([...definitions, ...used])].flatMap((one) => Object.keys(one.templates ?? {}));
	return [...new Set(['developer', ...names])];
}

/** Handlebars is loaded only for a project that has templates of its own. */
async function checkTemplates(found: ReadonlyMap<string, FoundTemplate>, findings: Findings): Promise<void> {
	const { compileTemplate } = await import('../brief/render.ts');
	const { SddError } = await import('../errors.ts');
	for (const { file, text } of found.values()) {
		try {
			compileTemplate(file, text);
		} catch (error) {
			if (!(error instanceof SddError)) throw error;
			findings.diagnostics.push(aboutFile(error.code, file, error.message, error.remedy));
		}
	}
}

type Constitutions = { readonly constitutions: Plan['constitutions']; readonly constitutionOf: (task: string) => number };

/** Tasks for which the same files hold share one constitution. */
function constitutionsFor(valid: ValidWorkflow, context: Context): Constitutions {
	const find = constitutionFinder({ project: context.project, home: context.home, nameOf: context.show });
	const constitutions: { readonly [section: string]: string }[] = [];
	const indexes = new Map<object, number>();
	const ofTask = new Map<string, number>();
	const diagnostics = new Set<Diagnostic>();
	for (const { id, entry } of valid.tasks) {
		const found = find([...(entry.inputs ?? []), ...(entry.outputs ?? [])]);
		if (!found.ok) {
			for (const diagnostic of found.diagnostics) diagnostics.add(diagnostic);
			continue;
		}
		const index = indexes.get(found) ?? constitutions.push(found.sections) - 1;
		indexes.set(found, index);
		if (index > 0) ofTask.set(id, index);
	}
	context.findings.diagnostics.push(...diagnostics);
	return { constitutions, constitutionOf: (task) => ofTask.get(task) ?? 0 };
}

function stubsFrom({ commandLine, cwd, project, show, findings }: Context): { readonly stubs?: string } {
	if (commandLine.stubs === undefined) return {};
	const path = resolve(cwd, commandLine.stubs);
	if (!existsSync(path)) {
		const message = 'there is no such file (--stubs)';
		findings.diagnostics.push(aboutFile('STUBS_NOT_FOUND', show(path), message, 'name a file of scripted replies'));
	}
	return { stubs: fromProject(project, path) };
}

function iterationsFrom({ reviewMaxFixAttempts: fixes }: CommandLine): { readonly maxIterations?: number } {
	return fixes === undefined ? {} : { maxIterations: fixes + 1 };
}

function maxParallelOf({ file, settings }: Workflow, { commandLine }: Preparation): number {
	return commandLine.maxParallel ?? file.max_parallel ?? settings?.file.max_parallel ?? BUILT_IN.maxParallel;
}
