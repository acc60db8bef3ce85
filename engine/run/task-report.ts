/** `reports/<task-id>.md`: what became of a judged task, for people to read. Not state: it can be written anew at any time. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { overruledIn } from '../failed-checks.ts';
import { findingsIn, withFindings } from '../findings.ts';
import type { JsonObject } from '../json.ts';
import type { Plan, TaskPlan } from '../plan/plan.ts';
import { printable } from '../printable.ts';
import { reportFile } from '../store/layout.ts';
import { agentsIn, deciderIn } from './log-view.ts';
import { PENDING_TASK, type RunState, recordsOf, type TaskState } from './state.ts';

/** Writes the reports of the given tasks; returns what went wrong with them. */
export async function writeReports(
	project: string,
	plan: Plan,
	state: RunState,
	tasks: ReadonlySet<string>,
): Promise<readonly string[]> {
	const faults: string[] = [];
	for (const task of plan.tasks.filter(({ id }) => tasks.has(id))) {
		const text = reportText(task, state);
		if (text === null) continue;
		const path = reportFile(project, task.id);
		try {
			mkdirSync(dirname(path), { recursive: true });
			await writeFileAtomic(path, text);
		} catch (error) {
			faults.push(`the report ${path} was not written: ${(error as Error).message}`);
		}
	}
	return faults;
}

/** The report, or null where no overlay recorded anything. */
export function reportText(task: TaskPlan, state: RunState): string | null {
	const of = state.tasks.get(task.id) ?? PENDING_TASK;
	const judged = task.overlays.filter(({ name }) => recordsOf(of, name).length > 0);
	if (judged.length === 0) return null;
	const parts = [
		`# ${task.id}: ${WORDS[of.status] ?? 'OPEN'}`,
		`Workflow ${state.workflow}, run ${state.run}. Attempts: ${of.attempt}.${of.reason === null ? '' : ` ${oneLine(of.reason)}`}`,
		...judged.flatMap(({ name }) => [`## ${name}`, ...recordsOf(of, name).map(entry)]),
		...content(of),
	];
	return `${parts.join('\n\n')}\n`;
}

const WORDS: { readonly [status: string]: string } = {
	COMPLETED: 'PASSED',
	HIL_PENDING: 'ESCALATED',
	FAILED: 'FAILED',
	CANCELLED: 'CANCELLED',
};

function entry(record: JsonObject): string {
	const at = String(record['timestamp'] ?? '');
	const who = [...agentsIn(record), ...deciderIn(record), ...overruledIn(record)].map(oneLine);
	const title =
		record['iteration'] === undefined
			? `Decision: ${String(record['choice'] ?? 'recorded')}`
			: `Iteration ${String(record['iteration'])}: ${String(record['decision'] ?? 'recorded')}`;
	const words = printable(withFindings(String(record['feedback'] ?? record['notes'] ?? ''), findingsIn(record))).trim();
	const quoted =
		words === ''
			? ''
			: `\n\n${words
					.split('\n')
					.map((line) => `> ${line}`.trimEnd())
					.join('\n')}`;
	return `### ${title}\n\n${[...who, at].filter((part) => part !== '').join(', ')}${quoted}`;
}

function content({ artifacts, status }: TaskState): readonly string[] {
	if (artifacts.length === 0 || status !== 'COMPLETED') return [];
	// In a folder the coder chose the names: one must not pass for a line of the report.
	const lines = artifacts.map(({ path, sha256 }) => `- \`${oneLine(path)}\` sha256 ${sha256}`);
	return [`## Approved content\n\n${lines.join('\n')}`];
}

function oneLine(text: string): string {
	return printable(text).replaceAll(/\s+/g, ' ').trim();
}
