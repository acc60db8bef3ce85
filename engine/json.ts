/** Any value that survives a trip through JSON. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
	readonly [key: string]: Json | undefined;
}

/** Deeper than this no verdict is read: nobody writes so by hand, and whoever walks through it would run out of stack. */
export const MAX_DEPTH = 200;

/** Whether plain data is nested deeper than that. */
export function isTooDeep(value: unknown): boolean {
	let level: readonly unknown[] = [value];
	for (let depth = 0; level.length > 0; depth++) {
		if (depth > MAX_DEPTH) return true;
		level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
	}
	return false;
}
