/** Puts the parts together: the built-in overlays, the adapters, the modules a workflow names. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { configHome } from '../constitution/find.ts';
import type { OverlayDefinition } from '../engine/contract.ts';
import { type Diagnostic, formatDiagnostic } from '../engine/diagnostic.ts';
import type { OverlayPlan, Plan } from '../engine/plan/plan.ts';
import { type CommandLine, type Prepared, prepare } from '../engine/plan/prepare.ts';
import { builtinOverlays } from '../overlays/index.ts';
import type { Arguments } from './arguments.ts';
import type { Terminal } from './terminal.ts';

/** The kinds of agents there are. */
export const ADAPTERS = ['command', 'scripted'] as const;

/** Loads, validates and plans a workflow, with all that belongs to this installation. */
export function prepareWorkflow(terminal: Terminal, file: string, commandLine: CommandLine = {}): Promise<Prepared> {
	const project = terminal.project();
	return prepare({
		file,
		project,
		cwd: terminal.cwd,
		definitions: builtinOverlays,
		adapters: ADAPTERS,
		resolveOverlay: (_name, use) => loadModule(project, use),
		commandLine,
		home: userSettings(terminal),
	});
}

/** The folder of the user's own settings. */
export function userSettings({ env }: Terminal): string {
	return configHome(env, env['HOME'] ?? homedir());
}

/** What the command line says about a workflow. */
export function overridesIn(args: Arguments): CommandLine {
	const maxParallel = args.count('max-parallel', 1);
	const reviewMaxFixAttempts = args.count('review-max-fix-attempts', 0);
	const developerPrompt = args.value('developer-prompt');
	const reviewerPrompt = args.value('reviewer-prompt');
	const stubs = args.value('stubs');
	return {
		...(maxParallel === null ? {} : { maxParallel }),
		...(reviewMaxFixAttempts === null ? {} : { reviewMaxFixAttempts }),
		...(developerPrompt === null ? {} : { developerPrompt }),
		...(reviewerPrompt === null ? {} : { reviewerPrompt }),
		...(stubs === null ? {} : { stubs }),
	};
}

/** The definitions behind a plan's overlays; one that can no longer be loaded is missing, and then fails closed. */
export async function definitionsFor(
	project: string,
	plan: Plan,
): Promise<(overlay: OverlayPlan) => OverlayDefinition | undefined> {
	const modules = new Map<string, OverlayDefinition>();
	const uses = new Set(plan.tasks.flatMap((task) => task.overlays.flatMap(({ use }) => use ?? [])));
	for (const use of uses) {
		const loaded = await loadModule(project, use);
		if (!('error' in loaded)) modules.set(use, loaded);
	}
	const builtins = new Map(builtinOverlays.map((definition) => [definition.name, definition]));
	return ({ name, use }) => (use === null ? builtins.get(name) : modules.get(use));
}

/** Prints diagnostics for people. */
export function printDiagnostics(terminal: Terminal, diagnostics: readonly Diagnostic[]): void {
	for (const diagnostic of diagnostics) terminal.err(`${formatDiagnostic(diagnostic, { color: terminal.color })}\n\n`);
}

async function loadModule(project: string, use: string) {
	const { loadOverlayModule } = await import('../engine/hosts/load-module.ts');
	return loadOverlayModule(project, use, contractFile());
}

/** What `ai-sdd` means inside an overlay module: this very installation's contract, built or in source. */
function contractFile(): string {
	const built = fileURLToPath(new URL('./index.mjs', import.meta.url));
	return existsSync(built) ? built : fileURLToPath(new URL('../engine/contract.ts', import.meta.url));
}
