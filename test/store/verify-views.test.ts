import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { JournalRecord } from '../../engine/events.ts';
import type { Problem } from '../../engine/store/verification.ts';
import { checkViews } from '../../engine/store/verify-views.ts';

let dir = '';
beforeEach(() => {
	dir = mkdtempSync(join(tmpdir(), 'sdd-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const recordOf = (hash: string) => ({ kind: 'task_started', task: 'a', hash }) as JournalRecord;
const viewOf = (records: readonly JournalRecord[]): string => records.map(({ hash }) => hash).join('\n');

/** Problems with a view that holds `there`, where the journal held `before` first and `after` in the end. */
function problems(there: string, before: readonly string[], after: readonly string[]): readonly Problem[] {
	const path = join(dir, 'view');
	writeFileSync(path, there);
	const findings = { problems: [] as Problem[], notes: [] };
	const run = { id: 'run-1', records: before.map(recordOf), readAgain: () => after.map(recordOf) };
	checkViews(
		run,
		(records) => [{ path, expected: viewOf(records) }],
		findings,
		() => 'view',
	);
	return findings.problems;
}

it('a view that was written since the journal was read is sound', () => {
	expect(problems('1\n2\n3', ['1', '2'], ['1', '2', '3', '4'])).toEqual([]);
	expect(problems('1\n2\n3\n4', ['1', '2'], ['1', '2', '3', '4'])).toEqual([]);
});

it('a view that no journal has held was edited, however far the run has come', () => {
	for (const after of [
		['1', '2'],
		['1', '2', '3', '4'],
	])
		expect(problems('1\n2\nx', ['1', '2'], after)).toMatchObject([{ kind: 'view', file: 'view' }]);
});

it('a journal that is another one by now explains nothing', () => {
	expect(problems('1\nx\n3', ['1', '2'], ['1', 'x', '3'])).toMatchObject([{ kind: 'view' }]);
});
