/**
 * The `command` adapter: an agent is a program. Its brief arrives on stdin, its stdout is its output, and a non-zero
 * exit is a failure of that attempt, whatever it printed.
 */
import type { AgentAdapter, AgentOutcome, AgentRequest } from '../engine/agent.ts';
import { grouped } from '../engine/brief/cap.ts';
import { formatDuration } from '../engine/duration.ts';
import type { ErrorCode } from '../engine/errors.ts';
import type { OutputRecord } from '../engine/events.ts';
import { MAX_OUTPUT_BYTES, type ProcessEnd, runProcess } from '../engine/process/spawn-group.ts';
import { storeError } from '../engine/store/fs-errors.ts';
import { type AgentFiles, prepareFiles } from './agent-files.ts';
import { agentEnvironment, type Variables } from './environment.ts';
import { lastLines, readOutput } from './output.ts';

/** What the adapter may be given; every part has a default. */
export interface CommandSettings {
	/** The environment that agents' variables are taken from. */
	readonly env?: Variables;
	/** Takes the secrets out of a file that an agent wrote, before anything else reads it. */
	readonly mask?: (path: string) => unknown;
	/** How much an agent may write to stdout and stderr together. */
	readonly maxOutputBytes?: number;
	/** Between SIGTERM and SIGKILL. */
	readonly graceMs?: number;
}

/** Makes the adapter that runs agents as processes. */
export function createCommandAdapter(settings: CommandSettings = {}): AgentAdapter {
	// A copy: each look into process.env itself goes all the way to the operating system.
	const env = { ...(settings.env ?? process.env) };
	return { name: 'command', run: (request) => runCommand(request, { ...settings, env }) };
}

async function runCommand(
	request: AgentRequest,
	settings: CommandSettings & { readonly env: Variables },
): Promise<AgentOutcome> {
	const { agent } = request;
	if (agent.run === null) {
		return failed('AGENT_NOT_STARTED', `agent "${agent.name}" has no "run": there is nothing to start`, null, 0);
	}
	const files = prepareFiles(request);
	try {
		const running = runProcess({
			command: agent.run,
			cwd: request.cwd,
			env: agentEnvironment(agent, settings.env, request.env),
			stdin: files.brief,
			stdoutPath: files.stdout,
			stderrPath: files.stderr,
			timeoutMs: request.timeoutMs,
			signal: request.signal,
			maxOutputBytes: maxOutputOf(request, settings),
			...(settings.graceMs === undefined ? {} : { graceMs: settings.graceMs }),
		});
		// It is starting up meanwhile, so this takes no time.
		const problem = files.noteBrief();
		const outcome = outcomeOf(request, settings, files, await running);
		// Last: an agent that removes these files may be quicker than the note, and its output is what it is about.
		if (problem !== null) throw problem;
		return outcome;
	} catch (error) {
		// An agent may do anything to the files of this run, such as remove them.
		throw storeError(error, files.stdout, 'read what the agent wrote to');
	} finally {
		files.release();
	}
}

function outcomeOf(request: AgentRequest, settings: CommandSettings, files: AgentFiles, end: ProcessEnd): AgentOutcome {
	const ran = end.exit !== null || end.signal !== null;
	if (!ran) return explain(request, settings, end, null, '');
	if (end.stdoutBytes > 0) settings.mask?.(files.stdout);
	const output = readOutput(files.stdout, files.stdoutName, request.keep);
	const stderr = end.stderrBytes > 0 ? files.keepStderr() : null;
	if (stderr !== null) settings.mask?.(stderr);
	if (end.ended === 'exit' && end.exit === 0) return { ok: true, output, usage: null, ms: Math.round(end.ms) };
	return explain(request, settings, end, output, stderr === null ? '' : lastLines(stderr));
}

/** The agent's own `max_output` counts most. */
function maxOutputOf({ agent }: AgentRequest, settings: CommandSettings): number {
	const own = agent.options['max_output'];
	return typeof own === 'number' ? own : (settings.maxOutputBytes ?? MAX_OUTPUT_BYTES);
}

function explain(
	request: AgentRequest,
	settings: CommandSettings,
	end: ProcessEnd,
	output: OutputRecord | null,
	stderr: string,
): AgentOutcome {
	const { agent, timeoutMs } = request;
	const fail = (code: ErrorCode, what: string) =>
		failed(code, `agent "${agent.name}" ${what}`, output, Math.round(end.ms));
	const said = stderr === '' ? '' : `; the last it wrote to stderr:\n${stderr}`;
	switch (end.ended) {
		case 'not_found':
			return fail('AGENT_NOT_FOUND', `was not found: ${end.reason}`);
		case 'not_executable':
			return fail('AGENT_NOT_EXECUTABLE', `cannot be executed: ${end.reason}`);
		case 'spawn_failed':
			return fail('AGENT_NOT_STARTED', `could not be started: ${end.reason}`);
		case 'timeout':
			return fail('AGENT_TIMEOUT', `was still running after ${formatDuration(timeoutMs)} and was ended${said}`);
		case 'cancelled':
			return fail('AGENT_CANCELLED', 'was cancelled');
		case 'flooded':
			return fail('AGENT_FLOOD', `wrote more than ${grouped(maxOutputOf(request, settings))} bytes`);
		case 'exit':
			if (end.signal !== null) return fail('AGENT_KILLED', `was killed by ${end.signal}${said}`);
			return fail(
				'AGENT_EXIT',
				`${end.reason === null ? `exited with code ${end.exit}` : `failed: ${end.reason}`}${said}`,
			);
	}
}

function failed(code: ErrorCode, reason: string, output: OutputRecord | null, ms: number): AgentOutcome {
	return { ok: false, code, reason, output, ms };
}
