/** `sdd logs`: what happened to a task, and what its agents wrote. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { EXIT } from '../../engine/errors.ts';
import type { JournalRecord } from '../../engine/events.ts';
import { printable } from '../../engine/printable.ts';
import { lineOf } from '../../engine/report/plain.ts';
import { runNamed } from '../../engine/run/find-run.ts';
import { readRun } from '../../engine/run/read-run.ts';
import { runDir } from '../../engine/store/layout.ts';
import type { Arguments } from '../arguments.ts';
import { asJson, type Terminal } from '../terminal.ts';
import { unknownTask } from './constitution.ts';

export function logs(terminal: Terminal, args: Arguments): number {
	const project = terminal.project();
	const run = runNamed(project, args.value('run'));
	const task = args.positionals[0] ?? '';
	const records: JournalRecord[] = [];
	const read = readRun(project, run, (record) => {
		if ('task' in record && record.task === task) records.push(record);
	});
	const known = read.plan.tasks.map(({ id }) => id);
	if (!known.includes(task)) throw unknownTask(task, known, `run ${run}`);
	if (args.has('json')) terminal.out(asJson({ run, task, events: records }));
	else for (const record of records) show(terminal, runDir(project, run), record);
	return EXIT.done;
}

function show(terminal: Terminal, folder: string, record: JournalRecord): void {
	const line = lineOf(record, terminal.color);
	if (line !== null) terminal.out(`${line}\n`);
	if (record.kind === 'attempt_finished' || record.kind === 'attempt_failed') showOutput(terminal, folder, record);
	if (record.kind === 'answered' && typeof record.answer.value === 'string' && record.answer.item === undefined) {
		terminal.out(indented(record.answer.value));
	}
}

function showOutput(
	terminal: Terminal,
	folder: string,
	{ output }: Extract<JournalRecord, { kind: 'attempt_finished' | 'attempt_failed' }>,
): void {
	if (output === null || output.bytes === 0) return;
	terminal.out(indented(output.text));
	if (output.file !== undefined && existsSync(join(folder, output.file))) {
		terminal.out(`         (${output.bytes} bytes in ${relative(terminal.cwd, join(folder, output.file))})\n`);
	}
}

function indented(text: string): string {
	const lines = printable(text).trimEnd().split('\n');
	return `${lines.map((line) => `         | ${line}`).join('\n')}\n`;
}
