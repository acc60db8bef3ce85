/** Loads a project's own overlay: a TypeScript or JavaScript file, or an installed package. Heavy: reach it by `await import()`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createJiti } from 'jiti';
import { HOOKS, type OverlayDefinition } from '../contract.ts';
import { LOG_FOLDER } from '../store/layout.ts';

/** A definition, or why there is none. */
export type Loaded = OverlayDefinition | { readonly error: string };

/** Loads the module behind `use`; `contract` is the file that `import … from 'ai-sdd'` means in it. */
export async function loadOverlayModule(project: string, use: string, contract: string): Promise<Loaded> {
	const isPath = use.startsWith('.') || use.startsWith('/');
	const file = isPath ? join(project, use) : use;
	if (isPath && !existsSync(file)) return { error: `there is no file ${use}` };
	try {
		const alias = { 'ai-sdd': contract };
		// Without `interopDefault` a module says itself whether it has a default export.
		// What an overlay prints is for people; stdout may carry a document.
		console.log = console.info = console.debug = console.error;
		const jiti = createJiti(join(project, 'package.json'), { alias, fsCache: false, interopDefault: false });
		const loaded = await jiti.import<Record<string, unknown>>(file);
		return definitionIn(loaded, use);
	} catch (error) {
		return { error: `${use} cannot be loaded: ${firstLine(error)}` };
	}
}

function definitionIn(loaded: Record<string, unknown>, use: string): Loaded {
	const candidate = exportedBy(loaded);
	if (candidate === null || (candidate === loaded && !('name' in loaded))) {
		return { error: `${use} exports no overlay; it needs \`export default defineOverlay({ … })\`` };
	}
	const problem = problemWith(candidate);
	return problem === null ? (candidate as OverlayDefinition) : { error: `${use} is not an overlay: ${problem}` };
}

/** The default export, the one named `overlay`, or (in CommonJS) the module itself; null if that is no object. */
function exportedBy(loaded: unknown): Partial<OverlayDefinition> | null {
	if (typeof loaded !== 'object' || loaded === null) return null;
	const { default: inner, overlay } = loaded as { readonly default?: unknown; readonly overlay?: unknown };
	const candidate = inner ?? overlay;
	return candidate === undefined || candidate === loaded ? loaded : exportedBy(candidate);
}

function problemWith({ name, summary, hooks, options, create, log }: Partial<OverlayDefinition>): string | null {
	if (typeof name !== 'string' || name === '') return '"name" must be a text';
	if (typeof summary !== 'string') return '"summary" must be a text';
	if (!Array.isArray(hooks) || hooks.length === 0) return `"hooks" must list some of ${HOOKS.join(', ')}`;
	const odd = hooks.find((hook) => !HOOKS.includes(hook));
	if (odd !== undefined) return `"${String(odd)}" is not a hook; there are ${HOOKS.join(', ')}`;
	if (typeof options !== 'object' || options === null) return '"options" must be a JSON Schema';
	if (typeof create !== 'function') return '"create" must be a function';
	if (log !== undefined && !LOG_FOLDER.test(log.folder)) return `its log cannot lie in the folder "${log.folder}"`;
	return null;
}

function firstLine(error: unknown): string {
	const message = error instanceof Error ? error.message : String(error);
	return (message.split('\n')[0] ?? '').trim();
}
