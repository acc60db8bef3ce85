/** Checks `when`: that it can be read, and reads only tasks that are over by then. */
import { quote } from '../diagnostic.ts';
import { TASK_STATUSES } from '../events.ts';
import { type Compared, comparisons, type Expression, type Path, parseExpression, paths } from '../expression.ts';
import { didYouMean } from '../suggest.ts';
import type { Graph } from './graph.ts';
import { type Complaint, errorAt, type Place, type Problem } from './source.ts';
import { isWritten, type Workflow } from './workflow.ts';

/** Notes every `when` that is malformed or looks at what is not upstream. */
export function checkWhen(workflow: Workflow, graph: Graph, problems: Problem[]): void {
	for (const [id, { when }] of Object.entries(workflow.file.tasks)) {
		if (when === undefined) continue;
		const place: Place = { source: workflow.source, pointer: ['tasks', id, 'when'], on: 'value' };
		const parsed = parseExpression(when);
		if (!parsed.ok) problems.push(errorAt({ ...place, offset: parsed.offset }, malformed(id, parsed.message)));
		else problems.push(...readsWrongly(id, parsed.expression, workflow, graph).map((one) => errorAt(place, one)));
	}
}

function malformed(id: string, message: string): Complaint {
	return {
		code: 'EXPRESSION_INVALID',
		message: `"when" of task ${quote(id)} is not an expression: ${message}`,
		remedy: 'write it like `tasks.design.status == COMPLETED`',
	};
}

function readsWrongly(id: string, expression: Expression, workflow: Workflow, graph: Graph): readonly Complaint[] {
	return [
		...paths(expression).flatMap((path) => complaintAbout(id, path, workflow, graph) ?? []),
		...comparisons(expression).flatMap((one) => complaintAboutStatus(id, one) ?? []),
	];
}

function complaintAbout(id: string, path: Path, workflow: Workflow, graph: Graph): Complaint | undefined {
	const [root, task, fact] = path;
	if (root !== 'tasks' || task === undefined) return notATask(id, path);
	if (fact === undefined || !FACTS.includes(fact) || path.length > 3) return notAFact(id, path);
	const { tasks } = workflow.file;
	if (!Object.hasOwn(tasks, task)) {
		return isWritten(workflow.source, ['tasks', task]) ? undefined : unknownTask(id, task, tasks);
	}
	// In a circle nothing is upstream; the circle itself is told already.
	if (graph.cycles.length > 0 || graph.isUpstream(task, id)) return undefined;
	return notUpstream(id, task);
}

/** What is known of a task that is over. */
const FACTS: readonly string[] = ['status', 'attempts'];

/** Something that is never there would never hold, and the task would be skipped without a word. */
function notAFact(id: string, path: Path): Complaint {
	const [, task = '', fact = ''] = path;
	const meant = didYouMean(fact, FACTS);
	return {
		code: 'EXPRESSION_INVALID',
		message: `"when" of task ${quote(id)} reads ${quote(path.join('.'))}, which does not exist`,
		remedy:
			meant === undefined || path.length > 3
				? `of a task there are ${FACTS.map((one) => `\`tasks.${task}.${one}\``).join(' and ')}`
				: `did you mean "tasks.${task}.${meant}"?`,
	};
}

function complaintAboutStatus(id: string, { left, right }: Compared): Complaint | undefined {
	if (left.length !== 3 || left[2] !== 'status' || right.kind !== 'literal') return undefined;
	const said = String(right.value);
	if (TASK_STATUSES.some((status) => status === right.value)) return undefined;
	const meant = didYouMean(said, TASK_STATUSES);
	return {
		code: 'EXPRESSION_INVALID',
		message: `"when" of task ${quote(id)} compares ${quote(left.join('.'))} with ${quote(said)}, which is no status`,
		remedy: meant === undefined ? 'a task that is over is COMPLETED or SKIPPED' : `did you mean ${meant}?`,
	};
}

function notATask(id: string, path: Path): Complaint {
	return {
		code: 'EXPRESSION_INVALID',
		message: `"when" of task ${quote(id)} reads ${quote(path.join('.'))}, which does not exist`,
		remedy: 'read upstream tasks, as in `tasks.design.status == COMPLETED`; put text into quotes',
	};
}

function unknownTask(id: string, task: string, tasks: object): Complaint {
	return {
		code: 'EXPRESSION_NOT_UPSTREAM',
		message: `"when" of task ${quote(id)} reads task ${quote(task)}, which does not exist`,
		remedy: 'name a task upstream of this one',
		guess: () => didYouMean(task, Object.keys(tasks)),
	};
}

function notUpstream(id: string, task: string): Complaint {
	return {
		code: 'EXPRESSION_NOT_UPSTREAM',
		message: `"when" of task ${quote(id)} reads task ${quote(task)}, which may not be over by then`,
		remedy: `add "${task}" to depends_on of "${id}"`,
	};
}
