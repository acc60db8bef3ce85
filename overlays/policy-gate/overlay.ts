/**
 * `policy_gate`: work passes only with the evidence that its tier asks for.
 *
 * ```
 * checks ─▶ forbidden change, or evidence that cannot be read ─▶ fail
 *       ├─▶ missing or failed ─▶ rework, with the reason for each kind
 *       ├─▶ complete, T0 or T1 ─▶ pass
 *       └─▶ complete, T2 ─▶ a person: accept ─▶ pass · reject ─▶ fail
 * ```
 */
import { type Answer, defineOverlay, type Moment, type Verdict } from '../../engine/contract.ts';
import { personRecord, rejected, why } from '../shared/person.ts';
import { type Collected, collect } from './evidence.ts';
import { DEFAULT_TIER, type GateOptions, gateOptionsSchema, gateProblems } from './gate-options.ts';
import { type GateDecision, gateRecord, gateReport } from './gate-report.ts';

/** Attempts the gate may need for itself, so that it does not use up those of a review behind it. */
const OWN_ATTEMPTS = 3;

export const policyGate = defineOverlay<GateOptions>({
	name: 'policy_gate',
	summary: 'Lets work through only with the evidence its tier asks for; at T2 a person must approve, too.',
	hooks: ['after'],
	order: 20,
	options: gateOptionsSchema,
	problems: ({ options, task }) => gateProblems(options, task),
	watches: ({ forbidden = [] }) => forbidden,
	attempts: () => OWN_ATTEMPTS,
	log: gateReport,
	create: (options) => ({ after: (moment) => judge(moment, options) }),
});

function judge(moment: Moment, options: GateOptions): Verdict {
	const answer = moment.answers['approve'];
	if (answer !== undefined) return obey(moment, answer);
	const collected = collect(moment, options);
	const tier = options.tier ?? DEFAULT_TIER;
	const record = (decision: GateDecision, feedback: string) => ({
		record: gateRecord(moment, options, collected, { decision, feedback }),
	});
	const refusal = refusalOf(collected);
	if (refusal !== null) return { kind: 'fail', ...refusal, ...record('FAIL', refusal.reason) };
	if (collected.reasons.length > 0) {
		const feedback = `The evidence for tier ${tier} is not sufficient:\n${collected.reasons.map((one) => `- ${one}`).join('\n')}`;
		return { kind: 'rework', feedback, ...record('REWORK', feedback) };
	}
	const note = `the evidence for tier ${tier} is complete: ${summary(collected)}`;
	if (tier !== 'T2') return { kind: 'pass', note, ...record('PASS', note) };
	return { ...askPerson(moment, note), ...record('ASK', note) };
}

function refusalOf({ forbidden, errors }: Collected): { readonly code: string; readonly reason: string } | null {
	if (forbidden.length > 0) {
		return { code: 'GATE_FORBIDDEN_CHANGE', reason: `changed, though it is forbidden: ${forbidden.join(', ')}` };
	}
	if (errors.length === 0) return null;
	return { code: 'GATE_EVIDENCE_UNREADABLE', reason: `the evidence cannot be collected: ${errors.join('; ')}` };
}

function summary({ evidence }: Collected): string {
	const needed = evidence.filter(({ required }) => required);
	return needed.map(({ check, value }) => (value === undefined ? check : `${check} (${value})`)).join(', ');
}

function askPerson(moment: Moment, note: string): Extract<Verdict, { kind: 'ask' }> {
	return {
		kind: 'ask',
		questions: [
			{
				id: 'approve',
				to: 'human',
				trigger: 'approval_required',
				brief: { prompt: `May the work on "${moment.task.id}" pass? Checked by machines, ${note}.` },
				choices: ['accept', 'reject'],
				context: {
					description: moment.task.description,
					acceptance_criteria: moment.task.acceptanceCriteria,
					artifacts: moment.artifacts.map(({ path, sha256 }) => ({ path, sha256 })),
				},
			},
		],
	};
}

function obey(moment: Moment, answer: Answer): Verdict {
	const record = personRecord(moment, answer);
	if (answer.value !== 'accept') return { ...rejected(answer), record };
	return { kind: 'pass', note: `approved by ${answer.by}${why(answer)}`, record };
}
