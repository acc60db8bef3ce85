/** Gathers what the checks of an attempt prove, and what of it is missing. Pure. */
import type { CheckResult, Moment } from '../../engine/contract.ts';
import { coverageFigure, PRINT_A_FIGURE } from '../shared/coverage-figure.ts';
import { askedFor, DEFAULT_COVERAGE, type GateOptions } from './gate-options.ts';

/** One check, as evidence. */
export interface Evidence {
	readonly kind: string;
	readonly check: string;
	readonly ok: boolean;
	/** Whether the gate needs it: its kind is asked for, or the check itself is required. */
	readonly required: boolean;
	/** The figure of a coverage check. */
	readonly value?: number;
}

/** All that the gate judges by. */
export interface Collected {
	readonly evidence: readonly Evidence[];
	/** Kinds that are asked for and for which no check was run. */
	readonly missing: readonly string[];
	/** Why the evidence is not sufficient, one reason a kind or check. */
	readonly reasons: readonly string[];
	/** What kept the evidence from being collected. */
	readonly errors: readonly string[];
	/** Changed files that must not change. */
	readonly forbidden: readonly string[];
}

/** Collects the evidence of one attempt. */
export function collect(moment: Moment, options: GateOptions): Collected {
	const asked = askedFor(options);
	const missing = asked.filter((kind) => !moment.checks.some((check) => check.kind === kind));
	const weighed = moment.checks.map((check) => weigh(check, asked.includes(check.kind as never), options));
	return {
		evidence: weighed.map(({ evidence }) => evidence),
		missing,
		reasons: [
			...missing.map((kind) => `${kind}: no check of this kind was run`),
			...weighed.flatMap(({ reason }) => reason ?? []),
		],
		errors: weighed.flatMap(({ error }) => error ?? []),
		forbidden: moment.touched,
	};
}

interface Weighed {
	readonly evidence: Evidence;
	readonly reason?: string;
	readonly error?: string;
}

function weigh(check: CheckResult, isAsked: boolean, options: GateOptions): Weighed {
	const { kind, name } = check;
	const coverage = kind === 'coverage' ? coverageFigure(check.output) : null;
	const value = coverage?.share ?? null;
	const threshold = options.coverage_threshold ?? DEFAULT_COVERAGE;
	const isLow = isAsked && value !== null && value < threshold;
	const required = isAsked || check.required;
	const evidence = { kind, check: name, ok: check.ok && !isLow, required, ...(value === null ? {} : { value }) };
	if (!check.ok)
		return required ? { evidence, reason: `${kind}: the check "${name}" ${failure(check)}` } : { evidence };
	if (isLow) return { evidence, reason: `${kind}: ${value} by the check "${name}" is below ${threshold}` };
	if (!isAsked || coverage === null || coverage.share !== null) return { evidence };
	const error = `the coverage check "${name}" gives no figure: ${coverage.reason}; ${PRINT_A_FIGURE}`;
	return { evidence: { ...evidence, ok: false }, error };
}

function failure({ exit, reason }: CheckResult): string {
	return reason ?? (exit === null ? 'did not come to an end' : `failed (exit ${exit})`);
}
