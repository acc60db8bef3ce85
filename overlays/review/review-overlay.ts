/**
 * `agentic_review`: a coder/reviewer loop whose roles never switch.
 *
 *   after ─▶ ask reviewer ─▶ GO ──────────────────────────────▶ pass
 *                         ├▶ NO_GO, reviews left ─────────────▶ rework with the feedback
 *                         ├▶ NO_GO, none left ─▶ ask a person ─▶ accept: pass · rework, takeover: rework · reject: fail
 *                         └▶ no clear verdict ────────────────▶ fail, ask once more, or ask a person
 */
import { type Answer, defineOverlay, type Moment, type OverlayKit, type Verdict } from '../../engine/contract.ts';
import type { JsonObject } from '../../engine/json.ts';
import { standingAgainst } from '../shared/exit-conditions.ts';
import { materialOf } from '../shared/quotation.ts';
import { decisionRecord } from '../shared/round-log.ts';
import { askToDecide, obeyDecision, orderedRound, reviewId } from '../shared/rounds.ts';
import { type ParsedReply, parseReply, type ReviewVerdict } from './parse-verdict.ts';
import { feedbackOn, iterationRecord, reviewLog, WORDS } from './review-log.ts';
import {
	DEFAULT_MAX_ITERATIONS,
	hardCap,
	type ReviewOptions,
	reviewOptionsSchema,
	reviewProblems,
} from './review-options.ts';
import { reviewPrompt } from './review-prompt.ts';
import reviewer from './reviewer.hbs';

export const agenticReview = defineOverlay<ReviewOptions>({
	name: 'agentic_review',
	summary: 'Has another agent review every attempt until it says GO; a person decides when the reviews run out.',
	hooks: ['after'],
	order: 30,
	conflictsWith: ['paired_workflow'],
	options: reviewOptionsSchema,
	templates: { reviewer },
	worker: (options) => options.coder_agent,
	agents: ({ options }) => [options.reviewer_agent],
	problems: ({ options, task }) => reviewProblems(options, task),
	attempts: hardCap,
	log: reviewLog,
	create: (options, kit) => ({ after: (moment) => judge({ moment, options, kit }) }),
});

/** What one consultation is about. */
interface Case {
	readonly moment: Moment;
	readonly options: ReviewOptions;
	readonly kit: OverlayKit;
}

function judge(of: Case): Verdict {
	const { answers } = of.moment;
	if (answers['decide'] !== undefined) return obey(of, answers['decide']);
	const reply = answers['review-again'] ?? answers['review'];
	if (reply === undefined) return askReviewer(of, 'review', null);
	if (reply.failed !== undefined) {
		const { reviewer_agent } = of.options;
		return {
			kind: 'fail',
			code: reply.failed.code,
			reason: `the reviewer "${reviewer_agent}" failed: ${reply.failed.reason}`,
		};
	}
	const parsed = parse(of, reply);
	return parsed.ok ? weigh(of, reply, parsed.verdict) : refuse(of, parsed.violation);
}

function parse({ moment, options }: Case, reply: Answer): ParsedReply {
	const protocol = options.protocol ?? 'decision';
	return parseReply(String(reply.value), { protocol, reviewId: reviewId(moment), material: materialOf(moment) });
}

function askReviewer(of: Case, id: string, complaint: string | null): Verdict {
	const about = { coder: of.moment.task.agent, reviewId: reviewId(of.moment), complaint };
	const prompt = reviewPrompt(of.moment, of.options, of.kit, about);
	const to = `agent:${of.options.reviewer_agent}` as const;
	return { kind: 'ask', questions: [{ id, to, role: 'reviewer', reviewId: about.reviewId, brief: { prompt } }] };
}

/** A reply without one clear verdict is a contract violation: never a GO. */
function refuse(of: Case, violation: string): Verdict {
	const reason = `contract violation by the reviewer "${of.options.reviewer_agent}": ${violation}`;
	const policy = of.options.on_contract_violation ?? 'fail';
	if (policy === 'retry' && of.moment.answers['review-again'] === undefined)
		return askReviewer(of, 'review-again', violation);
	if (policy === 'hil') return askPerson(of, 'contract_violation', reason);
	return { kind: 'fail', code: 'REVIEW_CONTRACT_VIOLATION', reason };
}

/** A GO passes only if no required check failed and every exit condition holds. */
function weigh(of: Case, answer: Answer, verdict: ReviewVerdict): Verdict {
	const { moment, options } = of;
	const vetoes = vetoesOf(moment, options, verdict);
	const about = { coder: moment.task.agent, reviewer: options.reviewer_agent, answer };
	const record = iterationRecord(moment, about, verdict, vetoes);
	if (verdict.decision === 'GO' && vetoes.length === 0) return { kind: 'pass', note: verdict.feedback, record };
	const feedback = feedbackOn(verdict, vetoes);
	if (moment.iteration < (options.max_iterations ?? DEFAULT_MAX_ITERATIONS)) {
		return { kind: 'rework', feedback, findings: verdict.findings, record };
	}
	const question = `${moment.iteration} review${moment.iteration === 1 ? '' : 's'} without a GO. The last one said: ${feedback}`;
	return { ...askPerson(of, 'max_iterations', question), record };
}

/** What stands against a GO; nothing needs to stand against a NO_GO. */
function vetoesOf(moment: Moment, options: ReviewOptions, verdict: ReviewVerdict): readonly string[] {
	if (verdict.decision === 'NO_GO') return [];
	return standingAgainst(moment, options.exit_conditions ?? [], { review: reviewScope(moment, verdict) });
}

function reviewScope(moment: Moment, verdict: ReviewVerdict): JsonObject {
	return {
		decision: verdict.decision,
		iteration: moment.iteration,
		quality_checks: { ...verdict.qualityChecks },
		findings: verdict.findings.length,
	};
}

function askPerson({ moment, options }: Case, trigger: string, question: string): Extract<Verdict, { kind: 'ask' }> {
	return askToDecide(moment, { trigger, question, hardCap: hardCap(options) });
}

function obey(of: Case, answer: Answer): Verdict {
	return obeyDecision(of.moment, answer, {
		hardCap: hardCap(of.options),
		beyondCap: 'REVIEW_HARD_CAP',
		record: decisionRecord(of.moment, answer, WORDS),
		again: () => lastReview(of, answer),
	});
}

/** The coder gets the person's notes from the engine, as guidance; beside them stands the review that led there. */
function lastReview(of: Case, answer: Answer): Extract<Verdict, { kind: 'rework' }> {
	const { moment, options } = of;
	const reply = moment.answers['review-again'] ?? moment.answers['review'];
	const parsed = reply === undefined ? null : parse(of, reply);
	if (parsed?.ok !== true) return { kind: 'rework', feedback: orderedRound(answer) };
	const { verdict } = parsed;
	return {
		kind: 'rework',
		feedback: feedbackOn(verdict, vetoesOf(moment, options, verdict)),
		findings: verdict.findings,
	};
}
