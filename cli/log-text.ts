/** An overlay's log, for people: every iteration and decision in the order in which they came. */
import { overruledIn } from '../engine/failed-checks.ts';
import { findingsIn, withFindings } from '../engine/findings.ts';
import type { Json, JsonObject } from '../engine/json.ts';
import { printable, printableLine } from '../engine/printable.ts';
import { agentsIn, deciderIn } from '../engine/run/log-view.ts';

/** Whether a value is such a log. */
export function isLog(value: Json | undefined): value is JsonObject {
	return value !== undefined && isObject(value) && 'iterations' in value;
}

/** The log as lines. */
export function logText(log: JsonObject): string {
	const entries = [...listIn(log, 'iterations'), ...listIn(log, 'decisions')];
	const inOrder = entries.sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : timeOf(a) > timeOf(b) ? 1 : 0));
	const end = log['final_decision'] ?? log['status'];
	const final = CLOSING.some((name) => name in log) ? `\n  final decision: ${wordOf(end)}\n` : '';
	return `${wordOf(log['overlay'])}\n${inOrder.map(entryText).join('')}${final}`;
}

/** Members that say how a log ended, whatever its overlay calls it. */
const CLOSING = ['final_decision', 'status'];

/** Any overlay may write any JSON there: what is no object has nothing to tell. */
function listIn(log: JsonObject, name: string): readonly JsonObject[] {
	const list = log[name];
	return Array.isArray(list) ? list.filter(isObject) : [];
}

function isObject(value: Json): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function timeOf(entry: JsonObject): string {
	return String(entry['timestamp'] ?? '');
}

function entryText(entry: JsonObject): string {
	const isReview = entry['iteration'] !== undefined;
	const what = isReview
		? `iteration ${wordOf(entry['iteration'])}${said(': ', entry['decision'])}`
		: `decision${said(': ', entry['choice'])}`;
	const who = [...agentsIn(entry), ...deciderIn(entry)].map((words) => `, ${printableLine(words)}`).join('');
	const artifacts = listIn(entry, 'artifacts').map(({ path, sha256 }) => `on ${wordOf(path)} sha256 ${wordOf(sha256)}`);
	const text = String((isReview ? entry['feedback'] : entry['notes']) ?? '');
	const words = printable(withFindings(text, findingsIn(entry))).trimEnd();
	const lines = [
		...artifacts,
		...overruledIn(entry).map((line) => printableLine(line)),
		...(words === '' ? [] : words.split('\n')),
	];
	return `  ${what}${who}${said(' at ', entry['timestamp'])}\n${lines.map((line) => `      ${line}\n`).join('')}`;
}

/** A member with what leads to it; nothing where a record does not have it. */
function said(lead: string, value: Json | undefined): string {
	return value === undefined ? '' : `${lead}${wordOf(value)}`;
}

function wordOf(value: Json | undefined): string {
	return value === undefined || value === null ? 'open' : printableLine(String(value));
}
