/** Merges constitutions from far to near: Purpose and Background replace, all other sections append. */
import type { Constitution, Item } from './parse.ts';

/** A merged constitution, by section heading, and the files each section comes from, far to near. */
export interface Merged {
	readonly sections: { readonly [section: string]: string };
	readonly sources: { readonly [section: string]: readonly string[] };
}

const REPLACED = new Set(['purpose', 'background']);

/** Merges constitutions; the first is the farthest (the built-in defaults), the last the nearest. */
export function mergeConstitutions(layers: readonly Constitution[]): Merged {
	const sections = new Map<string, MergedSection>();
	for (const layer of layers) {
		// A file that uses a heading twice adds to its own section: only files override each other.
		for (const stated of statedBy(layer)) {
			const key = normal(stated.heading);
			sections.set(key, REPLACED.has(key) ? replaced(sections.get(key), stated) : appended(sections.get(key), stated));
		}
	}
	const all = [...sections.values()];
	return {
		sections: Object.fromEntries(all.map((section) => [section.heading, textOf(section)])),
		sources: Object.fromEntries(all.map((section) => [section.heading, sourcesOf(section)])),
	};
}

interface Sourced extends Item {
	readonly source: string;
}

interface MergedSection {
	/** As the farthest file spells it, so that readers find `Standards` however a nearer file writes it. */
	readonly heading: string;
	readonly items: readonly Sourced[];
	/** The untouched text, while only one file states the section. */
	readonly verbatim: string | null;
}

/** The sections of one file, those of the same name put together; a heading with nothing under it states nothing. */
function statedBy(layer: Constitution): readonly MergedSection[] {
	const stated = new Map<string, MergedSection>();
	for (const { heading, text, items } of layer.sections) {
		if (items.length === 0) continue;
		const sourced = items.map((item) => ({ ...item, source: layer.source }));
		const before = stated.get(normal(heading));
		const all = [...(before?.items ?? []), ...sourced];
		const verbatim = before === undefined ? text : `${before.verbatim}\n\n${text}`;
		stated.set(normal(heading), { heading: before?.heading ?? heading, items: all, verbatim });
	}
	return [...stated.values()];
}

function replaced(far: MergedSection | undefined, near: MergedSection): MergedSection {
	return { ...near, heading: far?.heading ?? near.heading };
}

function appended(far: MergedSection | undefined, near: MergedSection): MergedSection {
	if (far === undefined) return near;
	const restated = restatedBy(near.items);
	const items = [...far.items.filter((item) => !restated(item)), ...near.items];
	return { heading: far.heading, items, verbatim: null };
}

/** Whether a nearer item says a farther one anew; under different sub-headings the same key means different things. */
function restatedBy(near: readonly Item[]): (far: Item) => boolean {
	const anywhere = new Set(near.flatMap(topics));
	const inGroup = new Set(near.flatMap((item) => topics(item).map((topic) => `${normal(item.group)}\n${topic}`)));
	return (far) => {
		const group = normal(far.group);
		if (group === '') return topics(far).some((topic) => anywhere.has(topic));
		return topics(far).some((topic) => inGroup.has(`${group}\n${topic}`) || inGroup.has(`\n${topic}`));
	};
}

/** What an item is about: its words, and the bold key it begins with. */
function topics(item: Item): readonly string[] {
	const key = boldKey(item.text);
	return key === null ? [`words ${normal(item.text)}`] : [`words ${normal(item.text)}`, `key ${key}`];
}

function boldKey(text: string): string | null {
	const key = /^(\*\*|__)(.+?)\1/.exec(withoutMarker(text))?.[2];
	return key === undefined ? null : normal(key);
}

/** Words as they are compared: without case, spacing, bullet and closing punctuation. */
function normal(text: string): string {
	const words = withoutMarker(text).replaceAll(/\s+/g, ' ').trim().toLowerCase();
	let end = words.length;
	while (end > 0 && ' .:;!'.includes(words.charAt(end - 1))) end--;
	return words.slice(0, end);
}

function withoutMarker(text: string): string {
	return text.trimStart().replace(/^(?:#+|[-*+]|\d+[.)])\s+/, '');
}

/** Items under one sub-heading stand together; those under none come first, or they would seem to be under one. */
function textOf(section: MergedSection): string {
	if (section.verbatim !== null) return section.verbatim;
	const groups = new Map([['', { text: '', afterBullet: false }]]);
	for (const { group, bullet, text } of section.items) {
		const before = groups.get(normal(group)) ?? { text: group, afterBullet: false };
		const gap = before.afterBullet && bullet ? '\n' : '\n\n';
		groups.set(normal(group), { text: before.text === '' ? text : before.text + gap + text, afterBullet: bullet });
	}
	return [...groups.values()].flatMap(({ text }) => (text === '' ? [] : [text])).join('\n\n');
}

function sourcesOf(section: MergedSection): readonly string[] {
	return [...new Set(section.items.map((item) => item.source))];
}
