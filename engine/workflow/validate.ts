/** Checks what no schema can: that names lead somewhere, tasks can be ordered, paths stay inside. All problems at once. */
import type { OverlayDefinition } from '../contract.ts';
import { type AgentFiles, checkAgents } from './check-agents.ts';
import { checkChecks } from './check-checks.ts';
import { checkDependencies } from './check-dependencies.ts';
import { checkDurations } from './check-durations.ts';
import { checkFiles } from './check-files.ts';
import { checkOverlays } from './check-overlays.ts';
import { checkWhen } from './check-when.ts';
import { type Graph, graphOf } from './graph.ts';
import { faultFinder } from './inside-project.ts';
import { type ResolveOverlay, tasksWithDefinitions } from './load-definitions.ts';
import type { ResolvedTask } from './resolve-tasks.ts';
import type { Findings } from './source.ts';
import type { Workflow } from './workflow.ts';

/** What validating needs to know besides the workflow. */
export interface Surroundings {
	/** The project's root, absolute. */
	readonly project: string;
	readonly definitions: readonly OverlayDefinition[];
	/** Names of the agent adapters there are; null when stubs stand in for all agents. */
	readonly adapters: readonly string[] | null;
	readonly resolveOverlay: ResolveOverlay;
	readonly findings: Findings;
}

/** A workflow in which every name leads somewhere, unless the findings say otherwise. */
export interface ValidWorkflow extends AgentFiles {
	readonly workflow: Workflow;
	readonly tasks: readonly ResolvedTask[];
	readonly graph: Graph;
}

/** Runs every cross-check; what is wrong goes to the findings. */
export async function validate(workflow: Workflow, surroundings: Surroundings): Promise<ValidWorkflow> {
	const { project, findings } = surroundings;
	const findFault = faultFinder(project);
	const tasks = await tasksWithDefinitions(workflow, { ...surroundings, findFault });
	const graph = graphOf(workflow.file.tasks);
	const { problems } = findings;
	checkDurations(workflow, problems);
	checkChecks(workflow, problems);
	checkDependencies(workflow, graph, problems);
	checkWhen(workflow, graph, problems);
	const files = checkAgents(workflow, tasks, { ...surroundings, findFault });
	checkFiles(workflow, graph, { project, findFault, problems });
	await checkOverlays(workflow, tasks, surroundings);
	return { workflow, tasks, graph, ...files };
}
