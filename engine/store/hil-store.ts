/**
 * The queue of questions to people, one item in up to three files:
 *
 *   <id>.json              the item; a view, with its state merged in where it was convenient
 *   <id>.ack.json          somebody has seen it
 *   <id>.resolution.json   the one decision, created exclusively, bound to the item by its sha256, and sealed by a hash
 *
 * The state of an item follows from its side files alone, so that nothing written over the view can approve anything.
 */
import { readdirSync } from 'node:fs';
import { SddError } from '../errors.ts';
import type { HilItem, HilResolution } from '../events.ts';
import type { JsonObject } from '../json.ts';
import { didYouMean } from '../suggest.ts';
import { canonical } from './canonical.ts';
import { mkdirDurable, putIfAbsent, replaceFile } from './durable.ts';
import { errnoOf, storeError } from './fs-errors.ts';
import { sha256 } from './hash.ts';
import { isItem, isResolution, type StoredResolution } from './hil-shape.ts';
import { ackFile, hilDir, ITEM_ID, itemFile, resolutionFile } from './layout.ts';
import { textOfFile } from './read-file.ts';

/** All items that can be read, oldest first, and those that cannot. */
export interface ItemList {
	readonly items: readonly HilItem[];
	readonly damaged: readonly { readonly id: string; readonly error: SddError }[];
}

/** Writes the view of an item; one that is there already and says the same or more is left alone. */
export function publishItem(project: string, item: HilItem): void {
	mkdirDurable(hilDir(project));
	const path = itemFile(project, item.id);
	if (putIfAbsent(path, viewText(item))) return;
	const there = readJson(path);
	const isCurrent = isItem(there) && itemDigest(there) === itemDigest(item) && RANK[there.status] >= RANK[item.status];
	if (!isCurrent) replaceFile(path, viewText(item));
}

/** An item with its present state; throws HIL_NOT_FOUND. */
export function readItem(project: string, id: string): HilItem {
	const item = readView(project, id);
	const resolution = readResolution(project, id, item);
	if (resolution !== null) return { ...item, status: statusOf(resolution), resolution };
	return { ...item, status: isAcked(project, id) ? 'ACKED' : 'PENDING', resolution: null };
}

/** Every item of the queue; a broken one does not hide the others. */
export function listItems(project: string): ItemList {
	const items: HilItem[] = [];
	const damaged: { id: string; error: SddError }[] = [];
	for (const id of itemIds(project)) {
		try {
			items.push(readItem(project, id));
		} catch (error) {
			if (!(error instanceof SddError)) throw error;
			damaged.push({ id, error });
		}
	}
	items.sort((a, b) => (a.created_at === b.created_at ? compare(a.id, b.id) : compare(a.created_at, b.created_at)));
	return { items, damaged };
}

/** Decides an item. Exactly one caller wins, however many processes try; the others get HIL_ALREADY_RESOLVED. */
export function resolveItem(project: string, id: string, resolution: HilResolution): HilItem {
	const item = readItem(project, id);
	if (item.resolution !== null) throw alreadyResolved(id, item.resolution);
	if (!item.choices.includes(resolution.choice)) throw notOffered(item, resolution.choice);
	const { choice, by, via, notes, at } = resolution;
	const body = { item: id, item_sha256: itemDigest(item), choice, by, via, notes, at };
	const file = { ...body, hash: sha256(canonical(body)) };
	if (!putIfAbsent(resolutionFile(project, id), `${JSON.stringify(file, null, 2)}\n`)) {
		throw alreadyResolved(id, readResolution(project, id, item) ?? resolution);
	}
	return refreshed(project, { ...item, status: statusOf(resolution), resolution: { choice, by, via, notes, at } });
}

/** Notes that a person has seen the item; doing so again, or after the decision, changes nothing. */
export function ackItem(project: string, id: string, ack: { readonly by: string; readonly at: string }): HilItem {
	const item = readItem(project, id);
	if (item.status !== 'PENDING') return item;
	putIfAbsent(ackFile(project, id), `${JSON.stringify({ item: id, by: ack.by, at: ack.at }, null, 2)}\n`);
	return refreshed(project, { ...item, status: 'ACKED' });
}

/**
 * The decision on an item, or null while there is none. It must be bound to the item as it was asked; give `item` from
 * the journal to have it checked against that rather than against the view.
 */
