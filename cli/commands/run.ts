/** `sdd run`: runs a workflow, or goes on with its unfinished run. */
import { relative, resolve, sep } from 'node:path';
import { secretsOf } from '../../agents/environment.ts';
import { EXIT, SddError } from '../../engine/errors.ts';
import type { OverlayHost } from '../../engine/hosts/host.ts';
import type { MaskFile } from '../../engine/hosts/overlay-stderr.ts';
import { isProcess } from '../../engine/overlay-use.ts';
import { BUILT_IN } from '../../engine/plan/make-plan.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { planFromDisk, planToDisk } from '../../engine/plan/plan-file.ts';
import type { Reporter } from '../../engine/report/reporter.ts';
import { cancelRun, type ExecuteOptions, executeRun, type RunResult } from '../../engine/run/execute-run.ts';
import { newestRunOf, type RunStart } from '../../engine/run/find-run.ts';
import { createLocalWorld } from '../../engine/run/local-world.ts';
import { frozenPlan, isKnownToBeOver, noteHead, type OpenOptions } from '../../engine/run/open-run.ts';
import { foldRun } from '../../engine/run/read-run.ts';
import { isEnded } from '../../engine/run/state.ts';
import { takeLock } from '../../engine/run/take-lock.ts';
import { sha256 } from '../../engine/store/hash.ts';
import { maskFile } from '../../engine/store/mask-file.ts';
import { redactor } from '../../engine/store/redact.ts';
import { listRuns, newRunId } from '../../engine/store/state-folder.ts';
import { createAdapters } from '../adapters.ts';
import type { Arguments } from '../arguments.ts';
import { dryRun } from '../dry-run.ts';
import { createHosts, createIdleHost } from '../hosts.ts';
import { assertNotOvertaken, lookAtRuns, type Seen } from '../overtaken.ts';
import { chooseReporter } from '../reporting.ts';
import { onInterrupt } from '../signals.ts';
import { keepHeapSmall } from '../small-heap.ts';
import { onStrayError } from '../stray-errors.ts';
import { exitCodeOf, failuresText, summaryText } from '../summary.ts';
import type { Terminal } from '../terminal.ts';
import { userName } from '../user.ts';
import { overridesIn, prepareWorkflow, printDiagnostics, refuse, tasksAtOnce } from '../wiring.ts';
import { unknownTask } from './constitution.ts';

export async function run(terminal: Terminal, args: Arguments): Promise<number> {
	keepHeapSmall();
	const project = terminal.project();
	const file = args.positionals[0] ?? '';
	if (args.has('fresh') && args.has('frozen')) {
		throw new SddError('CLI_USAGE', 'sdd run: --fresh and --frozen contradict each other', 'choose one of them');
	}
	const seen = lookAtRuns(project, relative(project, resolve(terminal.cwd, file)).split(sep).join('/'));
	const unfinished = unfinishedRun(terminal, args, project, seen.file);
	const chosen =
		args.has('frozen') && unfinished !== null
			? frozen(project, unfinished, args)
			: await freshPlan(terminal, args, file);
	if (chosen === null) return EXIT.usage;
	const only = onlyTasks(chosen.plan, args.value('task'));
	if (args.has('dry-run'))
		return await dryRun(terminal, args, { ...chosen, unfinished: args.has('fresh') ? null : unfinished, only });
	const goOn =
		unfinished !== null && !args.has('fresh')
			? await planToGoOnWith(terminal, args, project, unfinished, chosen)
			: null;
	if (unfinished !== null && goOn === null) await cancelUnfinished(terminal, project, unfinished, seen);
	return await carryOut(terminal, args, {
		project,
		seen: { ...seen, isOpen: goOn !== null },
		maxParallel: chosen.maxParallel,
		only,
		...(goOn ?? newRun(project, chosen.plan)),
	});
}

/** The newest run of that file, unless it is over. */
function unfinishedRun(terminal: Terminal, args: Arguments, project: string, file: string): RunStart | null {
	const newest = newestRunOf(project, file);
	if (newest === null || isKnownToBeOver(project, newest.run)) return null;
	try {
		if (foldRun(project, newest.run).status !== 'finished') return newest;
		// It was killed between its last event and the note of its head.
		if (!args.has('dry-run')) noteHead(project, newest.run);
		return null;
	} catch (error) {
		if (!(error instanceof SddError) || !args.has('fresh')) throw error;
		terminal.err(`warning: the run ${newest.run} is left as it is: ${error.message}\n`);
		return null;
	}
}

