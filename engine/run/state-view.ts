/** `workflow-state.json`: where every task of the newest run stands. */
import type { Json, JsonObject } from '../json.ts';
import type { Plan } from '../plan/plan.ts';
import { attemptsJudged, PENDING_TASK, type RunState } from './state.ts';

/** The document as data. */
export function stateDocument(state: RunState, plan: Plan): JsonObject {
	const tasks: { [id: string]: Json } = {};
	for (const task of plan.tasks) {
		const { status, startedAt, endedAt, attempt, reason, ...rest } = state.tasks.get(task.id) ?? PENDING_TASK;
		tasks[task.id] = {
			status,
			started_at: startedAt,
			completed_at: endedAt,
			outputs: task.outputs,
			iterations: attemptsJudged({ ...PENDING_TASK, past: rest.past }, 'after', 0),
			attempts: attempt,
			...(reason === null ? {} : { reason }),
		};
	}
	return {
		schema_version: '1',
		workflow: state.workflow,
		project: state.project,
		run_id: state.run,
		started_at: state.startedAt,
		status: state.status,
		outcome: state.outcome,
		tasks,
	};
}

/** The document as text, one task a line. */
export function stateText(document: JsonObject): string {
	const { tasks, ...head } = document;
	const lines = Object.entries((tasks ?? {}) as JsonObject).map(
		([id, task]) => `    ${JSON.stringify(id)}: ${JSON.stringify(task)}`,
	);
	const members = Object.entries(head).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`);
	const list = lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n  }`;
	return `{\n${[...members, `  "tasks": ${list}`].join(',\n')}\n}\n`;
}
