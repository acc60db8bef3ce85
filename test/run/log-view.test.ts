import { expect, test } from 'vitest';
import type { OverlayLog } from '../../engine/contract.ts';
import { agentsIn, endOf, logDocument, logText, recordText } from '../../engine/run/log-view.ts';
import { AT, taskState } from '../builders.ts';

const log: OverlayLog = {
	folder: 'logs',
	name: 'log',
	closing: (records, { ended }) => ({ count: records.length, open: ended === null }),
};
const about = { task: 'implement', run: 'run-1', ended: null };

test('records with an iteration are iterations, the others are decisions; the closing comes last', () => {
	const records = [{ iteration: 1, text: 'a' }, { choice: 'rework' }, { iteration: 2, text: 'b' }];
	const document = logDocument(log, 'gate', records, about);
	expect(Object.keys(document)).toEqual(['task_id', 'overlay', 'run_id', 'iterations', 'decisions', 'count', 'open']);
	expect(document).toMatchObject({
		iterations: [{ text: 'a' }, { text: 'b' }],
		decisions: [{ choice: 'rework' }],
		count: 3,
	});
});

test('without decisions there is no such member', () => {
	expect(logDocument(log, 'gate', [{ iteration: 1 }], about)).not.toHaveProperty('decisions');
});

test('a log knows whether and when its task ended', () => {
	expect(endOf(taskState())).toBeNull();
	expect(endOf(taskState({ status: 'COMPLETED', endedAt: AT }))).toEqual({ completed: true, at: AT });
	expect(endOf(taskState({ status: 'FAILED', endedAt: AT }))).toEqual({ completed: false, at: AT });
});

test('whoever a record names as some agent is told with their part in it, in one order', () => {
	const record = {
		reviewer_agent: 'rev',
		agent: 'x',
		coder_agent: 'dev',
		evaluator_agent: null,
		second_reader_agent: 'z',
	};
	expect(agentsIn(record)).toEqual(['coder dev', 'reviewer rev', 'second reader z']);
});

test('the text is JSON with one record a line', () => {
	const document = logDocument(log, 'gate', [{ iteration: 1 }, { iteration: 2 }, { choice: 'accept' }], about);
	const text = logText(document, (record) => recordText(record));
	expect(JSON.parse(text)).toEqual(document);
	expect(text).toBe(`{
  "task_id": "implement",
  "overlay": "gate",
  "run_id": "run-1",
  "iterations": [
    {"iteration":1},
    {"iteration":2}
  ],
  "decisions": [
    {"choice":"accept"}
  ],
  "count": 3,
  "open": true
}
`);
});

test('a log without iterations has an empty list', () => {
	expect(JSON.parse(logText(logDocument(log, 'gate', [], about), (record) => recordText(record)))).toMatchObject({
		iterations: [],
	});
});

test('a record is written in one order, whatever order it was made in: named members first, the chain last', () => {
	const one = recordText({ hash: 'h', b: 2, iteration: 1, prev_hash: 'p', a: 1 }, ['iteration']);
	const other = recordText({ iteration: 1, a: 1, b: 2, prev_hash: 'p', hash: 'h' }, ['iteration']);
	expect(one).toBe('{"iteration":1,"a":1,"b":2,"prev_hash":"p","hash":"h"}');
	expect(other).toBe(one);
});

test('a named member that a record does not have is left out, also one that every object has', () => {
	expect(recordText({ iteration: 1 }, ['toString', 'zzz', 'iteration'])).toBe('{"iteration":1}');
});

test('every version of a log begins with the one before it', () => {
	const records = [1, 2, 3].map((iteration) => ({ iteration, feedback: `review ${iteration}` }));
	const lists = records.map(
		(_, index) => logDocument(log, 'gate', records.slice(0, index + 1), about)['iterations'],
	) as (readonly unknown[])[];
	for (const [index, list] of lists.slice(1).entries()) expect(list.slice(0, index + 1)).toEqual(lists[index]);
});
