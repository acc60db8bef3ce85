/**
 * The `scripted` adapter: replies come from a file, for demos, stubs and tests.
 *
 * Which reply is given depends on the attempt (for those who do the work) or the iteration (for those who judge it),
 * never on the order of calls: a run that is resumed gets the same replies.
 */
import type { AgentAdapter, AgentOutcome, AgentRequest } from '../engine/agent.ts';
import { capText } from '../engine/brief/cap.ts';
import { formatDuration, LONGEST_MS } from '../engine/duration.ts';
import type { ErrorCode } from '../engine/errors.ts';
import type { OutputRecord } from '../engine/events.ts';
import { sha256 } from '../engine/store/hash.ts';
import type { Replies, Reply } from './replies.ts';

/** Where replies come from. */
export interface ScriptedSettings {
	/** The project's folder: an agent's `replies` file is relative to it. */
	readonly project: string;
}

/** Makes the adapter that answers from a file of replies. */
export function createScriptedAdapter(settings: ScriptedSettings): AgentAdapter {
	const loaded = new Map<string, Replies>();
	return {
		name: 'scripted',
		async run(request) {
			const file = request.agent.options['replies'];
			if (typeof file !== 'string') {
				return failed(`agent "${request.agent.name}" is scripted, but names no file of replies (replies: …)`);
			}
			let replies = loaded.get(file);
			if (replies === undefined) {
				const { loadReplies } = await import('./replies.ts');
				replies = await loadReplies(settings.project, file);
				loaded.set(file, replies);
			}
			return answer(request, replies, file);
		},
	};
}

function answer(request: AgentRequest, replies: Replies, file: string): AgentOutcome | Promise<AgentOutcome> {
	const keys = keysFor(request);
	const list = findList(replies, keys);
	if (list === undefined) {
		return failed(`${file} has no reply for ${request.key}: looked for ${keys.map((key) => `"${key}"`).join(', ')}`);
	}
	// The last one repeats; a list is never empty.
	const reply = list[Math.min(turnOf(request), list.length) - 1]!;
	if (reply.expect !== null && !request.prompt.includes(reply.expect)) {
		return failed(
			`${file}: the brief of ${request.key} does not hold the expected text: ${JSON.stringify(reply.expect)}`,
		);
	}
	return reply.waitMs > 0 || reply.files.length > 0 ? answerSlowly(request, reply) : outcomeOf(request, reply, 0);
}

/** Those who do the work are looked up by task before agent; those who judge it never get the worker's replies. */
function keysFor({ task, role, agent }: AgentRequest): readonly string[] {
	const own = `${task}/${role}`;
	return isWorker(role) ? [own, task, agent.name, '*'] : [own, agent.name, '*'];
}

function turnOf({ role, attempt, iteration }: AgentRequest): number {
	return Math.max(1, isWorker(role) ? attempt : iteration);
}

function isWorker(role: string): boolean {
	return role === 'coder' || role === 'fixer';
}

function findList(replies: Replies, keys: readonly string[]): readonly Reply[] | undefined {
	for (const key of keys) {
		const list = replies.get(key);
		if (list !== undefined) return list;
	}
	return undefined;
}

async function answerSlowly(request: AgentRequest, reply: Reply): Promise<AgentOutcome> {
	const since = performance.now();
	const cut = await pause(reply.waitMs, request);
	const ms = Math.round(performance.now() - since);
	const { name } = request.agent;
	if (cut === 'cancelled') return failed(`agent "${name}" was cancelled`, 'AGENT_CANCELLED', ms);
	if (cut === 'timeout') {
		const limit = formatDuration(request.timeoutMs);
		return failed(`agent "${name}" was still running after ${limit} and was ended`, 'AGENT_TIMEOUT', ms);
	}
	if (reply.files.length > 0) {
		const problem = (await import('./replies.ts')).writeFiles(request.cwd, reply.files);
		if (problem !== null) return failed(`agent "${name}": ${problem}`, 'AGENT_SCRIPT', ms);
	}
	return outcomeOf(request, reply, ms);
}

/** Waits, but no longer than the time limit or until it is cancelled; says what cut it short. */
function pause(ms: number, { timeoutMs, signal }: AgentRequest): Promise<'timeout' | 'cancelled' | null> {
	if (signal.aborted) return Promise.resolve('cancelled');
	const limit = timeoutMs > 0 ? timeoutMs : Number.POSITIVE_INFINITY;
	return new Promise((resolve) => {
		const onAbort = () => finish('cancelled');
		const timer = setTimeout(() => finish(ms > limit ? 'timeout' : null), Math.min(ms, limit, LONGEST_MS));
		const finish = (cut: 'timeout' | 'cancelled' | null) => {
			clearTimeout(timer);
			signal.removeEventListener('abort', onAbort);
			resolve(cut);
		};
		signal.addEventListener('abort', onAbort, { once: true });
	});
}

function outcomeOf({ agent, keep }: AgentRequest, reply: Reply, ms: number): AgentOutcome {
	const output = outputOf(reply, keep);
	if (reply.exit === 0) return { ok: true, output, usage: reply.usage, ms };
	return { ok: false, code: 'AGENT_EXIT', reason: `agent "${agent.name}" exited with code ${reply.exit}`, output, ms };
}

/** The record of a reply, made once: most replies are given many times. */
function outputOf(reply: Reply, keep: number): OutputRecord {
	const known = records.get(reply);
	if (known !== undefined && known.keep === keep) return known.output;
	const bytes = Buffer.byteLength(reply.text);
	const output = { bytes, sha256: sha256(reply.text), text: capText(reply.text, keep) };
	records.set(reply, { keep, output });
	return output;
}

const records = new WeakMap<Reply, { readonly keep: number; readonly output: OutputRecord }>();

function failed(reason: string, code: ErrorCode = 'AGENT_SCRIPT', ms = 0): AgentOutcome {
	return { ok: false, code, reason, output: null, ms };
}
