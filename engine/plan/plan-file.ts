/** A plan as it lies on disk: snake_case JSON. The one place where the case changes. */
import type { Plan } from './plan.ts';

/** The same plan gives the same bytes; one task per line, so that two plans can be compared. */
export function planToDisk(plan: Plan): string {
	const { tasks, ...rest } = renamed(plan, TO_DISK) as { readonly tasks: readonly unknown[] };
	const members = Object.entries(rest).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
	const lines = tasks.map((task) => JSON.stringify(task));
	return `{${members.join(',\n')},\n"tasks":[\n${lines.join(',\n')}\n]}\n`;
}

/** The plan from what `planToDisk` wrote. */
export function planFromDisk(text: string): Plan {
	return renamed(JSON.parse(text), FROM_DISK) as Plan;
}

const TO_DISK = new Map(
	Object.entries({
		acceptanceCriteria: 'acceptance_criteria',
		backoffMs: 'backoff_ms',
		dependsOn: 'depends_on',
		maxAttempts: 'max_attempts',
		maxBackoffMs: 'max_backoff_ms',
		onError: 'on_error',
		readOnly: 'read_only',
		stopMarkers: 'stop_markers',
		timeoutMs: 'timeout_ms',
	}),
);

const FROM_DISK = new Map([...TO_DISK].map(([code, disk]) => [disk, code]));

/** What is below these belongs to others: options, expressions, headings, names of templates. */
const OPAQUE = new Set(['options', 'when', 'constitutions', 'templates', 'run']);

/** Thousands of tasks have the same empty lists. */
const NONE: readonly never[] = Object.freeze([]);

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
	if (value === null || typeof value !== 'object') return value;
	if (Array.isArray(value)) return value.length === 0 ? NONE : value.map((item) => renamed(item, names));
	const result: { [key: string]: unknown } = {};
	for (const key in value) {
		const item = (value as { readonly [key: string]: unknown })[key];
		const isPlain = item === null || typeof item !== 'object' || OPAQUE.has(key);
		result[names.get(key) ?? key] = isPlain ? item : renamed(item, names);
	}
	return result;
}
