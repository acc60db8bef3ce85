/** Whether a task costs more in a large workflow than in a small one: bytes written, and time. */
import { interleave, median } from '../measure.mjs';
import { runSliced } from '../projects.mjs';
import { chain, fanOut, layered, replies, workflow } from '../workflows.mjs';

const SHAPES = { chain, 'fan-out 1 → n → 1': fanOut, 'layered DAG': layered };
const ROUNDS = 3;

export async function measure(bench) {
	const results = [];
	for (const [name, shape] of Object.entries(SHAPES)) results.push(...(await measureShape(bench, name, shape)));
	return results;
}

async function measureShape(bench, name, shape) {
	const measured = (n) => () => {
		const project = bench.project({ 'workflow.yaml': workflow(shape(n)), 'replies.yaml': replies() });
		return runSliced(bench, project);
	};
	const runs = await interleave({ small: measured(100), middle: measured(1000), large: measured(10_000) }, ROUNDS);
	const bytes = (list, n) => median(list.map((run) => run.bytes)) / n;
	const seconds = (list) => median(list.map((run) => run.wallMs)) / 1000;
	const perTask = { small: bytes(runs.small, 100), middle: bytes(runs.middle, 1000) };
	return [
		{
			what: `${name}: bytes written per task, 1,000 tasks`,
			against: '100 tasks',
			floor: `${Math.round(perTask.small)} bytes`,
			ours: `${Math.round(perTask.middle)} bytes`,
			ratio: perTask.middle / perTask.small,
			goal: 1.1,
		},
		{
			what: `${name}: exponent of the command's time, 1,000 to 10,000 tasks`,
			against: '1,000 tasks',
			floor: `${seconds(runs.middle).toFixed(2)} s`,
			ours: `${seconds(runs.large).toFixed(2)} s`,
			ratio: median(runs.large.map((run, i) => Math.log10(run.wallMs / runs.middle[i].wallMs))),
			goal: 1.1,
		},
	];
}
