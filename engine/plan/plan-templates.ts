/** Plans the prompt templates: which texts replace built-in ones, each known to compile. */
import { resolve } from 'node:path';
import type { OverlayDefinition } from '../contract.ts';
import { SddError } from '../errors.ts';
import { faultFinder } from '../workflow/inside-project.ts';
import { aboutFile, type Findings } from '../workflow/source.ts';
import type { ValidWorkflow } from '../workflow/validate.ts';
import type { Plan } from './plan.ts';
import { type FoundTemplate, readTemplates } from './read-templates.ts';

/** What templates are looked for with. */
export interface TemplateContext {
	readonly project: string;
	readonly cwd: string;
	readonly definitions: readonly OverlayDefinition[];
	readonly commandLine: { readonly developerPrompt?: string; readonly reviewerPrompt?: string };
	readonly show: (path: string) => string;
	readonly findings: Findings;
}

/** The texts by the name of the template; what cannot be used goes to the findings. */
export async function planTemplates(valid: ValidWorkflow, context: TemplateContext): Promise<Plan['templates']> {
	const { developerPrompt, reviewerPrompt } = context.commandLine;
	const given = {
		...givenPrompt('developer', '--developer-prompt', developerPrompt, context.cwd),
		...givenPrompt('reviewer', '--reviewer-prompt', reviewerPrompt, context.cwd),
	};
	const findFault = faultFinder(context.project);
	const search = {
		...context,
		workflow: valid.workflow,
		known: templateNames(valid, context.definitions),
		given,
		findFault,
	};
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
	const { compileTemplate, tryTemplate } = await import('../brief/render.ts');
	const { DEVELOPER_TEMPLATE, sampleData } = await import('../brief/developer-brief.ts');
	for (const [name, { file, text }] of found) {
		try {
			// What the others are shown is their overlays' affair.
			if (name === DEVELOPER_TEMPLATE) tryTemplate(file, text, sampleData());
			else compileTemplate(file, text);
		} catch (error) {
			if (!(error instanceof SddError)) throw error;
			findings.diagnostics.push(aboutFile(error.code, file, error.message, error.remedy));
		}
	}
}
