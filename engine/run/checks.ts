/** Runs a task's checks: evidence that no model can talk away. Loads child_process: reach it by `await import()`. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { capFileMiddle } from '../brief/cap.ts';
import type { CheckResult } from '../contract.ts';
import { formatDuration } from '../duration.ts';
import type { CheckPlan } from '../plan/plan.ts';
import { type ProcessEnd, runProcess } from '../process/spawn-group.ts';
import { storeError } from '../store/fs-errors.ts';

/** Where and for whom checks are run. */
export interface CheckPlace {
	readonly task: string;
	readonly attempt: number;
	/** The task's workspace. */
	readonly cwd: string;
	/** The run's folder, absolute; the outputs go below `checks/`. */
	readonly runDir: string;
	/** SDD_* variables, added to this process's whole environment: checks are the project's own commands. */
	readonly env: { readonly [name: string]: string };
	readonly signal: AbortSignal;
	/** Takes the secrets out of a file that a check wrote. */
	readonly mask?: (path: string) => unknown;
	readonly graceMs?: number;
}

/** Characters of a check's output that are kept: its beginning and its end. */
export const CHECK_CAP = 10_000;

/** Runs checks one after another. One that cannot be started or does not end has failed, with the reason in its output. */
export async function runChecks(checks: readonly CheckPlan[], place: CheckPlace): Promise<readonly CheckResult[]> {
	if (checks.length === 0) return [];
	const folder = join(place.runDir, 'checks', `${place.task}@${place.attempt}`);
	try {
		mkdirSync(folder, { recursive: true });
	} catch (error) {
		throw storeError(error, folder, 'make the folder');
	}
	const env = environmentFor(place);
	const results: CheckResult[] = [];
	for (const [index, check] of checks.entries()) {
		const file = join(folder, `${index + 1}-${check.name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 80)}.txt`);
		results.push(await runCheck(check, place, env, file));
	}
	return results;
}

/** What a check runs may have been written by an agent (tests are): like an agent, it cannot approve. */
function environmentFor(place: CheckPlace): { readonly [name: string]: string } {
	return { ...(process.env as { [name: string]: string }), ...place.env, SDD_AGENT: '1' };
}

async function runCheck(
	check: CheckPlan,
	place: CheckPlace,
	env: { readonly [name: string]: string },
	file: string,
): Promise<CheckResult> {
	const end = await runProcess({
		command: check.run,
		cwd: place.cwd,
		env,
		stdin: null,
		stdoutPath: file,
		stderrPath: file,
		timeoutMs: check.timeoutMs,
		signal: place.signal,
		...(place.graceMs === undefined ? {} : { graceMs: place.graceMs }),
	});
	const written = end.stdoutBytes > 0 ? readWritten(file, place) : '';
	const reason = reasonOf(check, end);
	const output = reason === null ? written : [`[sdd: ${reason}]`, written].join('\n').trimEnd();
	const { name, kind, required } = check;
	const ok = end.ended === 'exit' && end.exit === 0;
	const ms = Math.round(end.ms);
	return { name, kind, required, ok, exit: end.exit, ...(reason === null ? {} : { reason }), output, ms };
}

function readWritten(file: string, place: CheckPlace): string {
	try {
		place.mask?.(file);
		return capFileMiddle(file, CHECK_CAP);
	} catch (error) {
		throw storeError(error, file, 'read what the check wrote to');
	}
}

/** What the exit code does not tell, to follow the check's name; null where it tells all. */
function reasonOf(check: CheckPlan, end: ProcessEnd): string | null {
	switch (end.ended) {
		case 'exit':
			if (end.signal !== null) return `was killed by ${end.signal}`;
			return end.reason === null ? null : `could not be run: ${end.reason}`;
		case 'timeout':
			return `did not end within ${formatDuration(check.timeoutMs)}`;
		case 'cancelled':
			return 'was cancelled';
		case 'flooded':
			return 'was ended because it wrote too much';
		case 'not_found':
		case 'not_executable':
		case 'spawn_failed':
			return `could not be run: ${end.reason}`;
	}
}
