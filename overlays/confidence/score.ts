/** The score of an attempt: the weighted mean of the metrics that are available. Pure. */
import type { CheckResult, Moment } from '../../engine/contract.ts';
import { coverageFigure } from '../shared/coverage-figure.ts';
import { type ConfidenceOptions, METRICS, type Metric, weightOf } from './confidence-options.ts';

/** A metric's value, or why there is none. */
export type Measured =
	| { readonly metric: Metric; readonly value: number; readonly note?: string }
	| { readonly metric: Metric; readonly value: null; readonly note: string };

/** The mean, and what it was made of. */
export interface Score {
	/** From 0 to 1, to three places; null where no metric was available. */
	readonly value: number | null;
	readonly metrics: readonly {
		readonly metric: Metric;
		readonly value: number;
		readonly weight: number;
		readonly note?: string;
	}[];
	/** The metrics that were left out, and why. */
	readonly unavailable: readonly { readonly metric: Metric; readonly note: string }[];
}

/** Weighs the metrics; `judged` is what came of asking the evaluator. */
export function scoreOf(moment: Moment, options: ConfidenceOptions, judged: Measured): Score {
	const measured = METRICS.filter((metric) => weightOf(metric, options) > 0).map((metric) =>
		metric === 'llm_judge' ? judged : measure(metric, moment),
	);
	const metrics = measured.flatMap(({ metric, value, note }) =>
		value === null
			? []
			: [{ metric, value, weight: weightOf(metric, options), ...(note === undefined ? {} : { note }) }],
	);
	const unavailable = measured.flatMap((one) => (one.value === null ? [{ metric: one.metric, note: one.note }] : []));
	return { value: mean(metrics), metrics, unavailable };
}

function mean(metrics: Score['metrics']): number | null {
	const total = metrics.reduce((sum, { weight }) => sum + weight, 0);
	if (total === 0) return null;
	return rounded(metrics.reduce((sum, { value, weight }) => sum + value * weight, 0) / total);
}

/** Towards 0: a score is never shown higher than it is. */
function rounded(value: number): number {
	return Math.floor(value * 1000 + 1e-9) / 1000;
}

function measure(metric: Exclude<Metric, 'llm_judge'>, moment: Moment): Measured {
	switch (metric) {
		case 'test_coverage':
			return coverage(moment);
		case 'lint_score':
			return passing(metric, 'lint', moment);
		case 'security_score':
			return passing(metric, 'security', moment);
		case 'checklist_completion':
			return passing(metric, 'acceptance', moment);
	}
}

/** Of several coverage checks the lowest figure counts. */
function coverage({ checks }: Moment): Measured {
	const metric = 'test_coverage';
	const [first, ...others] = checks.filter(({ kind }) => kind === 'coverage').map(covered);
	if (first === undefined) return { metric, value: null, note: 'there is no check of the kind coverage' };
	return { metric, ...others.reduce((lowest, one) => (one.value < lowest.value ? one : lowest), first) };
}

/** A check without a usable figure counts as 0: by printing nothing it must not make the score better than by a low one. */
function covered({ name, ok, output }: CheckResult): { readonly value: number; readonly note?: string } {
	if (!ok) return { value: 0, note: `the check "${name}" failed` };
	const figure = coverageFigure(output);
	if (figure.share !== null) return { value: figure.share };
	return { value: 0, note: `the check "${name}" gives no figure: ${figure.reason}` };
}

function passing(metric: Metric, kind: string, { checks }: Moment): Measured {
	const ran = checks.filter((check) => check.kind === kind);
	if (ran.length === 0) return { metric, value: null, note: `there is no check of the kind ${kind}` };
	return { metric, value: rounded(ran.filter((check) => check.ok).length / ran.length) };
}
