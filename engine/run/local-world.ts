/** The world of a run on this machine: real agents, real files, the real clock. */
import type { AgentAdapter } from '../agent.ts';
import { developerBrief } from '../brief/developer-brief.ts';
import { withFindings } from '../findings.ts';
import type { OverlayHost } from '../hosts/host.ts';
import type { Plan, TaskPlan } from '../plan/plan.ts';
import { putBrief, readBrief } from '../store/blobs.ts';
import { publishItem, readResolution } from '../store/hil-store.ts';
import { runDir as runDirOf } from '../store/layout.ts';
import type { Redactor } from '../store/redact.ts';
import { freeBytes, openWorkspace } from './workspace.ts';
import type { BriefFacts, World } from './world.ts';

export interface LocalWorldOptions {
	readonly project: string;
	readonly run: string;
	readonly plan: Plan;
	readonly adapters: ReadonlyMap<string, AgentAdapter>;
	readonly host: OverlayHost;
	readonly redactor: Redactor;
	/** Takes the secrets out of a file that a check or a diff was written to. */
	readonly mask: (path: string) => unknown;
	readonly now?: () => Date;
}

/** Makes the world. */
export async function createLocalWorld(options: LocalWorldOptions): Promise<World> {
	const { project, run, plan, host, redactor } = options;
	const runDir = runDirOf(project, run);
	const workspace = await openWorkspace({ project, runDir, mask: options.mask });
	return {
		now: options.now ?? (() => new Date()),
		startAgent(request) {
			const adapter = options.adapters.get(request.agent.adapter);
			if (adapter === undefined) throw new Error(`no adapter "${request.agent.adapter}" is registered`);
			return adapter.run({ ...request, cwd: project, runDir, env: agentVariables(project, run, request) });
		},
		async runChecks(task, attempt, signal) {
			const { runChecks } = await import('./checks.ts');
			const env = { ...runVariables(project, run, task.id, attempt), SDD_ROLE: 'check' };
			return runChecks(task.checks, { task: task.id, attempt, cwd: project, runDir, env, signal, mask: options.mask });
		},
		consult: (overlay, hook, moment, signal) => host.consult(overlay, hook, moment, signal),
		logOf: (overlay) => host.logOf(overlay),
		workspace,
		people: {
			publish: (item) => publishItem(project, item),
			resolution: (item) => readResolution(project, item.id, item),
		},
		keepPrompt: (prompt) => putBrief(runDir, prompt),
		readPrompt: (digest) => readBrief(runDir, digest),
		redact: (value) => (typeof value === 'string' ? (redactor.text(value) as typeof value) : redactor.value(value)),
		spaceProblem: spaceWatch(runDir),
		briefFor: (task, facts) => briefFor(plan, task, facts),
	};
}

/** What one agent may write before it is stopped: with less than that free, a run would only fail in a worse place. */
const LEAST_FREE_BYTES = 64 * 1024 * 1024;

/** A run of many short tasks asks again and again: what was found a moment ago still holds. */
const SPACE_HOLDS_MS = 50;

function spaceWatch(path: string): () => string | null {
	let looked = Number.NEGATIVE_INFINITY;
	return () => {
		const now = performance.now();
		if (now - looked < SPACE_HOLDS_MS) return null;
		const problem = spaceProblem(path);
		if (problem === null) looked = now;
		return problem;
	};
}

function spaceProblem(path: string): string | null {
	const free = freeBytes(path);
	if (free >= LEAST_FREE_BYTES) return null;
	const mib = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`;
	return `the disk has only ${mib(free)} left, and an agent may need ${mib(LEAST_FREE_BYTES)}`;
}

interface AboutRequest {
	readonly task: string;
	readonly attempt: number;
	readonly iteration: number;
	readonly role: string;
	readonly reviewId?: string;
}

function agentVariables(project: string, run: string, request: AboutRequest): { readonly [name: string]: string } {
	return {
		...runVariables(project, run, request.task, request.attempt),
		SDD_ITERATION: String(request.iteration),
		SDD_ROLE: request.role,
		...(request.reviewId === undefined ? {} : { SDD_REVIEW_ID: request.reviewId }),
	};
}

function runVariables(
	project: string,
	run: string,
	task: string,
	attempt: number,
): { readonly [name: string]: string } {
	return { SDD_RUN_ID: run, SDD_TASK_ID: task, SDD_ATTEMPT: String(attempt), SDD_PROJECT_DIR: project };
}

function briefFor(plan: Plan, task: TaskPlan, facts: BriefFacts): string {
	const { feedback, agent } = facts;
	const said = feedback === null ? '' : withFindings(feedback.text, feedback.findings);
	return developerBrief({
		template: plan.templates['developer'] ?? null,
		persona: agent.persona,
		task,
		constitution: plan.constitutions[task.constitution] ?? {},
		attempt: facts.attempt,
		maxAttempts: task.maxAttempts,
		feedback: said === '' ? null : said,
		guidance: (feedback?.guidance ?? []).map(({ from, text }) => `${text}\n\n(${from})`).join('\n\n'),
		failedChecks: facts.failedChecks,
		amendments: facts.amendments,
		...(facts.files === undefined ? {} : { files: facts.files }),
	});
}
