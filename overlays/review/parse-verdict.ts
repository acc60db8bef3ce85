/**
 * Reads a reviewer's reply. Whatever the protocol, the result is one internal shape; whatever is wrong with the reply,
 * it is a violation with a reason, and a violation is never a GO.
 */
import type { Finding } from '../../engine/contract.ts';
import { type Candidate, type Found, findVerdict, show } from '../shared/find-verdict.ts';
import { leavesYes } from '../shared/unread-verdict.ts';
import { WORDS } from './review-log.ts';

export const QUALITY_CHECKS = [
	'acceptance_criteria_met',
	'code_standards_met',
	'test_coverage_adequate',
	'security_review_passed',
] as const;
export type QualityChecks = { readonly [K in (typeof QUALITY_CHECKS)[number]]: boolean | null };

/** A reviewer's verdict, proven well-formed. */
export interface ReviewVerdict {
	readonly decision: 'GO' | 'NO_GO';
	readonly feedback: string;
	readonly qualityChecks: QualityChecks;
	readonly findings: readonly Finding[];
}

export type ParsedReply =
	| { readonly ok: true; readonly verdict: ReviewVerdict }
	| { readonly ok: false; readonly violation: string };

type Protocol = 'decision' | 'drift';

/** What a reply is read by. */
export interface Reading {
	readonly protocol: Protocol;
	/** What the reviewer was told to echo, if it echoes. */
	readonly reviewId: string;
	/** What others wrote: a verdict that stands there is not the reviewer's own. */
	readonly material: readonly string[];
}

/** The one verdict in a reply, or why there is none. */
export function parseReply(reply: string, reading: Reading): ParsedReply {
	const { protocol, reviewId, material } = reading;
	const found = findVerdict<ReviewVerdict>(reply, {
		key: protocol === 'decision' ? 'decision' : 'verdict',
		members: SAYS[protocol],
		material,
		reviewId,
		read: (candidate) => asRead(protocol === 'decision' ? readDecision(candidate) : readDrift(candidate)),
		saysTheSame: (one, other) => one.decision === other.decision,
		words: Object.values(ANSWERS[protocol]),
		holdsBeside: ({ decision }, saying) => decision === 'NO_GO' || leavesYes(saying, ANSWERS[protocol]),
	});
	return found.ok ? { ok: true, verdict: found.value } : found;
}

/** The members that say what was decided, and why. */
const SAYS = { decision: ['decision', 'feedback'], drift: ['verdict', 'followUpPrompt'] } as const;

const ANSWERS = { decision: WORDS, drift: { yes: 'pass', no: 'drift' } } as const;

function asRead(reply: ParsedReply): Found<ReviewVerdict> {
	return reply.ok ? { ok: true, value: reply.verdict } : reply;
}

function readDecision(candidate: Candidate): ParsedReply {
	const { decision, feedback } = candidate;
	if (decision !== 'GO' && decision !== 'NO_GO') {
		return violation(`"decision" is ${show(decision)}, expected "GO" or "NO_GO"`);
	}
	if (typeof feedback !== 'string') return violation(`"feedback" is ${show(feedback)}, expected a text`);
	if (decision === 'NO_GO' && feedback.trim() === '')
		return violation('a NO_GO needs "feedback" that says what to change');
	const checks = readQualityChecks(candidate['quality_checks']);
	if (typeof checks === 'string') return violation(checks);
	const findings = readFindings(candidate['findings']);
	if (typeof findings === 'string') return violation(findings);
	return { ok: true, verdict: { decision, feedback, qualityChecks: checks, findings } };
}

function readDrift(candidate: Candidate): ParsedReply {
	const { verdict, followUpPrompt } = candidate;
	if (verdict !== 'pass' && verdict !== 'drift')
		return violation(`"verdict" is ${show(verdict)}, expected "pass" or "drift"`);
	if (typeof followUpPrompt !== 'string')
		return violation(`"followUpPrompt" is ${show(followUpPrompt)}, expected a text`);
	if (verdict === 'drift' && followUpPrompt.trim() === '') {
		return violation('a drift needs a "followUpPrompt" that says what to change');
	}
	const decision = verdict === 'pass' ? 'GO' : 'NO_GO';
	return { ok: true, verdict: { decision, feedback: followUpPrompt, qualityChecks: UNKNOWN_CHECKS, findings: [] } };
}

/** What a reviewer did not say is unknown, not true. */
const UNKNOWN_CHECKS: QualityChecks = {
	acceptance_criteria_met: null,
	code_standards_met: null,
	test_coverage_adequate: null,
	security_review_passed: null,
};

function readQualityChecks(value: unknown): QualityChecks | string {
	if (value === undefined || value === null) return UNKNOWN_CHECKS;
	if (!isObject(value)) return `"quality_checks" is ${show(value)}, expected an object`;
	const checks: { -readonly [K in keyof QualityChecks]: QualityChecks[K] } = { ...UNKNOWN_CHECKS };
	for (const name of QUALITY_CHECKS) {
		const given = value[name];
		if (given === undefined || given === null) continue;
		if (typeof given !== 'boolean') return `"quality_checks.${name}" is ${show(given)}, expected true or false`;
		checks[name] = given;
	}
	return checks;
}

function readFindings(value: unknown): readonly Finding[] | string {
	if (value === undefined || value === null) return [];
	if (!Array.isArray(value)) return `"findings" is ${show(value)}, expected a list`;
	const findings: Finding[] = [];
	for (const entry of value) {
		const finding = readFinding(entry);
		if (finding === null) return 'a finding needs the texts "severity" and "issue"';
		findings.push(finding);
	}
	return findings;
}

function readFinding(entry: unknown): Finding | null {
	if (!isObject(entry) || !isWords(entry['severity']) || !isWords(entry['issue'])) return null;
	const { file, line, details, fix, confidence, reviewer } = entry;
	return {
		severity: entry['severity'],
		issue: entry['issue'],
		...(typeof file === 'string' ? { file } : {}),
		...(Number.isInteger(line) ? { line: line as number } : {}),
		...(typeof details === 'string' ? { details } : {}),
		...(typeof fix === 'string' ? { fix } : {}),
		...(Number.isFinite(confidence) ? { confidence: confidence as number } : {}),
		...(typeof reviewer === 'string' ? { reviewer } : {}),
	};
}

function violation(reason: string): ParsedReply {
	return { ok: false, violation: reason };
}

function isObject(value: unknown): value is Candidate {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isWords(value: unknown): value is string {
	return typeof value === 'string' && value.trim() !== '';
}
