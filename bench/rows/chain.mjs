/** A chain of 10,000 tasks that do nothing: what the engine adds to the disk's own time, and how often it syncs. */
import { median } from '../measure.mjs';
import { runSliced } from '../projects.mjs';
import { chain, replies, workflow } from '../workflows.mjs';

const TASKS = 10_000;
const SLICES = 20;
const ROUNDS = 3;

export async function measure(bench) {
	const runs = Array.from({ length: ROUNDS }, () => {
		const project = bench.project({ 'workflow.yaml': workflow(chain(TASKS)), 'replies.yaml': replies() });
		return runSliced(bench, project, TASKS / SLICES);
	});
	const perTask = (name) => median(runs.map((run) => run[name])) / TASKS;
	return [
		{
			what: 'chain of 10,000 no-op tasks, per task',
			against: 'the same appends, each with its fdatasync',
			floor: `${perTask('floorMs').toFixed(3)} ms`,
			ours: `${perTask('runMs').toFixed(3)} ms`,
			ratio: median(runs.map((run) => run.runMs / run.floorMs)),
			goal: 1.5,
		},
		{
			what: 'chain: syncs per task',
			against: 'one task',
			floor: '1 task',
			ours: `${perTask('syncs').toFixed(2)} syncs`,
			ratio: perTask('syncs'),
			goal: 2,
		},
	];
}
