/** Opening a finished run of 10,000 tasks and folding its journal, over parsing the journal's lines. */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { importSources } from '../bundle.mjs';
import { interleave, median, ratioOf, timed } from '../measure.mjs';
import { journalText, runFolder, runSliced } from '../projects.mjs';
import { chain, replies, workflow } from '../workflows.mjs';

const SOURCES = ['engine/run/reduce.ts', 'engine/store/journal.ts'];
const ROUNDS = 11;

export async function measure(bench) {
	const { openJournal, emptyState, reduce } = await importSources(bench, SOURCES);
	const project = await bench.once('finished run', () => finishedRun(bench));
	const journal = join(runFolder(project), 'journal');
	const resume = async () => {
		// Opening adds a segment: each time it gets a journal as the run left it.
		const copy = join(bench.folder, 'journal-to-open');
		cpSync(journal, copy, { recursive: true });
		let opened = null;
		const ms = await timed(() => {
			let state = emptyState();
			const onRecord = (record) => {
				state = reduce(state, record);
			};
			opened = openJournal(copy, { version: 'bench', onRecord });
			if (state.tasks.size !== 10_000) throw new Error(`the journal tells of ${state.tasks.size} tasks`);
		});
		await opened.writer.close();
		rmSync(copy, { recursive: true });
		return ms;
	};
	const parse = () => timed(() => parseLines(journalText(project)));
	await interleave({ parse, resume }, 2);
	const costs = await interleave({ parse, resume }, ROUNDS);
	return [
		{
			what: 'resume of a finished 10,000-task run: open, check and fold its journal',
			against: 'reading it and `JSON.parse` of each line',
			floor: `${median(costs.parse).toFixed(0)} ms`,
			ours: `${median(costs.resume).toFixed(0)} ms`,
			ratio: ratioOf(costs.resume, costs.parse),
			goal: 2.5,
		},
	];
}

function parseLines(text) {
	return text
		.trimEnd()
		.split('\n')
		.map((line) => JSON.parse(line));
}

function finishedRun(bench) {
	const project = bench.project({ 'workflow.yaml': workflow(chain(10_000)), 'replies.yaml': replies() });
	runSliced(bench, project);
	return project;
}
