/** Checks the files tasks name: that they stay inside the project, come from somewhere, and have one writer at a time. */
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { quote } from '../diagnostic.ts';
import type { Graph } from './graph.ts';
import { type FindFault, normalPath, RESERVED } from './inside-project.ts';
import { type Complaint, errorAt, type Place, type Problem, warningAt } from './source.ts';
import type { Workflow } from './workflow.ts';

/** What checking files needs. */
export interface FileChecks {
	readonly project: string;
	readonly findFault: FindFault;
	readonly problems: Problem[];
}

/** Notes paths that lead astray; warns of inputs from nowhere and of outputs with two writers. */
export function checkFiles(workflow: Workflow, graph: Graph, checks: FileChecks): void {
	const { writers, astray } = checkPaths(workflow, checks);
	// In a circle nothing is before anything.
	if (graph.cycles.length > 0) return;
	warnOfSharedOutputs(workflow, graph, writers, checks);
	warnOfMissingInputs(workflow, graph, { writers, astray }, checks);
}

/** A task that writes a path, and which of its outputs it is. */
interface Writer {
	readonly task: string;
	readonly index: number;
}

type Writers = ReadonlyMap<string, readonly Writer[]>;

/** Who writes what, and the inputs that lead astray. */
interface Paths {
	readonly writers: Writers;
	readonly astray: ReadonlySet<string>;
}

function checkPaths(workflow: Workflow, checks: FileChecks): Paths {
	const writers = new Map<string, Writer[]>();
	const astray = new Set<string>();
	for (const [task, { inputs = [], outputs = [] }] of Object.entries(workflow.file.tasks)) {
		for (const [index, path] of inputs.entries()) {
			if (!checkPath(workflow, { task, list: 'inputs', index, path }, checks)) astray.add(path);
		}
		for (const [index, path] of outputs.entries()) {
			if (!checkPath(workflow, { task, list: 'outputs', index, path }, checks)) continue;
			const known = writers.get(normalPath(path));
			if (known === undefined) writers.set(normalPath(path), [{ task, index }]);
			else known.push({ task, index });
		}
	}
	return { writers, astray };
}

interface NamedPath {
	readonly task: string;
	readonly list: 'inputs' | 'outputs';
	readonly index: number;
	readonly path: string;
}

function checkPath(workflow: Workflow, named: NamedPath, checks: FileChecks): boolean {
	const found = checks.findFault(named.path, RESERVED);
	if (found === null) return true;
	const { code, fault, remedy } = found;
	checks.problems.push(errorAt(placeOf(workflow, named), { code, message: `${nameOf(named)} ${fault}`, remedy }));
	return false;
}

function placeOf({ source }: Workflow, { task, list, index }: NamedPath): Place {
	return { source, pointer: ['tasks', task, list, index], on: 'value' };
}

function nameOf({ task, list, path }: NamedPath): string {
	return `${list === 'inputs' ? 'input' : 'output'} ${quote(path)} of task ${quote(task)}`;
}

/** Writers stand in an order if each comes after the one before it. */
function warnOfSharedOutputs(workflow: Workflow, graph: Graph, writers: Writers, checks: FileChecks): void {
	const shared = [...writers].filter(([, tasks]) => tasks.length > 1);
	if (shared.length === 0) return;
	const positions = new Map(graph.order.map((id, position) => [id, position]));
	for (const [path, tasks] of shared) {
		const ordered = [...tasks].sort((a, b) => positions.get(a.task)! - positions.get(b.task)!);
		for (const [index, later] of ordered.entries()) {
			const earlier = ordered[index - 1];
			if (earlier === undefined || earlier.task === later.task) continue;
			if (graph.isUpstream(earlier.task, later.task)) continue;
			const place = placeOf(workflow, { ...later, list: 'outputs', path });
			checks.problems.push(warningAt(place, sharedOutput(path, earlier.task, later.task)));
		}
	}
}

function sharedOutput(path: string, earlier: string, later: string): Complaint {
	return {
		code: 'OUTPUT_SHARED',
		message: `tasks ${quote(earlier)} and ${quote(later)} both write ${quote(path)}, in no fixed order`,
		remedy: `add "${earlier}" to depends_on of "${later}", or let them write different files`,
	};
}

function warnOfMissingInputs(workflow: Workflow, graph: Graph, { writers, astray }: Paths, checks: FileChecks): void {
	const present = new Map<string, boolean>();
	for (const [task, { inputs = [] }] of Object.entries(workflow.file.tasks)) {
		for (const [index, path] of inputs.entries()) {
			if (astray.has(path)) continue;
			const sources = writersOf(normalPath(path), writers).filter((one) => one.task !== task);
			if (sources.some((one) => graph.isUpstream(one.task, task))) continue;
			if (isThere(path, present, checks.project)) continue;
			const place = placeOf(workflow, { task, list: 'inputs', index, path });
			checks.problems.push(warningAt(place, missingInput(path, task, sources[0]?.task)));
		}
	}
}

/** Those who write a path, or a folder it lies in. */
function writersOf(path: string, writers: Writers): readonly Writer[] {
	const found: Writer[] = [];
	for (let at = path; at !== '.' && at !== '/'; at = posix.dirname(at)) found.push(...(writers.get(at) ?? []));
	return found;
}

function isThere(path: string, present: Map<string, boolean>, project: string): boolean {
	const known = present.get(path) ?? existsSync(join(project, path));
	present.set(path, known);
	return known;
}

function missingInput(path: string, task: string, writer: string | undefined): Complaint {
	const named = `input ${quote(path)} of task ${quote(task)}`;
	if (writer !== undefined) {
		const message = `${named} is written by task ${quote(writer)}, which may not be over by then`;
		return { code: 'INPUT_MISSING', message, remedy: `add "${writer}" to depends_on of "${task}"` };
	}
	const message = `${named} does not exist, and no task upstream writes it`;
	return { code: 'INPUT_MISSING', message, remedy: 'check the path, or name it among the outputs of a task upstream' };
}
