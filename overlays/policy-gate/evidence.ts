/** Gathers what the checks of an attempt prove, and what of it is missing. Pure. */
import type { CheckResult, Moment } from '../../engine/contract.ts';
import { coverageFigure } from '../shared/coverage-figure.ts';
import { filesInDiff, isAtOrBelow } from './changed-files.ts';
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
	const changes = forbiddenChanges(moment, options.forbidden ?? []);
	return {
		evidence: weighed.map(({ evidence }) => evidence),
		missing,
		reasons: [
			...missing.map((kind) => `${kind}: no check of this kind was run`),
			...weighed.flatMap(({ reason }) => reason ?? []),
		],
		errors: [...weighed.flatMap(({ error }) => error ?? []), ...changes.errors],
		forbidden: changes.files,
	};
}

interface Weighed {
	readonly evidence: Evidence;
	readonly reason?: string;
	readonly error?: string;
}

function weigh(check: CheckResult, isAsked: boolean, options: GateOptions): Weighed {
	const { kind, name } = check;
	const value = kind === 'coverage' ? coverageFigure(check.output) : null;
	const threshold = options.coverage_threshold ?? DEFAULT_COVERAGE;
	const isLow = isAsked && value !== null && value < threshold;
	const required = isAsked || check.required;
	const evidence = { kind, check: name, ok: check.ok && !isLow, required, ...(value === null ? {} : { value }) };
	if (!check.ok)
		return required ? { evidence, reason: `${kind}: the check "${name}" ${failure(check)}` } : { evidence };
	if (isLow) return { evidence, reason: `${kind}: ${value} by the check "${name}" is below ${threshold}` };
	if (!isAsked || kind !== 'coverage' || value !== null) return { evidence };
	const error = `the coverage check "${name}" printed no figure, such as 83% or {"coverage": 0.83}`;
	return { evidence: { ...evidence, ok: false }, error };
}

function failure({ exit, reason }: CheckResult): string {
	return reason ?? (exit === null ? 'did not come to an end' : `failed (exit ${exit})`);
}

interface Changes {
	readonly files: readonly string[];
	readonly errors: readonly string[];
}

/** What changed is in the diff; where there is no git to make one, only the declared outputs are known. */
function forbiddenChanges({ diff, artifacts }: Moment, places: readonly string[]): Changes {
	if (places.length === 0) return { files: [], errors: [] };
	const seen = new Set([...filesInDiff(diff), ...artifacts.map(({ path }) => path)]);
	const files = [...seen].filter((path) => isAtOrBelow(path, places));
	const error = files.length > 0 ? null : blindness(diff);
	return { files, errors: error === null ? [] : [error] };
}

/** Why a diff does not show every changed file; null if it does. */
function blindness(diff: string): string | null {
	if (/\n\[\.\.\. .* cut by sdd; .* in all\]$/.test(diff)) {
		return 'the diff is too long to be seen whole, so a forbidden change cannot be ruled out';
	}
	return diff.startsWith('(no diff: git could not') ? 'git could not say what changed' : null;
}