export function readResolution(project: string, id: string, item?: HilItem): HilResolution | null {
	const path = resolutionFile(project, id);
	const file = readJson(path);
	if (file === undefined) return null;
	const asked = item ?? readView(project, id);
	if (!isResolution(file)) throw damaged(path, 'it is not a resolution');
	if (file.hash !== hashOf(file)) throw damaged(path, 'its hash does not fit its content');
	if (file.item !== id) throw damaged(path, `it was made for the item ${file.item}`);
	if (file.item_sha256 !== itemDigest(asked))
		throw damaged(path, 'it was made for another question than this item asks');
	if (!asked.choices.includes(file.choice)) throw damaged(path, `the item does not offer the choice "${file.choice}"`);
	const { choice, by, via, notes, at } = file;
	return { choice, by, via, notes, at };
}

function hashOf(file: StoredResolution): string {
	const { hash: _hash, ...rest } = file;
	return sha256(canonical(rest));
}

/** The sha256 of what never changes of an item: all but its status and resolution. */
export function itemDigest(item: HilItem): string {
	const { status: _status, resolution: _resolution, ...asked } = item;
	return sha256(canonical(asked as unknown as JsonObject));
}

/** The ids of all items in the queue, sorted. */
export function itemIds(project: string): readonly string[] {
	try {
		const names = readdirSync(hilDir(project)).filter((name) => name.endsWith('.json'));
		return names
			.map((name) => name.slice(0, -'.json'.length))
			.filter((id) => ITEM_ID.test(id))
			.sort();
	} catch (error) {
		if (errnoOf(error) === 'ENOENT') return [];
		throw storeError(error, hilDir(project), 'read the queue');
	}
}

const RANK = { PENDING: 0, ACKED: 1, RESOLVED: 2, REJECTED: 2 } as const;

function viewText(item: HilItem): string {
	return `${JSON.stringify(item, null, 2)}\n`;
}

/** The item as asked, read from its view. */
export function readView(project: string, id: string): HilItem {
	const item = ITEM_ID.test(id) ? readJson(itemFile(project, id)) : undefined;
	if (item === undefined) throw notFound(project, id);
	if (isItem(item) && item.id === id) return item;
	throw damaged(itemFile(project, id), 'it is not a HIL item of that name');
}

/** Undefined where there is no file; null is what a broken one reads as. */
function readJson(path: string): unknown {
	try {
		return JSON.parse(textOfFile(path));
	} catch (error) {
		if (error instanceof SyntaxError) return null;
		if (errnoOf(error) === 'ENOENT') return undefined;
		throw storeError(error, path, 'read');
	}
}

function isAcked(project: string, id: string): boolean {
	return readJson(ackFile(project, id)) !== undefined;
}

/** What an item becomes by a decision. */
export function statusOf(resolution: HilResolution): HilItem['status'] {
	return resolution.choice === 'reject' ? 'REJECTED' : 'RESOLVED';
}

/** Brings the view up to date; it is only a view, so failing to do so changes nothing. */
function refreshed(project: string, item: HilItem): HilItem {
	try {
		replaceFile(itemFile(project, item.id), viewText(item));
	} catch (error) {
		if (!(error instanceof SddError)) throw error;
	}
	return item;
}

function compare(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}

function notFound(project: string, id: string): SddError {
	const near = nearIds(itemIds(project), id);
	const guess = near.length === 0 ? '' : `; did you mean ${near.slice(0, 3).join(' or ')}?`;
	const shown = JSON.stringify(id.slice(0, 200));
	return new SddError('HIL_NOT_FOUND', `there is no HIL item ${shown}${guess}`, 'list the items with `sdd hil list`');
}

/** Ids are long and pasted: what goes wrong is a piece missing or too much, or a letter or two. */
function nearIds(known: readonly string[], given: string): readonly string[] {
	if (given === '') return [];
	const pieces = known.filter((id) => id.includes(given) || given.includes(id));
	if (pieces.length > 0) return pieces;
	const meant = didYouMean(given, known);
	return meant === undefined ? [] : [meant];
}

function notOffered(item: HilItem, choice: string): SddError {
	return new SddError(
		'HIL_CHOICE_NOT_OFFERED',
		`the item ${item.id} does not offer ${JSON.stringify(choice.slice(0, 80))}`,
		`choose one of: ${item.choices.join(', ')}`,
	);
}

function alreadyResolved(id: string, by: HilResolution): SddError {
	return new SddError(
		'HIL_ALREADY_RESOLVED',
		`the item ${id} is already decided: "${by.choice}" by ${by.by} (${by.via}) at ${by.at}`,
		'that decision stands; see it with `sdd hil show` and go on with `sdd run`',
	);
}

function damaged(path: string, what: string): SddError {
	return new SddError(
		'STORE_HIL_DAMAGED',
		`${path} cannot be trusted: ${what}`,
		'it was changed by hand; restore it from a backup, or remove the file and decide again',
	);
}
