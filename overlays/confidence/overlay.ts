/**
 * `confidence`: how sure one can be of the work, as a number. Advisory: it judges last, so what another overlay sent
 * back never gets here, and it never lets through what a required check forbids.
 *
 * ```
 * checks ─┬─▶ (ask the evaluator) ─▶ score ─▶ pass, with the score on the record
 *                                      └─▶ low, `on_low: ask` ─▶ a person: accept ─▶ pass · reject ─▶ fail
 * ```
 */
import { randomNonce } from '../../engine/brief/fence.ts';
import { type Answer, defineOverlay, type Moment, type OverlayKit, type Verdict } from '../../engine/contract.ts';
import { failedRequired } from '../../engine/failed-checks.ts';
import { personRecord, rejected, why } from '../shared/person.ts';
import { materialOf } from '../shared/quotation.ts';
import { reviewId } from '../shared/rounds.ts';
import { shownWork } from '../shared/shown-work.ts';
import { confidenceLog, scoreRecord } from './confidence-log.ts';
import {
	type ConfidenceOptions,
	confidenceOptionsSchema,
	confidenceProblems,
	DEFAULT_THRESHOLD,
	weightOf,
} from './confidence-options.ts';
import evaluator from './evaluator.hbs';
import { parseScore } from './parse-score.ts';
import { type Measured, type Score, scoreOf } from './score.ts';

export const confidence = defineOverlay<ConfidenceOptions>({
	name: 'confidence',
	summary: 'Scores every attempt by its evidence; advisory, but a low score may be put to a person.',
	hooks: ['after'],
	order: 90,
	options: confidenceOptionsSchema,
	templates: { evaluator },
	agents: ({ options }) => (options.evaluator_agent === undefined ? [] : [options.evaluator_agent]),
	problems: ({ options, task }) => confidenceProblems(options, task),
	log: confidenceLog,
	create: (options, kit) => ({ after: (moment) => judge({ moment, options, kit }) }),
});

/** What one consultation is about. */
interface Case {
	readonly moment: Moment;
	readonly options: ConfidenceOptions;
	readonly kit: OverlayKit;
}

function judge(of: Case): Verdict {
	const { moment, options } = of;
	const { decide, evaluate } = moment.answers;
	if (decide !== undefined) return obey(moment, decide);
	const to = toAsk(of);
	if (to !== null && evaluate === undefined) return askEvaluator(of, to);
	return report(of, scoreOf(moment, options, judgedBy(of, evaluate)), evaluate);
}

/** The evaluator, unless it made this attempt itself. */
function toAsk({ moment, options }: Case): string | null {
	const { evaluator_agent: agent } = options;
	return agent === undefined || agent === moment.worker || weightOf('llm_judge', options) === 0 ? null : agent;
}

function askEvaluator({ moment, kit }: Case, agent: string): Verdict {
	const data = { ...shownWork(moment, randomNonce()), coder: moment.worker ?? moment.task.agent };
	const prompt = kit.render('evaluator', { ...data, reviewId: reviewId(moment) });
	const to = `agent:${agent}` as const;
	return {
		kind: 'ask',
		questions: [{ id: 'evaluate', to, role: 'evaluator', reviewId: reviewId(moment), brief: { prompt } }],
	};
}

/** An evaluator without a usable answer counts as 0: by failing it must not make the score better than by answering. */
function judgedBy({ moment, options }: Case, answer: Answer | undefined): Measured {
	const metric = 'llm_judge';
	const { evaluator_agent: agent } = options;
	if (agent === undefined) return { metric, value: null, note: 'there is no evaluator_agent' };
	const none = (reason: string): Measured => ({ metric, value: 0, note: `"${agent}" gave no score: ${reason}` });
	if (answer === undefined) return none('it made this attempt itself');
	if (answer.failed !== undefined) return none(answer.failed.reason);
	const found = parseScore(String(answer.value), { reviewId: reviewId(moment), material: materialOf(moment) });
	if (!found.ok) return none(found.violation);
	const { score, reason } = found.value;
	return { metric, value: score, ...(reason === '' ? {} : { note: reason }) };
}

function report(of: Case, score: Score, answer: Answer | undefined): Verdict {
	const { moment, options } = of;
	const threshold = options.threshold ?? DEFAULT_THRESHOLD;
	const isLow = score.value === null || score.value < threshold;
	const feedback = inWords(score, isLow ? threshold : null);
	// What a required check forbids is not put to a person here: their yes would overrule the check.
	const mayAsk = failedRequired(moment.checks).length === 0;
	const decision = isLow && options.on_low === 'ask' && mayAsk ? 'ASK' : 'PASS';
	const record = scoreRecord(moment, options, score, { decision, feedback, answer });
	return decision === 'PASS' ? { kind: 'pass', note: feedback, record } : { ...askPerson(moment, feedback), record };
}

function inWords({ value, metrics, unavailable }: Score, below: number | null): string {
	const parts = metrics.map(({ metric, value: share }) => `${metric} ${share}`);
	const without = unavailable.map(({ metric }) => metric).join(', ');
	return [
		value === null ? 'no score' : `score ${value}`,
		...(below === null || value === null ? [] : [`, below ${below}`]),
		...(parts.length === 0 ? [] : [` (${parts.join(', ')})`]),
		...(without === '' ? [] : [`, without ${without}`]),
	].join('');
}

function askPerson(moment: Moment, feedback: string): Extract<Verdict, { kind: 'ask' }> {
	return {
		kind: 'ask',
		questions: [
			{
				id: 'decide',
				to: 'human',
				trigger: 'overlay',
				brief: { prompt: `The confidence in the work on "${moment.task.id}" is low: ${feedback}. May it pass?` },
				choices: ['accept', 'reject'],
				context: { artifacts: moment.artifacts.map(({ path, sha256 }) => ({ path, sha256 })) },
			},
		],
	};
}

function obey(moment: Moment, answer: Answer): Verdict {
	const record = personRecord(moment, answer);
	if (answer.value !== 'accept') return { ...rejected(answer), record };
	return { kind: 'pass', note: `accepted by ${answer.by}${why(answer)}`, record };
}
