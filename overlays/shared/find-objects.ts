/** Finds the JSON objects in a text that also holds other things: prose, code, braces that mean nothing. */

/** Steps the scan may take: enough for any honest reply, and a wall for one made of a million braces. */
const STEP_LIMIT = 20_000_000;

/** A JSON object, how it was written and where it begins. */
export interface FoundObject {
	readonly value: { readonly [key: string]: unknown };
	readonly text: string;
	readonly at: number;
}

/** The outermost JSON objects in the order they stand, or null when the text is too tangled to read in bounded time. */
export function findObjects(text: string): readonly FoundObject[] | null {
	const found: FoundObject[] = [];
	const budget = { steps: STEP_LIMIT };
	let at = text.indexOf('{');
	while (at !== -1) {
		const end = closingBrace(text, at, budget);
		if (budget.steps <= 0) return null;
		const written = text.slice(at, end + 1);
		const value = end === -1 ? undefined : parseObject(written);
		if (value !== undefined) found.push({ value, text: written, at });
		at = text.indexOf('{', value === undefined ? at + 1 : end + 1);
	}
	return found;
}

/** The text without these of its objects; a blank stands for each. */
export function outside(text: string, objects: readonly FoundObject[]): string {
	const starts = [0, ...objects.map(({ at, text: written }) => at + written.length)];
	return starts.map((start, index) => text.slice(start, objects[index]?.at)).join(' ');
}

/** Where the brace opened at `start` closes, minding JSON strings; -1 when it never does. */
function closingBrace(text: string, start: number, budget: { steps: number }): number {
	let depth = 0;
	let inString = false;
	for (let at = start; at < text.length; at++) {
		budget.steps--;
		if (budget.steps <= 0) return -1;
		const char = text.charCodeAt(at);
		if (inString) {
			if (char === BACKSLASH) at++;
			else if (char === QUOTE) inString = false;
		} else if (char === QUOTE) inString = true;
		else if (char === OPEN) depth++;
		else if (char === CLOSE && --depth === 0) return at;
	}
	return -1;
}

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN = 123;
const CLOSE = 125;

function parseObject(text: string): { readonly [key: string]: unknown } | undefined {
	try {
		return JSON.parse(text) as { readonly [key: string]: unknown };
	} catch {
		return undefined;
	}
}
