/** Puts together what defaults and a task say of its overlays: per overlay, field by field, the nearer one wins. */
import type { JsonObject } from '../json.ts';
import { isThere, type Place, type Pointer, type Source } from './source.ts';
import type { OverlayEntry } from './workflow-file.ts';

/** One `overlays:` map and where it stands. */
export interface OverlayLayer {
	readonly source: Source;
	readonly pointer: Pointer;
	readonly entries: { readonly [name: string]: OverlayEntry };
}

/** What all layers together say of one overlay. */
export interface MergedOverlay {
	readonly name: string;
	readonly entry: OverlayEntry;
	/** Those that mention it, the nearest last. */
	readonly layers: readonly OverlayLayer[];
}

/** The overlays of a task from its layers, the nearest last. */
export function mergeOverlays(layers: readonly OverlayLayer[]): readonly MergedOverlay[] {
	const names = new Set(layers.flatMap((layer) => Object.keys(layer.entries)));
	return [...names].map((name) => {
		const own = layers.filter((layer) => Object.hasOwn(layer.entries, name));
		return { name, entry: own.map((layer) => layer.entries[name]!).reduce(over), layers: own };
	});
}

/** Where a field of an overlay was said last; where nobody said it, the overlay's own name. */
export function placeOf(overlay: MergedOverlay, field: Pointer): Place {
	for (let length = field.length; length > 0; length--) {
		const path = field.slice(0, length);
		const layer = overlay.layers.findLast((one) => isThere(one.entries[overlay.name], path));
		if (layer === undefined) continue;
		return { source: layer.source, pointer: [...layer.pointer, overlay.name, ...path], on: 'value' };
	}
	const nearest = overlay.layers.at(-1)!;
	return { source: nearest.source, pointer: [...nearest.pointer, overlay.name], on: 'key' };
}

function over(farther: OverlayEntry, nearer: OverlayEntry): OverlayEntry {
	const merged = { ...farther, ...nearer };
	if (farther.options === undefined || nearer.options === undefined) return merged;
	return { ...merged, options: { ...farther.options, ...nearer.options } as JsonObject };
}
