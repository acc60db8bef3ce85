/** A task whose agent is a command, over spawning that command with pipes from a bare Node: fresh, and after large outputs. */
import { fileURLToPath } from 'node:url';
import { interleave, median, ratioOf, run } from '../measure.mjs';
import { journalOf } from '../projects.mjs';
import { workflow } from '../workflows.mjs';

const ROUNDS = 9;
const TASKS = 100;
const LARGE = 50;
const SPAWNER = fileURLToPath(new URL('../spawner.mjs', import.meta.url));
const AGENTS = {
	dev: '{ adapter: command, run: ["true"] }',
	large: '{ adapter: command, run: ["head", "-c", "10000000", "/dev/zero"] }',
};

export async function measure(bench) {
	const costs = await interleave(
		{
			floor: () => Number(run([process.execPath, SPAWNER, String(TASKS), 'true'], { cwd: bench.folder })),
			fresh: () => perTask(bench, 0),
		},
		ROUNDS,
	);
	const after = await interleave(
		{
			floor: () => Number(run([process.execPath, SPAWNER, String(TASKS), 'true'], { cwd: bench.folder })),
			large: () => perTask(bench, LARGE),
		},
		3,
	);
	const row = (what, ours, floors, goal) => ({
		what,
		against: 'spawning it with pipes',
		floor: `${median(floors).toFixed(2)} ms`,
		ours: `${median(ours).toFixed(2)} ms`,
		ratio: ratioOf(ours, floors),
		goal,
	});
	return [
		row('a command task, per task', costs.fresh, costs.floor, 1.35),
		row(`a command task after ${LARGE} outputs of 10 MB`, after.large, after.floor, 1.5),
	];
}

/** Milliseconds per small task, one after another, by the run's own journal. */
function perTask(bench, large) {
	const before = Array.from({ length: large }, (_, i) => ({ id: `large-${i}`, agent: 'large' }));
	const tasks = Array.from({ length: TASKS + 1 }, (_, i) => ({ id: `task-${i}` }));
	const all = [...before, ...tasks].map((task, i, list) => (i === 0 ? task : { ...task, after: [list[i - 1].id] }));
	const cwd = bench.project({ 'workflow.yaml': workflow(all, { agents: AGENTS }) });
	run([...bench.sdd, 'run', 'workflow.yaml', '--quiet'], { cwd });
	const done = journalOf(cwd).filter(({ kind, task }) => kind === 'task_completed' && task.startsWith('task-'));
	return (Date.parse(done.at(-1).at) - Date.parse(done[0].at)) / TASKS;
}
