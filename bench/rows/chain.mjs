/** A chain of 10,000 tasks that do nothing: what the engine adds to the disk's own time, and how often it syncs. */
import { runSliced } from '../projects.mjs';
import { chain, replies, workflow } from '../workflows.mjs';

const TASKS = 10_000;
const SLICES = 20;

export async function measure(bench) {
	const { runMs, floorMs, syncs } = await bench.once('chain sliced', () => {
		const project = bench.project({ 'workflow.yaml': workflow(chain(TASKS)), 'replies.yaml': replies() });
		return runSliced(bench, project, TASKS / SLICES);
	});
	return [
		{
			what: 'chain of 10,000 no-op tasks, per task',
			against: 'the same appends, each with its fdatasync',
			floor: `${(floorMs / TASKS).toFixed(3)} ms`,
			ours: `${(runMs / TASKS).toFixed(3)} ms`,
			ratio: runMs / floorMs,
			goal: 1.5,
		},
		{
			what: 'chain: syncs per task',
			against: 'one task',
			floor: `${TASKS} tasks`,
			ours: `${syncs} syncs`,
			ratio: syncs / TASKS,
			goal: 2,
		},
	];
}
