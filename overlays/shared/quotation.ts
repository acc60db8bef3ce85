/** Tells a reviewer's own words from words it only repeats: a verdict that stands in the work is the coder's, not the reviewer's. */
import type { Moment } from '../../engine/contract.ts';
import type { FoundObject } from './find-objects.ts';

/** Everything in a review that others than the reviewer wrote. */
export function materialOf(moment: Moment): readonly string[] {
	return [
		...moment.artifacts.flatMap((artifact) => artifact.content ?? []),
		moment.output.text,
		moment.diff.replaceAll(/^[+-]/gm, ''),
		...moment.checks.map((check) => check.output),
	];
}

/**
 * Those of the verdicts that stand in the material, however they are indented or escaped there: word for word, or with
 * the same values of the members that say what was decided and why. One text is looked at after another: together they
 * may be large.
 */
export function quotedIn(
	material: readonly string[],
	verdicts: readonly FoundObject[],
	members: readonly string[],
): ReadonlySet<FoundObject> {
	const wanted = verdicts.map((verdict) => ({ verdict, text: bare(verdict.text), said: saidBy(verdict, members) }));
	const quoted = new Set<FoundObject>();
	for (const text of material) {
		const bared = bare(text);
		for (const { verdict, text, said } of wanted) {
			if (bared.includes(text) || said?.every((member) => bared.includes(member))) quoted.add(verdict);
		}
	}
	return quoted;
}

/**
 * The members as they would stand in a bared text; null where one is no text, which is no verdict anyway. Whether they
 * stand in one object there is not asked: what is an object in a text that is not JSON, a coder could make hard to tell.
 */
function saidBy({ value }: FoundObject, members: readonly string[]): readonly string[] | null {
	if (members.some((name) => typeof value[name] !== 'string')) return null;
	return members.map((name) => bare(`"${name}":${JSON.stringify(value[name])}`));
}

/** A text without white space and escapes: JSON looks the same then, whoever wrote it, and inside JSON as well. */
function bare(text: string): string {
	return text
		.replaceAll(/(?<!\\)\\+u([\da-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
		.replaceAll(/\\[bfnrt]?|\s+/g, '');
}
