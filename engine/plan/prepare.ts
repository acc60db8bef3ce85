/** From a workflow's path to its plan: load, validate, plan. The one way in. */
import { existsSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import type { OverlayDefinition } from '../contract.ts';
import type { Diagnostic } from '../diagnostic.ts';
import type { ResolveOverlay } from '../workflow/load-definitions.ts';
import { readWorkflow } from '../workflow/read-workflow.ts';
import { aboutFile, type Findings, hasErrors } from '../workflow/source.ts';
import { type ValidWorkflow, validate } from '../workflow/validate.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { BUILT_IN, makePlan } from './make-plan.ts';
import type { Plan } from './plan.ts';
import { planConstitutions } from './plan-constitutions.ts';
import { planTemplates } from './plan-templates.ts';

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
	/** All that is wrong with a file of scripted replies, which lies there and is called so. */
	readonly checkReplies: (path: string, shown: string) => Promise<readonly Diagnostic[]>;
	readonly commandLine: CommandLine;
	/** The folder of the user's own settings, where a constitution may lie; null for none. */
	readonly home: string | null;
}

/** A plan that can run, or everything that forbids it. */
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
	const templates = await planTemplates(valid, context);
	const constitutions = planConstitutions(valid, context);
	const stubs = stubsFrom(context);
	await checkReplies(valid, context);
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
	return {
		...preparation,
		cwd,
		project: resolve(cwd, preparation.project),
		show,
		findings: { problems: [], diagnostics: [] },
	};
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

function stubsFrom({ commandLine, cwd, project, show, findings }: Context): { readonly stubs?: string } {
	if (commandLine.stubs === undefined) return {};
	const path = resolve(cwd, commandLine.stubs);
	if (!existsSync(path)) {
		const message = 'there is no such file (--stubs)';
		findings.diagnostics.push(aboutFile('STUBS_NOT_FOUND', show(path), message, 'name a file of scripted replies'));
	}
	return { stubs: fromProject(project, path) };
}

/** Of what replaces an agent, too, all problems are told before anything runs. */
async function checkReplies({ replies }: ValidWorkflow, context: Context): Promise<void> {
	const { commandLine, cwd, project, show, findings } = context;
	const stubs = commandLine.stubs === undefined ? [] : [resolve(cwd, commandLine.stubs)];
	for (const path of [...stubs, ...[...replies].map((file) => resolve(project, file))])
		if (existsSync(path)) findings.diagnostics.push(...(await context.checkReplies(path, show(path))));
}

function iterationsFrom({ reviewMaxFixAttempts: fixes }: CommandLine): { readonly maxIterations?: number } {
	return fixes === undefined ? {} : { maxIterations: fixes + 1 };
}

function maxParallelOf({ file, settings }: Workflow, { commandLine }: Preparation): number {
	return commandLine.maxParallel ?? file.max_parallel ?? settings?.file.max_parallel ?? BUILT_IN.maxParallel;
}
