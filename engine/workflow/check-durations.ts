/** Checks lengths of time beyond their spelling: no timer can wait longer than 24 days, and a timeout of nothing is none. */
import { quote } from '../diagnostic.ts';
import { parseDuration } from '../duration.ts';
import { errorAt, type Pointer, type Problem, type Source } from './source.ts';
import { defaultsOf, type Workflow } from './workflow.ts';
import type { Duration, RetryEntry, Settings } from './workflow-file.ts';

/** Notes every length of time that cannot be waited. */
export function checkDurations(workflow: Workflow, problems: Problem[]): void {
	const note = (source: Source) => (value: Duration | undefined, pointer: Pointer, least: number) => {
		const complaint = value === undefined ? undefined : complaintAbout(value, String(pointer.at(-1)), least);
		if (complaint !== undefined) problems.push(errorAt({ source, pointer, on: 'value' }, complaint));
	};
	for (const { source, settings } of defaultsOf(workflow)) checkSettings(settings, ['defaults'], note(source));
	const ofWorkflow = note(workflow.source);
	for (const [id, task] of Object.entries(workflow.file.tasks)) checkSettings(task, ['tasks', id], ofWorkflow);
	for (const { source, pointer, entry } of workflow.agents.values()) {
		note(source)(entry.timeout, [...pointer, 'timeout'], 1);
	}
}

type Check = (value: Duration | undefined, pointer: Pointer, least: number) => void;

function checkSettings({ timeout, retry, checks, overlays }: Settings, at: Pointer, check: Check): void {
	check(timeout, [...at, 'timeout'], 1);
	if (typeof retry === 'object') checkRetry(retry, [...at, 'retry'], check);
	for (const [index, one] of (checks ?? []).entries()) check(one.timeout, [...at, 'checks', index, 'timeout'], 1);
	if (overlays === undefined) return;
	for (const [name, one] of Object.entries(overlays)) check(one.timeout, [...at, 'overlays', name, 'timeout'], 1);
}

function checkRetry(retry: RetryEntry, at: Pointer, check: Check): void {
	check(retry.backoff, [...at, 'backoff'], 0);
	check(retry.max_backoff, [...at, 'max_backoff'], 0);
}

function complaintAbout(value: Duration, name: string, least: number) {
	const ms = parseDuration(value);
	if (ms !== undefined && ms >= least) return undefined;
	const wrong = ms === undefined ? 'longer than 24 days' : 'no time at all';
	const message = `${quote(name)} is ${wrong}`;
	return { code: 'WORKFLOW_VALUE', message, remedy: 'write it like 30s, 20m or 1h30m' } as const;
}
