/** Lengths of time as people write them: `500ms`, `20m`, `1h30m`; a bare number is seconds. */

/** What a duration looks like as text, for JSON Schema. */
export const DURATION_PATTERN = '^([0-9]+(\\.[0-9]+)?(ms|s|m|h|d))+$';

/** The longest time a timer can wait. */
export const LONGEST_MS = 2_147_483_647;

const UNITS: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds in a duration; undefined when it is none, or longer than a timer can wait (24 days). */
export function parseDuration(value: string | number): number | undefined {
	const ms = typeof value === 'number' ? value * 1000 : textToMs(value);
	if (ms === undefined || !(ms >= 0) || ms > LONGEST_MS) return undefined;
	return Math.round(ms);
}

/** Writes milliseconds the way `parseDuration` reads them. */
export function formatDuration(ms: number): string {
	if (ms === 0) return '0s';
	let rest = ms;
	let text = '';
	for (const unit of ['d', 'h', 'm', 's', 'ms']) {
		const count = Math.floor(rest / UNITS[unit]!);
		if (count > 0) text += `${count}${unit}`;
		rest -= count * UNITS[unit]!;
	}
	return text;
}

function textToMs(text: string): number | undefined {
	// A fixed pattern of short tokens; the length cap keeps hostile input from costing anything.
	if (text.length > 64 || !new RegExp(DURATION_PATTERN).test(text)) return undefined;
	let ms = 0;
	for (const [, count, unit] of text.matchAll(/([0-9.]+)(ms|s|m|h|d)/g)) ms += Number(count) * UNITS[unit!]!;
	return ms;
}
