/** Tells whether what lies in the queue has the shape that it must have: people can edit those files. */
import type { HilItem, HilResolution } from '../events.ts';

/** A resolution as it lies on the disk: bound to its item, and sealed. */
export interface StoredResolution extends HilResolution {
	readonly item: string;
	readonly item_sha256: string;
	/** The sha256 of the canonical JSON of all the rest. */
	readonly hash: string;
}

/** Whether a value read from the queue is an item. */
export function isItem(value: unknown): value is HilItem {
	if (!isObject(value)) return false;
	const choices = value.choices;
	return (
		TEXTS.every((name) => typeof value[name] === 'string') &&
		['PENDING', 'ACKED', 'RESOLVED', 'REJECTED'].includes(value.status as string) &&
		Array.isArray(choices) &&
		choices.every((choice) => typeof choice === 'string') &&
		isObject(value.context)
	);
}

const TEXTS = ['id', 'run_id', 'workflow', 'task_id', 'overlay', 'trigger', 'question', 'created_at'] as const;

/** Whether a value read from the queue is a resolution. */
export function isResolution(value: unknown): value is StoredResolution {
	if (!isObject(value)) return false;
	return (
		['item', 'item_sha256', 'choice', 'by', 'at', 'hash'].every(
			(name) => typeof value[name] === 'string' && value[name] !== '',
		) &&
		['tty', 'cli', 'web', 'ci'].includes(value.via as string) &&
		Object.values(value).every((member) => member === null || typeof member === 'string')
	);
}

function isObject(value: unknown): value is { readonly [member: string]: unknown } {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
