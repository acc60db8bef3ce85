/**
 * `paired_workflow`: a driver and a challenger work on a task as a pair until they agree.
 *
 * ```
 * driver's attempt ─▶ ask the challenger ─▶ AGREE, nothing against it ─▶ pass
 *      ▲                       ├─▶ CHALLENGE, rounds left ─▶ rework (roles may switch)
 *      │                       ├─▶ CHALLENGE, none left ─▶ ask a person ─▶ accept · rework · takeover · reject
 *      └───────────────────────┘   no clear verdict ─▶ fail
 * ```
 */
import {
	type Answer,
	defineOverlay,
	type Fixer,
	type Moment,
	type OverlayKit,
	type Verdict,
} from '../../engine/contract.ts';
import { standingAgainst } from '../shared/exit-conditions.ts';
import { materialOf } from '../shared/quotation.ts';
import { decisionRecord } from '../shared/round-log.ts';
import { askToDecide, obeyDecision, orderedRound, reviewId } from '../shared/rounds.ts';
import challenger from './challenger.hbs';
import {
	DEFAULT_MAX_ROUNDS,
	hardCap,
	type PairOptions,
	pairOptionsSchema,
	pairProblems,
	type Roles,
	rolesIn,
} from './pair-options.ts';
import { pairPrompt } from './pair-prompt.ts';
import { feedbackOn, pairSession, roundRecord, WORDS } from './pair-session.ts';
import { type Challenge, parseChallenge } from './parse-challenge.ts';

export const pairedWorkflow = defineOverlay<PairOptions>({
	name: 'paired_workflow',
	summary: 'Has a driver and a challenger work as a pair until they agree; a person decides when the rounds run out.',
	hooks: ['after'],
	order: 30,
	conflictsWith: ['agentic_review'],
	options: pairOptionsSchema,
	templates: { challenger },
	worker: (options) => options.driver_agent,
	agents: ({ options, task }) => [options.driver_agent ?? task.agent, options.challenger_agent],
	problems: ({ options, task }) => pairProblems(options, task),
	attempts: hardCap,
	log: pairSession,
	create: (options, kit) => ({ after: (moment) => judge({ moment, options, kit }) }),
});

/** What one consultation is about. */
interface Case {
	readonly moment: Moment;
	readonly options: PairOptions;
	readonly kit: OverlayKit;
}

function judge(of: Case): Verdict {
	const { answers } = of.moment;
	if (answers['decide'] !== undefined) return obey(of, answers['decide']);
	const reply = answers['challenge'];
	if (reply === undefined) return askChallenger(of);
	const { challenger } = rolesOf(of);
	if (reply.failed !== undefined) {
		const reason = `the challenger "${challenger}" failed: ${reply.failed.reason}`;
		return { kind: 'fail', code: reply.failed.code, reason };
	}
	const found = parse(of, reply);
	if (found.ok) return weigh(of, reply, found.value);
	const reason = `contract violation by the challenger "${challenger}": ${found.violation}`;
	return { kind: 'fail', code: 'PAIR_CONTRACT_VIOLATION', reason };
}

/** Whoever made the attempt is its driver, though the plan meant otherwise: nobody challenges their own work. */
function rolesOf({ moment, options }: Case): Roles {
	const planned = rolesIn(moment.iteration, options, moment.task.agent);
	return moment.worker === planned.challenger ? { driver: planned.challenger, challenger: planned.driver } : planned;
}

function askChallenger(of: Case): Verdict {
	const roles = rolesOf(of);
	const id = reviewId(of.moment);
	const prompt = pairPrompt(of.moment, of.options, of.kit, { roles, reviewId: id });
	const to = `agent:${roles.challenger}` as const;
	return { kind: 'ask', questions: [{ id: 'challenge', to, role: 'challenger', reviewId: id, brief: { prompt } }] };
}

function parse({ moment }: Case, reply: Answer) {
	return parseChallenge(String(reply.value), { reviewId: reviewId(moment), material: materialOf(moment) });
}

/** An AGREE passes only if no required check failed and every exit condition holds. */
function weigh(of: Case, answer: Answer, challenge: Challenge): Verdict {
	const { moment, options } = of;
	const vetoes = vetoesOf(of, challenge);
	const about = { roles: rolesOf(of), next: nextDriver(of), answer };
	const record = roundRecord(moment, about, challenge, vetoes);
	if (challenge.decision === 'AGREE' && vetoes.length === 0) return { kind: 'pass', note: challenge.feedback, record };
	const feedback = feedbackOn(challenge, vetoes);
	if (moment.iteration < (options.max_rounds ?? DEFAULT_MAX_ROUNDS)) return { ...rework(of, feedback), record };
	return { ...askPerson(of, feedback), record };
}

/** What stands against an AGREE; nothing needs to stand against a CHALLENGE. */
function vetoesOf({ moment, options }: Case, { decision, confidence }: Challenge): readonly string[] {
	if (decision === 'CHALLENGE') return [];
	const pair = { decision, confidence, round: moment.iteration };
	return standingAgainst(moment, options.exit_conditions ?? [], { pair });
}

function rework(of: Case, feedback: string): Extract<Verdict, { kind: 'rework' }> {
	const agent = nextDriver(of);
	const fixers: readonly Fixer[] = agent === of.moment.task.agent ? [] : [{ agent, feedback }];
	return { kind: 'rework', feedback, ...(fixers.length === 0 ? {} : { fixers }) };
}

function nextDriver({ moment, options }: Case): string {
	return rolesIn(moment.iteration + 1, options, moment.task.agent).driver;
}

function askPerson({ moment, options }: Case, feedback: string): Extract<Verdict, { kind: 'ask' }> {
	const rounds = `${moment.iteration} round${moment.iteration === 1 ? '' : 's'}`;
	const question = `${rounds} without agreement. The last challenge was: ${feedback}`;
	return askToDecide(moment, { trigger: 'max_iterations', question, hardCap: hardCap(options) });
}

function obey(of: Case, answer: Answer): Verdict {
	return obeyDecision(of.moment, answer, {
		hardCap: hardCap(of.options),
		beyondCap: 'PAIR_HARD_CAP',
		record: decisionRecord(of.moment, answer, WORDS),
		again: () => rework(of, lastChallenge(of, answer)),
	});
}

/** The driver gets the person's notes from the engine, as guidance; beside them stands the challenge that led there. */
function lastChallenge(of: Case, answer: Answer): string {
	const reply = of.moment.answers['challenge'];
	const found = reply === undefined ? null : parse(of, reply);
	return found?.ok === true ? feedbackOn(found.value, vetoesOf(of, found.value)) : orderedRound(answer);
}
