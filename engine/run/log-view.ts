/** An overlay's log as a document: a fold of the records its verdicts carried. */
import type { LogSubject, OverlayLog } from '../contract.ts';
import type { JsonObject } from '../json.ts';
import { canonical } from '../store/canonical.ts';
import { isEnded, type TaskState } from './state.ts';

/** The document as data. Records without an `iteration` are people's decisions; the hash chain runs through both. */
export function logDocument(
	log: OverlayLog,
	overlay: string,
	records: readonly JsonObject[],
	about: LogSubject,
): JsonObject {
	const decisions = records.filter((record) => !('iteration' in record));
	return {
		task_id: about.task,
		overlay,
		run_id: about.run,
		iterations: records.filter((record) => 'iteration' in record),
		...(decisions.length === 0 ? {} : { decisions }),
		...log.closing(records, about),
	};
}

/** Whether and when the task has ended, as a log's closing members want to know it. */
export function endOf(task: TaskState): LogSubject['ended'] {
	// What an overlay's breakdown has ended is not decided.
	if (!isEnded(task.status) || task.endedAt === null || task.fault !== null) return null;
	return { completed: task.status === 'COMPLETED', at: task.endedAt };
}

/**
 * The agents that a record names and what each of them was, as `reviewer rev`: every member that ends in `_agent` tells. Where
 * an attempt was not made by an agent of the task, it says so.
 */
export function agentsIn(record: JsonObject): readonly string[] {
	return Object.keys(record)
		.filter((name) => name.endsWith(AGENT) && (typeof record[name] === 'string' || name === ATTEMPT_BY))
		.sort()
		.map((name) => `${name.slice(0, -AGENT.length).replaceAll('_', ' ')} ${String(record[name] ?? 'others')}`);
}

/** Who decided, and by which way, as `by ada (cli)`; nothing where a record holds no decision. */
export function deciderIn(record: JsonObject): readonly string[] {
	const { decided_by: by, decided_via: via } = record;
	return typeof by === 'string' ? [`by ${by}${typeof via === 'string' ? ` (${via})` : ''}`] : [];
}

const AGENT = '_agent';
const ATTEMPT_BY = 'attempt_by_agent';

/** The document as text: one record a line, so that it reads well, diffs well, and a record is written out only once. */
export function logText(document: JsonObject, lineOf: (record: JsonObject) => string): string {
	const members = Object.entries(document).map(([name, value]) => {
		const isList = (name === 'iterations' || name === 'decisions') && Array.isArray(value);
		const text = isList ? listText(value as readonly JsonObject[], lineOf) : canonical(value ?? null);
		return `  ${JSON.stringify(name)}: ${text}`;
	});
	return `{\n${members.join(',\n')}\n}\n`;
}

/** One record as text. Its order depends on nothing but its content: a log that is written anew is the same to the byte. */
export function recordText(record: JsonObject, first: readonly string[] = []): string {
	const ahead = first.filter((name) => Object.hasOwn(record, name));
	const rest = Object.keys(record)
		.filter((name) => !ahead.includes(name) && !LAST.includes(name))
		.sort();
	const names = [...ahead, ...rest, ...LAST.filter((name) => name in record)];
	return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(record[name] ?? null)}`).join(',')}}`;
}

const LAST: readonly string[] = ['prev_hash', 'hash'];

function listText(records: readonly JsonObject[], lineOf: (record: JsonObject) => string): string {
	if (records.length === 0) return '[]';
	return `[\n${records.map((record) => `    ${lineOf(record)}`).join(',\n')}\n  ]`;
}
