/** Puts an overlay's questions: to agents at once and in parallel, to people through the queue. */
import { join } from 'node:path';
import type { AgentOutcome } from '../agent.ts';
import type { Answer, Hook, Question } from '../contract.ts';
import type { HilItem, RunEvent } from '../events.ts';
import { failedRequired } from '../failed-checks.ts';
import type { JsonObject } from '../json.ts';
import type { AgentPlan, OverlayPlan, TaskPlan } from '../plan/plan.ts';
import { sha256 } from '../store/hash.ts';
import { runDir } from '../store/layout.ts';
import { changes } from './content.ts';
import { RETRIED, retryDelay } from './decide.ts';
import { logDocument } from './log-view.ts';
import { agentNamed, needSpace, type Session, taskState } from './session.ts';
import { sleep } from './sleep.ts';
import { attemptsJudged, type OpenItem, recordsOf } from './state.ts';

/** Questions of one overlay about one attempt. */
export interface Questions {
	readonly hook: Hook;
	readonly overlay: OverlayPlan;
	readonly questions: readonly Question[];
}

/** Reviewers' replies are kept whole up to this; a longer one counts as no reply, as half a verdict is none. */
export const REPLY_CAP = 1024 * 1024;

/** Puts them. Returns false when the run was stopped before all agents had answered. */
export async function putQuestions(session: Session, task: TaskPlan, asked: Questions): Promise<boolean> {
	const forPeople = asked.questions.filter((question) => question.to === 'human');
	const forAgents = asked.questions.filter((question) => question.to !== 'human');
	const items = forPeople.map((question) => openItem(session, task, asked, question));
	await session.durable();
	for (const item of items) session.world.people.publish(item);
	const answers = forAgents.map((question) => askAgent(session, task, asked, question));
	// A fault of one ends the run, but not before the others have ended too.
	for (const answer of answers) answer.catch(() => session.stop());
	await Promise.allSettled(answers);
	return (await Promise.all(answers)).every((answer) => answer);
}

/** Takes over what people have decided about a waiting task; returns whether there was anything. */
export function takeAnswers(session: Session, task: TaskPlan): boolean {
	const open = [...session.state().items].filter(([, item]) => item.task === task.id && isUnanswered(session, item));
	const events = open.flatMap(([id, { item, resolution: known, hook, attempt, overlay, question }]): RunEvent[] => {
		// A process may have died with the decision recorded, and the answer not yet.
		const resolution = known ?? (item === null ? null : session.world.people.resolution(item));
		if (resolution === null) return [];
		const { choice, by, via, at, notes } = resolution;
		const answer: Answer = { by, value: choice, at, via, item: id, ...(notes === null ? {} : { notes }) };
		return [
			...(known === null ? [{ kind: 'hil_resolved', task: task.id, item: id, resolution } as const] : []),
			{ kind: 'answered', task: task.id, attempt, hook, overlay, question, answer },
		];
	});
	session.record(...events);
	return events.length > 0;
}

/** Whether the question behind an item is one that the task waits for. */
function isUnanswered(session: Session, { task, hook, attempt, overlay, question }: OpenItem): boolean {
	const { judging } = taskState(session, task);
	if (judging?.hook !== hook || judging.attempt !== attempt) return false;
	return !Object.hasOwn(judging.by[overlay]?.answers ?? {}, question);
}

function openItem(session: Session, task: TaskPlan, { hook, overlay }: Questions, question: Question): HilItem {
	const { run, workflow } = session.state();
	const attempt = Math.max(taskState(session, task.id).attempt, 1);
	const key = [run, task.id, hook, attempt, overlay.name, question.id].join('\n');
	const item: HilItem = session.world.redact({
		id: `hil-${sha256(key).slice(0, 12)}`,
		run_id: run,
		workflow,
		task_id: task.id,
		overlay: overlay.name,
		trigger: question.trigger ?? 'overlay',
		status: 'PENDING',
		question: question.brief.prompt,
		choices: question.choices ?? ['accept', 'reject'],
		context: { ...question.context, ...failedChecks(session, task, hook), ...logIn(session, task, overlay.name) },
		created_at: session.world.now().toISOString(),
		resolution: null,
	} as unknown as JsonObject) as unknown as HilItem;
	session.record({
		kind: 'hil_opened',
		task: task.id,
		attempt,
		hook,
		overlay: overlay.name,
		question: question.id,
		item,
	});
	return item;
}

