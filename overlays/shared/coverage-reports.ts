/** Reads coverage from JSON: `{"coverage": 0.835}`, and what istanbul's json-summary reporter writes. */
import type { Mention } from './coverage-lines.ts';
import type { FoundObject } from './find-objects.ts';
import { show } from './find-verdict.ts';

/** Whether an object speaks of coverage. */
export function isReport({ value }: FoundObject): boolean {
	return Object.hasOwn(value, 'coverage') || METRICS.some((metric) => metricOf(value, metric) !== null);
}

/** What it says, a mention for each kind of coverage. */
export function reportMentions(report: FoundObject): readonly Mention[] {
	const { value, text } = report;
	// JSON lets the last of two equal keys win; here that would hide a disagreement.
	if (keysIn(text) !== keysIn(JSON.stringify(value))) return [{ doubt: 'its JSON says the same key twice' }];
	if (Object.hasOwn(value, 'coverage')) return [shareIn(value['coverage'], 1, '"coverage"')];
	return METRICS.flatMap((metric) => {
		const found = metricOf(value, metric);
		// Where there is nothing to cover, istanbul says 100 or "Unknown".
		return found === null || found['total'] === 0 ? [] : [shareIn(found['pct'], 100, `"total.${metric}.pct"`)];
	});
}

const METRICS = ['statements', 'branches', 'functions', 'lines'] as const;

type JsonRecord = { readonly [key: string]: unknown };

function metricOf(value: JsonRecord, metric: string): JsonRecord | null {
	const { total } = value;
	const found = isRecord(total) && Object.hasOwn(total, metric) ? total[metric] : null;
	return isRecord(found) && Object.hasOwn(found, 'pct') ? found : null;
}

function shareIn(value: unknown, whole: number, name: string): Mention {
	if (typeof value === 'number' && value >= 0 && value <= whole) {
		return { share: Number((value / whole).toFixed(12)) };
	}
	return { doubt: `${name} is ${show(value)}, expected a number from 0 to ${whole}` };
}

function keysIn(json: string): number {
	return [...json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon !== undefined).length;
}

function isRecord(value: unknown): value is JsonRecord {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