interface Chosen {
	readonly plan: Plan;
	readonly maxParallel: number;
}

async function freshPlan(terminal: Terminal, args: Arguments, file: string): Promise<Chosen | null> {
	const prepared = await prepareWorkflow(terminal, file, overridesIn(args));
	if (!prepared.ok) {
		refuse(terminal, args, prepared.diagnostics);
		return null;
	}
	if (!args.has('quiet')) printDiagnostics(terminal, prepared.warnings);
	return prepared;
}

/** The workflow file may be anything by now: unless the command line says how many tasks run at once, it is as it was. */
function frozen(project: string, start: RunStart, args: Arguments): Chosen {
	const plan = planFromDisk(frozenPlan(project, start.run, start.plan));
	return { plan, maxParallel: tasksAtOnce(args) ?? start.max_parallel ?? BUILT_IN.maxParallel };
}

/** Which run to carry out, and by which plan. */
interface Errand {
	readonly project: string;
	readonly seen: Seen;
	readonly run: string;
	readonly plan: Plan;
	readonly planText: string | null;
	readonly maxParallel: number;
	readonly only: ReadonlySet<string> | null;
}

function newRun(project: string, plan: Plan): Pick<Errand, 'run' | 'plan' | 'planText'> {
	return { run: newRunId(new Date(), listRuns(project).at(-1)), plan, planText: planToDisk(plan) };
}

/** How to go on with the unfinished run, if that is what the user wants; null for a new run. */
async function planToGoOnWith(
	terminal: Terminal,
	args: Arguments,
	project: string,
	start: RunStart,
	chosen: Chosen,
): Promise<Pick<Errand, 'run' | 'plan' | 'planText' | 'maxParallel'> | null> {
	const began = { run: start.run, planText: null, ...frozen(project, start, args) };
	if (sha256(planToDisk(chosen.plan)) === start.plan) return { ...began, maxParallel: chosen.maxParallel };
	if (args.has('frozen') || args.has('yes')) return began;
	const what = `${start.file} (or what it is run with) changed since run ${start.run} began, and that run is unfinished`;
	if (!terminal.canAsk) {
		const remedy = 'go on with the plan it began with (--frozen), or begin anew with the changed workflow (--fresh)';
		throw new SddError('RUN_CHANGED', what, remedy);
	}
	const answer = await terminal.ask(`${what}.\nGo on with the plan it began with [g], begin anew [a], or stop [s]? `);
	if (/^g/i.test(answer)) return began;
	if (/^a/i.test(answer)) return null;
	throw new SddError('RUN_CHANGED', what, 'nothing was done; use --frozen or --fresh when you have decided');
}

/** `--fresh`: the old run must not lie there as if somebody would go on with it. */
async function cancelUnfinished(terminal: Terminal, project: string, start: RunStart, seen: Seen): Promise<void> {
	try {
		const lock = await takeLock(project, { run: start.run, onLost: () => {} });
		try {
			assertNotOvertaken({ ...seen, isOpen: true });
			const plan = planFromDisk(frozenPlan(project, start.run, start.plan));
			const of = { project, run: start.run, plan };
			const host = await createIdleHost(terminal, project, plan);
			const options = await openOptions(terminal, of, host, new AbortController(), () => {});
			await cancelRun(options, 'a new run was begun (--fresh)');
			terminal.err(`the unfinished run ${start.run} is cancelled\n`);
		} finally {
			await lock.release();
		}
	} catch (error) {
		if (!(error instanceof SddError) || error.code === 'RUN_LOCKED' || error.code === 'RUN_OVERTAKEN') throw error;
		terminal.err(`warning: the unfinished run ${start.run} could not be cancelled: ${error.message}\n`);
	}
}