/** By accepting, a person overrules the required checks that failed: whatever they are asked, they must know of these. */
function failedChecks(session: Session, task: TaskPlan, hook: Hook): JsonObject {
	const failed = hook === 'after' ? failedRequired(taskState(session, task.id).work?.checks ?? []) : [];
	return failed.length === 0 ? {} : { failed_checks: failed };
}

/** The overlay's whole log so far: what a person needs to decide. */
function logIn(session: Session, task: TaskPlan, overlay: string): JsonObject {
	const log = session.world.logOf(overlay);
	if (log === null) return {};
	const records = recordsOf(taskState(session, task.id), overlay);
	return { [log.name]: logDocument(log, overlay, records, { task: task.id, run: session.state().run, ended: null }) };
}

async function askAgent(session: Session, task: TaskPlan, asked: Questions, question: Question): Promise<boolean> {
	const { hook, overlay } = asked;
	const name = question.to.slice('agent:'.length);
	const agent = agentNamed(session, name);
	if (agent === undefined) throw new Error(`the question "${question.id}" goes to the unknown agent "${name}"`);
	const { attempt } = taskState(session, task.id);
	const promptSha256 = question.brief.prompt.slice('sha256:'.length);
	const outcome = await runWatched(session, task, asked, question, agent, promptSha256);
	if (session.signal.aborted) return false;
	const answer = answerOf(session, name, promptSha256, outcome);
	session.record({
		kind: 'answered',
		task: task.id,
		attempt: Math.max(attempt, 1),
		hook,
		overlay: overlay.name,
		question: question.id,
		answer,
	});
	return true;
}

/** Runs the agent, again after a crash where `retry` says so, and sees that one marked read-only changed nothing. */
async function runWatched(
	session: Session,
	task: TaskPlan,
	{ hook, overlay }: Questions,
	question: Question,
	agent: AgentPlan,
	promptSha256: string,
): Promise<AgentOutcome> {
	const state = taskState(session, task.id);
	const attempt = Math.max(state.attempt, 1);
	const prompt = session.world.readPrompt(promptSha256);
	for (let crashes = 0; ; crashes++) {
		needSpace(session);
		const outcome = await session.world.startAgent({
			key: `${task.id}#${attempt}/${hook}/${overlay.name}/${question.id}${crashes === 0 ? '' : `~${crashes + 1}`}`,
			agent,
			task: task.id,
			attempt,
			iteration: 1 + attemptsJudged(state, hook, attempt, overlay.name),
			role: question.role ?? 'reviewer',
			prompt: agent.persona === null ? prompt : `${agent.persona}\n\n${prompt}`,
			timeoutMs: agent.timeoutMs ?? task.timeoutMs,
			signal: session.signal,
			keep: REPLY_CAP,
			...(question.reviewId === undefined ? {} : { reviewId: question.reviewId }),
		});
		if (agent.readOnly && wroteSomething(session, task)) return wrote(agent, outcome);
		if (outcome.ok || session.signal.aborted || !RETRIED.has(outcome.code) || crashes >= task.retry.times)
			return outcome;
		await sleep(retryDelay(task.retry, crashes + 1), session.signal);
	}
}

function wroteSomething(session: Session, task: TaskPlan): boolean {
	const { work } = taskState(session, task.id);
	return work !== null && changes(work.artifacts, session.world.workspace.inspect(task.outputs).artifacts).length > 0;
}

function wrote(agent: AgentPlan, { ms, output }: AgentOutcome): AgentOutcome {
	const reason = `the agent "${agent.name}" is read_only, but the task's outputs changed while it ran`;
	return { ok: false, code: 'AGENT_READ_ONLY', reason, output, ms };
}

function answerOf(session: Session, by: string, promptSha256: string, outcome: AgentOutcome): Answer {
	const at = session.world.now().toISOString();
	if (!outcome.ok) return { by, value: null, at, promptSha256, failed: { code: outcome.code, reason: outcome.reason } };
	const { output, usage } = outcome;
	if (output.bytes > REPLY_CAP) {
		const kept = output.file === undefined ? 'not kept' : join(runDir('', session.state().run), output.file);
		const reason = `the reply has ${output.bytes} bytes; at most ${REPLY_CAP} are read (whole reply: ${kept})`;
		return { by, value: null, at, promptSha256, failed: { code: 'AGENT_REPLY_TOO_LONG', reason } };
	}
	return { by, value: output.text, at, promptSha256, ...(usage === null ? {} : { usage }) };
}
