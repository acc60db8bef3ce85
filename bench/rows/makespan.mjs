/** How well eight slots are used: the makespan of uneven tasks over the least that any scheduler could need. */
import { run } from '../measure.mjs';
import { journalOf } from '../projects.mjs';
import { replies, workflow } from '../workflows.mjs';

const TASKS = 120;
const SLOTS = 8;
const SEEDS = [1, 2, 3, 4, 5];

export async function measure(bench) {
	const runs = SEEDS.map((seed) => measureGraph(bench, unevenGraph(seed)));
	const worst = runs.reduce((a, b) => (b.makespan / b.bound > a.makespan / a.bound ? b : a));
	return [
		{
			what: `${TASKS} uneven tasks on ${SLOTS} slots, makespan (the worst of ${SEEDS.length} graphs)`,
			against: 'max(critical path, work / slots)',
			floor: `${Math.round(worst.bound)} ms`,
			ours: `${worst.makespan} ms`,
			ratio: worst.makespan / worst.bound,
			goal: 1.15,
		},
	];
}

function measureGraph(bench, tasks) {
	const delays = Object.fromEntries(tasks.map(({ id, ms }) => [id, ms]));
	const text = workflow(tasks, { maxParallel: SLOTS });
	const cwd = bench.project({ 'workflow.yaml': text, 'replies.yaml': replies(delays) });
	run([...bench.sdd, 'run', 'workflow.yaml', '--quiet'], { cwd });
	const at = (kind) =>
		journalOf(cwd)
			.filter((one) => one.kind === kind)
			.map((one) => Date.parse(one.at));
	return { makespan: Math.max(...at('task_completed')) - Math.min(...at('task_started')), bound: boundOf(tasks) };
}

/** Tasks of 40 to 800 ms, most of them short; each needs up to two of the forty before it. The same for the same seed. */
function unevenGraph(seed) {
	const random = randomBy(seed);
	return Array.from({ length: TASKS }, (_, i) => {
		const near = Array.from({ length: Math.min(i, 40) }, (_, back) => `task-${i - 1 - back}`);
		const after = new Set(
			Array.from({ length: Math.floor(random() * 3) }, () => near[Math.floor(random() * near.length)]),
		);
		after.delete(undefined);
		return { id: `task-${i}`, after: [...after], ms: 40 + Math.round(760 * random() ** 2) };
	});
}

function randomBy(seed) {
	let state = seed;
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return state / 2 ** 32;
	};
}

function boundOf(tasks) {
	const ends = new Map();
	for (const { id, after, ms } of tasks) ends.set(id, ms + Math.max(0, ...after.map((one) => ends.get(one))));
	const work = tasks.reduce((sum, { ms }) => sum + ms, 0);
	return Math.max(...ends.values(), work / SLOTS);
}