async function openOptions(
	terminal: Terminal,
	of: Pick<Errand, 'project' | 'run' | 'plan'>,
	host: OverlayHost,
	stop: AbortController,
	report: OpenOptions['report'],
): Promise<OpenOptions> {
	const { project, run: runId, plan } = of;
	const secrets = secretsOf(plan.agents, terminal.env);
	const mask = maskOf(terminal, plan);
	const adapters = await createAdapters({ project, plan, env: terminal.env, mask });
	const world = await createLocalWorld({
		project,
		run: runId,
		plan,
		adapters,
		host,
		redactor: redactor(secrets),
		mask,
	});
	const by = userName();
	return { project, run: runId, plan, world, version: terminal.version, by, report, stop };
}

function maskOf(terminal: Terminal, plan: Plan): MaskFile {
	const secrets = secretsOf(plan.agents, terminal.env);
	return (path) => maskFile(path, secrets);
}

async function carryOut(terminal: Terminal, args: Arguments, errand: Errand): Promise<number> {
	const stop = new AbortController();
	const reporter = chooseReporter(terminal, args, {
		total: errand.plan.tasks.length,
		ended: () => endedBefore(errand),
	});
	const interrupted = onInterrupt(stop, terminal, () => reporter.clear());
	const strays = onStrayError(stop);
	try {
		const hosts = await createHosts(terminal, { ...errand, mask: maskOf(terminal, errand.plan) });
		const open = await openOptions(terminal, errand, hosts, stop, (event) => reporter.event(event));
		const result = await executeRun({
			...open,
			...scheduling(terminal, args, errand),
			hosts,
			recheck: () => assertNotOvertaken(errand.seen),
			endOrphans: orphanEnder(errand),
		});
		strays.rethrow();
		return finish(terminal, args, errand, reporter, result);
	} finally {
		interrupted.dispose();
		strays.dispose();
		reporter.close();
	}
}

function endedBefore({ project, run: runId, planText }: Errand): readonly string[] {
	if (planText !== null) return [];
	return [...foldRun(project, runId).tasks].flatMap(([id, task]) => (isEnded(task.status) ? [id] : []));
}

function scheduling(
	terminal: Terminal,
	args: Arguments,
	errand: Errand,
): Omit<ExecuteOptions, keyof OpenOptions | 'endOrphans' | 'hosts' | 'recheck'> {
	const step = args.has('step') ? stepper(terminal) : null;
	return {
		planText: errand.planText,
		maxParallel: errand.maxParallel,
		only: errand.only,
		wait: args.has('wait'),
		step,
	};
}

function stepper(terminal: Terminal): (task: string) => Promise<boolean> {
	if (!terminal.canAsk) return async () => false;
	return async (task) => !/^(n|s)/i.test(await terminal.ask(`next: ${task}. Go on? [Y/n] `));
}

/** Command agents may leave daemons behind; without one there is nothing to look for. */
function orphanEnder({ plan, run: runId }: Errand): () => Promise<unknown> {
	const mayLeave =
		plan.agents.some((agent) => agent.adapter !== 'scripted') ||
		plan.tasks.some(
			(task) => task.checks.length > 0 || task.overlays.some(({ use }) => use !== null && isProcess(use)),
		);
	if (!mayLeave) return async () => {};
	return async () => {
		const { endOrphans } = await import('../../engine/process/orphans.ts');
		await endOrphans({ SDD_RUN_ID: runId });
	};
}

function finish(terminal: Terminal, args: Arguments, errand: Errand, reporter: Reporter, result: RunResult): number {
	reporter.close();
	const exit = exitCodeOf(result, errand.only);
	if (args.has('json'))
		terminal.out(
			`${JSON.stringify({ kind: 'result', run: result.run, ending: result.ending, exit, head: result.head })}\n`,
		);
	else if (args.has('quiet')) terminal.err(failuresText(errand.plan, result));
	else terminal.out(summaryText(terminal, errand, result));
	return exit;
}

/** A task and all it depends on. */
function onlyTasks(plan: Plan, task: string | null): ReadonlySet<string> | null {
	if (task === null) return null;
	const byId = new Map(plan.tasks.map((one) => [one.id, one]));
	if (!byId.has(task)) throw unknownTask(task, [...byId.keys()], plan.file);
	const wanted = new Set<string>();
	const queue = [task];
	for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
		if (wanted.has(id)) continue;
		wanted.add(id);
		queue.push(...(byId.get(id)?.dependsOn ?? []));
	}
	return wanted;
}
