/** Tells a reviewer's own words from words it only repeats: a verdict that stands in the work is the coder's, not the reviewer's. */
import type { Moment } from '../../engine/contract.ts';

/** Everything in a review that others than the reviewer wrote. */
export function materialOf(moment: Moment): readonly string[] {
	return [
		...moment.artifacts.flatMap((artifact) => artifact.content ?? []),
		moment.output.text,
		moment.diff.replaceAll(/^[+-]/gm, ''),
		...moment.checks.map((check) => check.output),
	];
}

/** Tells of a text whether it stands in the material, however it is indented or escaped there. */
export function quotationsOf(material: readonly string[]): (text: string) => boolean {
	const bared = material.map(bare);
	return (text) => {
		const wanted = bare(text);
		return bared.some((one) => one.includes(wanted));
	};
}

function bare(text: string): string {
	return text.replaceAll(/[\s\\]+/g, '');
}
