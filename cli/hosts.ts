/** Reaches every overlay of a plan: the built-ins and modules in this process, others in processes of their own. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OverlayDefinition } from '../engine/contract.ts';
import { logFrom } from '../engine/hosts/declared-log.ts';
import type { OverlayHost } from '../engine/hosts/host.ts';
import { createOverlayHost } from '../engine/hosts/overlay-host.ts';
import type { Command, ProcessHostOptions } from '../engine/hosts/process-host.ts';
import { isProcess, type OverlayUse } from '../engine/overlay-use.ts';
import type { OverlayPlan, Plan } from '../engine/plan/plan.ts';
import { runDir } from '../engine/store/layout.ts';
import { builtinOverlays } from '../overlays/index.ts';
import { endingAtOnce } from './signals.ts';
import type { Terminal } from './terminal.ts';
import { homeFolder } from './user.ts';

/** A definition, or what is wrong with the overlay. */
export type LoadedOverlay = OverlayDefinition | { readonly error: string; readonly remedy?: string };

/** Loads the overlay behind `use`, for planning. */
export async function loadOverlay(terminal: Terminal, project: string, use: OverlayUse): Promise<LoadedOverlay> {
	await needTrustIn(terminal, project, use);
	return await loadTrusted(terminal, project, use);
}

/** The same for code that the user has asked to be run. */
export async function loadTrusted(terminal: Terminal, project: string, use: OverlayUse): Promise<LoadedOverlay> {
	if (typeof use !== 'string' || isProcess(use)) {
		const { describeProcess } = await import('../engine/hosts/process-host.ts');
		const options = await processOptions(terminal, project, {});
		return await endingAtOnce(() => describeProcess(options, use));
	}
	const { loadOverlayModule } = await import('../engine/hosts/load-module.ts');
	return await loadOverlayModule(project, use, contractFile());
}

/** The definitions of a plan's overlays, without starting any; one that cannot be loaded is missing, and then fails closed. */
export async function definitionsFor(
	terminal: Terminal,
	project: string,
	plan: Plan,
): Promise<(overlay: OverlayPlan) => OverlayDefinition | undefined> {
	const modules = new Map<OverlayUse, OverlayDefinition>();
	const uses = new Set(plan.tasks.flatMap((task) => task.overlays.flatMap(({ use }) => use ?? [])));
	for (const use of uses) {
		if (isProcess(use)) continue;
		if (!(await isTrusted(terminal, project, use))) continue;
		const loaded = await loadTrusted(terminal, project, use);
		if (!('error' in loaded)) modules.set(use, loaded);
	}
	const builtins = new Map(builtinOverlays.map((definition) => [definition.name, definition]));
	return (overlay) => {
		const { name, use } = overlay;
		if (use === null) return builtins.get(name);
		return isProcess(use) ? declaredIn(overlay) : modules.get(use);
	};
}

async function needTrustIn(terminal: Terminal, project: string, use: OverlayUse): Promise<string> {
	const { needTrust } = await import('./trust.ts');
	return await needTrust(terminal, project, use);
}

/** Looking at a run starts nothing that the user does not know; without it, its logs cannot be compared. */
async function isTrusted(terminal: Terminal, project: string, use: OverlayUse): Promise<boolean> {
	const { isKnown } = await import('./trust.ts');
	return isKnown(terminal, project, use);
}

/** All that is known of an overlay whose process is not running: what the plan kept of its handshake. */
function declaredIn({ name, hooks, log }: OverlayPlan): OverlayDefinition {
	return {
		name,
		summary: '',
		hooks,
		options: {},
		...(log === undefined ? {} : { log: logFrom(log) }),
		create() {
			throw new Error(`the overlay "${name}" lives in a process of its own`);
		},
	};
}

/** A host for all overlays of a plan, and the way to end what it started. */
export interface Hosts extends OverlayHost {
	/** Starts the processes, so that they are ready when they are first asked. */
	warmUp(): void;
	/** Ends them; returns what they did wrong that nobody has heard of. */
	close(): Promise<readonly string[]>;
}

/** What hosts are made for. */
export interface Hosted {
	readonly project: string;
	readonly run: string;
	readonly plan: Plan;
	/** Takes the secrets out of what overlays wrote. */
	mask(path: string): unknown;
}

