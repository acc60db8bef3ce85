/** Checks that `depends_on` names other tasks and never leads in a circle. */
import { quote } from '../diagnostic.ts';
import { didYouMean } from '../suggest.ts';
import type { Cycle, Graph } from './graph.ts';
import { type Complaint, errorAt, type Problem } from './source.ts';
import { isWritten, type Workflow } from './workflow.ts';

/** The most tasks of a circle that a message names. */
const SHOWN = 12;

/** Notes every dependency that leads nowhere, to the task itself, or round in a circle. */
export function checkDependencies(workflow: Workflow, graph: Graph, problems: Problem[]): void {
	const { tasks } = workflow.file;
	const note = (task: string, index: number, complaint: Complaint) => {
		const pointer = ['tasks', task, 'depends_on', index];
		problems.push(errorAt({ source: workflow.source, pointer, on: 'value' }, complaint));
	};
	for (const [id, { depends_on = [] }] of Object.entries(tasks)) {
		for (const [index, other] of depends_on.entries()) {
			if (other === id) note(id, index, onItself(id));
			else if (!isWritten(workflow.source, ['tasks', other])) note(id, index, unknownTask(id, other, tasks));
		}
	}
	for (const cycle of graph.cycles) note(cycle.task, cycle.index, circle(cycle));
}

function onItself(id: string): Complaint {
	return { code: 'DEPENDENCY_CYCLE', message: `task ${quote(id)} depends on itself`, remedy: 'remove this entry' };
}

function unknownTask(id: string, other: string, tasks: object): Complaint {
	return {
		code: 'DEPENDENCY_UNKNOWN',
		message: `task ${quote(id)} depends on ${quote(other)}, which is not a task`,
		remedy: 'name a task of this workflow, or remove the entry',
		guess: () => didYouMean(other, Object.keys(tasks)),
	};
}

function circle({ path }: Cycle): Complaint {
	const shown = path.length <= SHOWN ? path : [...path.slice(0, SHOWN - 2), '…', ...path.slice(-2)];
	const message = `tasks depend on each other in a circle: ${shown.join(' → ')}`;
	return { code: 'DEPENDENCY_CYCLE', message, remedy: 'remove one of these dependencies' };
}
