/** What `sdd constitution` prints: the merged sections, and where each comes from. */
import { SddError } from '../engine/errors.ts';
import type { JsonObject } from '../engine/json.ts';
import { printable } from '../engine/printable.ts';
import { didYouMean } from '../engine/suggest.ts';
import type { Merged } from './merge.ts';

/** What to show. */
export interface Shown {
	/** Only this section (letters' case does not matter); all of them when absent. */
	readonly section?: string;
}

/** The merged constitution as text for a person. */
export function renderConstitution(merged: Merged, shown: Shown = {}): string {
	return headingsOf(merged, shown)
		.map((heading) => sectionText(merged, heading))
		.join('\n\n');
}

/** The merged constitution as one JSON document. */
export function constitutionJson(merged: Merged, shown: Shown = {}): JsonObject {
	const sections = headingsOf(merged, shown).map((heading) => ({
		heading,
		text: merged.sections[heading] ?? '',
		sources: merged.sources[heading] ?? [],
	}));
	return { sections };
}

function headingsOf(merged: Merged, { section }: Shown): readonly string[] {
	const headings = Object.keys(merged.sections);
	if (section === undefined) return headings;
	const found = headings.filter((heading) => heading.toLowerCase() === section.trim().toLowerCase());
	if (found.length === 0) throw noSection(section, headings);
	return found;
}

function noSection(section: string, headings: readonly string[]): SddError {
	const meant = didYouMean(section, headings);
	const remedy = meant === undefined ? `there are ${headings.join(', ')}` : `did you mean "${meant}"?`;
	return new SddError('CLI_USAGE', `the constitution has no section ${JSON.stringify(section)}`, printable(remedy));
}

function sectionText(merged: Merged, heading: string): string {
	const sources = (merged.sources[heading] ?? []).join(' < ');
	return printable(`## ${heading}\n(from ${sources})\n\n${merged.sections[heading] ?? ''}`);
}
