/** Puts the parts together: the built-in overlays, the adapters, the modules a workflow names. */
import { type Diagnostic, formatDiagnostic } from '../engine/diagnostic.ts';
import { EXIT, SddError } from '../engine/errors.ts';
import type { OverlayUse } from '../engine/overlay-use.ts';
import { type CommandLine, type Prepared, prepare } from '../engine/plan/prepare.ts';
import type { ResolveOverlay } from '../engine/workflow/load-definitions.ts';
import { builtinOverlays } from '../overlays/index.ts';
import type { Arguments } from './arguments.ts';
import { loadOverlay } from './hosts.ts';
import type { Terminal } from './terminal.ts';
import { userSettings } from './user-settings.ts';

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
		resolveOverlay: (_name, use) => loadIfTrusted(terminal, project, use),
		checkReplies: async (path, shown) => (await import('../agents/replies.ts')).checkReplies(path, shown),
		commandLine,
		home: userSettings(terminal),
	});
}

/** An overlay that may not be started is one problem among others: all are told at once. */
async function loadIfTrusted(
	terminal: Terminal,
	project: string,
	use: OverlayUse,
): Promise<Awaited<ReturnType<ResolveOverlay>>> {
	try {
		return await loadOverlay(terminal, project, use);
	} catch (error) {
		if (!(error instanceof SddError) || error.code !== 'OVERLAY_UNTRUSTED') throw error;
		const { code, message, remedy } = error;
		return { code, message, remedy };
	}
}

/** What the command line says about a workflow. */
export function overridesIn(args: Arguments): CommandLine {
	const maxParallel = tasksAtOnce(args);
	// One fix less than the most reviews that a file may ask for.
	const reviewMaxFixAttempts = args.count('review-max-fix-attempts', 0, 999);
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

/** How many tasks may run at once, if the command line says so: no more than a file may. */
export function tasksAtOnce(args: Arguments): number | null {
	return args.count('max-parallel', 1, 256);
}

/** Says why nothing is done with these files, with `--json` as a document on stdout too, and returns the exit code. */
export function refuse(terminal: Terminal, args: Arguments, diagnostics: readonly Diagnostic[]): number {
	if (args.has('json')) terminal.out(`${JSON.stringify({ kind: 'error', exit: EXIT.usage, diagnostics })}\n`);
	printDiagnostics(terminal, diagnostics);
	return EXIT.usage;
}

/** Prints diagnostics for people. */
export function printDiagnostics(terminal: Terminal, diagnostics: readonly Diagnostic[]): void {
	if (diagnostics.length === 0) return;
	const color = terminal.proseColor;
	for (const diagnostic of diagnostics) terminal.err(`${formatDiagnostic(diagnostic, { color })}\n\n`);
}