/** Makes the host; nothing is started yet. */
export async function createHosts(terminal: Terminal, { project, run, plan, mask }: Hosted): Promise<Hosts> {
	const overlays = plan.tasks.flatMap((task) => task.overlays);
	const digests = new Map<string, string>();
	// A frozen plan was not prepared just now, and the code may have changed since.
	for (const use of new Set(overlays.flatMap(({ use }) => use ?? [])))
		digests.set(JSON.stringify(use), await needTrustIn(terminal, project, use));
	const definitionOf = await definitionsFor(terminal, project, plan);
	const inside = createOverlayHost({ definitionOf, overlays, templates: plan.templates });
	const uses = new Map(
		overlays.flatMap(({ use }) => (use !== null && isProcess(use) ? [[JSON.stringify(use), use] as const] : [])),
	);
	if (uses.size === 0) return { ...inside, warmUp() {}, close: async () => [] };
	const { createProcessHost } = await import('../engine/hosts/process-host.ts');
	const changed = await changeFinder(project, digests);
	const outside = createProcessHost({ ...(await processOptions(terminal, project, { run })), changed, mask });
	return {
		consult: (overlay, ...rest) =>
			(overlay.use !== null && isProcess(overlay.use) ? outside : inside).consult(overlay, ...rest),
		logOf: (name) => inside.logOf(name),
		warmUp: () => outside.warmUp(uses.values()),
		close: () => outside.close(),
	};
}

/**
 * For a run that is only brought to its end: nobody is consulted, and so nobody need be trusted. The log of a module that is not
 * stays as it is; `sdd audit verify --repair` writes it anew once it is.
 */
export async function createIdleHost(terminal: Terminal, project: string, plan: Plan): Promise<OverlayHost> {
	const definitionOf = await definitionsFor(terminal, project, plan);
	const overlays = plan.tasks.flatMap((task) => task.overlays);
	return createOverlayHost({ definitionOf, overlays, templates: plan.templates });
}

/** Whoever is trusted with code is trusted with the code that was looked at: an agent of the run may rewrite it. */
async function changeFinder(
	project: string,
	digests: ReadonlyMap<string, string>,
): Promise<(use: OverlayUse) => string | null> {
	const { codeOf } = await import('./overlay-code.ts');
	return (use) => {
		const { use: name, digest } = codeOf(project, use);
		if (digests.get(JSON.stringify(use)) === digest) return null;
		return `its code changed since this run began, so it is not started: read ${name}; \`sdd run\` then asks about it again`;
	};
}

/** How overlays' processes are started here; `python:` in the settings is read only if there is one to start. */
export async function processOptions(
	terminal: Terminal,
	project: string,
	of: { readonly run?: string },
): Promise<ProcessHostOptions> {
	return {
		project,
		version: terminal.version,
		logDir: of.run === undefined ? null : join(runDir(project, of.run), 'overlays'),
		env: environment(terminal, project, of.run),
		commandOf: await commandFinder(terminal, project),
	};
}

async function commandFinder(terminal: Terminal, project: string): Promise<(use: OverlayUse) => Command> {
	const { findPython } = await import('../engine/hosts/find-python.ts');
	const { configuredPython } = await import('./configured-python.ts');
	return (use) => {
		if (typeof use !== 'string') return { ok: true, command: use.command };
		if (!existsSync(join(project, use)))
			return { ok: false, error: `there is no file ${use}`, remedy: 'check the path' };
		const found = findPython({ project, configured: configuredPython(project), path: terminal.env['PATH'] ?? '' });
		if (!found.ok) return found;
		return { ok: true, command: [found.program, join(project, use)], interpreter: found.program };
	};
}

/** Overlays are the project's own code, like checks: they get the whole environment, and our Python package on their path. */
function environment(
	terminal: Terminal,
	project: string,
	run: string | undefined,
): { readonly [name: string]: string } {
	const kept = Object.entries(terminal.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
	const inherited = Object.fromEntries(kept) as { [name: string]: string };
	const paths = [pythonFolder(), ...(inherited['PYTHONPATH'] === undefined ? [] : [inherited['PYTHONPATH']])];
	return {
		...inherited,
		PYTHONPATH: paths.join(delimiter),
		PYTHONUTF8: '1',
		// Byte code beside the sources would be run in their place, and nobody looks at it.
		PYTHONPYCACHEPREFIX: join(inherited['XDG_CACHE_HOME'] || join(homeFolder(inherited), '.cache'), 'sdd/python'),
		// What a module prints while it is loaded stays in the buffer until stdout has been moved away.
		PYTHONUNBUFFERED: '',
		SDD_PROJECT_DIR: project,
		SDD_AGENT: '1',
		...(run === undefined ? {} : { SDD_RUN_ID: run }),
	};
}

/** The Python side of the protocol, as it comes with this installation. */
export function pythonFolder(): string {
	return fileURLToPath(new URL('../python', import.meta.url));
}

/** What `ai-sdd` means inside an overlay module: this very installation's contract, built or in source. */
function contractFile(): string {
	const built = fileURLToPath(new URL('./index.mjs', import.meta.url));
	return existsSync(built) ? built : fileURLToPath(new URL('../engine/contract.ts', import.meta.url));
}
