/** Consults one overlay and records its verdict: fail closed, whatever comes back. */
import { ALLOWED_VERDICTS, type Hook, type Question, type Verdict } from '../contract.ts';
import type { RunEvent } from '../events.ts';
import type { Consulted } from '../hosts/host.ts';
import type { JsonObject } from '../json.ts';
import type { OverlayPlan, TaskPlan } from '../plan/plan.ts';
import { sealRecord } from '../store/seal.ts';
import { contentDigest } from './content.ts';
import { MAX_ROUNDS } from './judge.ts';
import { momentFor } from './moment.ts';
import { agentNamed, type Session, taskState } from './session.ts';
import { recordsOf } from './state.ts';

/** One consultation to be made. */
export interface Consult {
	readonly hook: Hook;
	readonly overlay: OverlayPlan;
	readonly round: number;
}

/** Asks the overlay for its verdict and journals it. Returns false when the run was stopped meanwhile. */
export async function consult(session: Session, task: TaskPlan, { hook, overlay, round }: Consult): Promise<boolean> {
	const { verdict, isFault } = await verdictOf(session, task, { hook, overlay, round });
	if (session.signal.aborted) return false;
	const state = taskState(session, task.id);
	const attempt = Math.max(state.attempt, 1);
	const content = contentDigest(state.work?.artifacts ?? []);
	const kept = seal(
		session,
		task,
		overlay.name,
		session.world.redact(forTheJournal(session, verdict) as unknown as JsonObject),
	);
	const event: RunEvent = {
		kind: 'verdict',
		task: task.id,
		attempt,
		hook,
		overlay: overlay.name,
		round,
		verdict: kept,
		content,
		...(isFault ? { fault: true } : {}),
	};
	session.record(event);
	// An entry of a log is on the disk, and in the log, before anything else happens.
	if (kept.record !== undefined) await session.durable();
	return true;
}

/** A verdict, and whether it only stands for an overlay that broke down. */
interface Heard {
	readonly verdict: Verdict;
	readonly isFault: boolean;
}

async function verdictOf(session: Session, task: TaskPlan, of: Consult): Promise<Heard> {
	const { hook, overlay, round } = of;
	if (round > MAX_ROUNDS) return fault('OVERLAY_ASKS_FOREVER', `it asked ${MAX_ROUNDS} times about one attempt`);
	const moment = momentFor(session, task, hook, overlay);
	await session.durable();
	const consulted = await session.world.consult(overlay, hook, moment, session.signal);
	if (!consulted.ok) return session.signal.aborted ? passed() : broken(session, task, of, consulted);
	const meddler = Object.values(moment.answers).find(({ failed }) => failed?.code === 'AGENT_READ_ONLY');
	// Whatever the overlay makes of it: an approval must not rest on somebody who changed what they were to judge.
	if (meddler?.failed !== undefined && consulted.verdict.kind === 'pass')
		return { verdict: { kind: 'fail', ...meddler.failed }, isFault: false };
	const problem = problemWith(session, consulted.verdict, hook, Object.keys(moment.answers));
	return problem === null ? { verdict: consulted.verdict, isFault: false } : fault('OVERLAY_BAD_VERDICT', problem);
}

function fault(code: string, reason: string): Heard {
	return { verdict: { kind: 'fail', code, reason }, isFault: true };
}

function passed(note?: string): Heard {
	return { verdict: { kind: 'pass', ...(note === undefined ? {} : { note }) }, isFault: false };
}

/** `on_error` decides about an overlay that broke down; one that answered nonsense has always failed. */
function broken(
	session: Session,
	task: TaskPlan,
	{ hook, overlay }: Consult,
	why: Extract<Consulted, { ok: false }>,
): Heard {
	const { code, reason } = why;
	if (!why.transport || overlay.onError === 'fail') return fault(code, reason);
	const note = `skipped at ${hook}, as its on_error says: ${reason}`;
	if (overlay.onError === 'warn') {
		session.record({
			kind: 'warning',
			code: 'OVERLAY_SKIPPED',
			task: task.id,
			message: `overlay "${overlay.name}" ${note}`,
		});
	}
	return passed(note);
}

/** What no schema can see about a verdict, or null. */
function problemWith(session: Session, verdict: Verdict, hook: Hook, answered: readonly string[]): string | null {
	if (!ALLOWED_VERDICTS[hook].includes(verdict.kind)) {
		return `"${verdict.kind}" is not a verdict for the hook ${hook}; it takes ${ALLOWED_VERDICTS[hook].join(', ')}`;
	}
	const agents = verdict.kind === 'rework' ? (verdict.fixers ?? []).map((fixer) => fixer.agent) : [];
	const questions = verdict.kind === 'ask' ? verdict.questions : [];
	const unknown = [...agents, ...questions.flatMap(addressee)].find((name) => agentNamed(session, name) === undefined);
	if (unknown !== undefined) return `it names the agent "${unknown}", which the workflow does not have`;
	const ids = questions.map((question) => question.id);
	const twice = ids.find((id, index) => answered.includes(id) || ids.indexOf(id) !== index);
	return twice === undefined ? null : `it asks the question "${twice}" twice; the same question is never put again`;
}

function addressee(question: Question): readonly string[] {
	return question.to === 'human' ? [] : [question.to.slice('agent:'.length)];
}

/** Prompts for agents are long and kept by content; the journal holds their sha256. */
function forTheJournal(session: Session, verdict: Verdict): Verdict {
	if (verdict.kind !== 'ask') return verdict;
	const questions = verdict.questions.map((question) => {
		if (question.to === 'human') return question;
		const digest = session.world.keepPrompt(session.world.redact(question.brief.prompt));
		return { ...question, brief: { prompt: `sha256:${digest}` } };
	});
	return { ...verdict, questions };
}

/** A record continues the chain of its log; the chain begins at the run's own first event. */
function seal(session: Session, task: TaskPlan, overlay: string, redacted: JsonObject): Verdict {
	const verdict = redacted as unknown as Verdict;
	if (verdict.record === undefined) return verdict;
	const last = recordsOf(taskState(session, task.id), overlay).at(-1);
	const prev = typeof last?.['hash'] === 'string' ? last['hash'] : session.state().genesis;
	return { ...verdict, record: sealRecord(verdict.record, prev) };
}
