/** CPU time of commands that do little, over that of Node doing nothing. */
import { cpuMs, interleave, median, ratioOf, run } from '../measure.mjs';
import { chain, replies, workflow } from '../workflows.mjs';

const ROUNDS = 21;
const TIMES = 4;

export async function measure(bench) {
	const cwd = bench.project({ 'workflow.yaml': workflow(chain(20)), 'replies.yaml': replies() });
	run([...bench.sdd, 'run', 'workflow.yaml', '--quiet'], { cwd });
	const cost = (argv) => () => cpuMs(argv, { cwd, times: TIMES });
	const costs = await interleave(
		{
			floor: cost([process.execPath, '-e', '0']),
			help: cost([...bench.sdd, '--help']),
			version: cost([...bench.sdd, '--version']),
			status: cost([...bench.sdd, 'status']),
			validate: cost([...bench.sdd, 'validate', 'workflow.yaml']),
		},
		ROUNDS,
	);
	const row = (what, name, goal) => ({
		what,
		against: '`node -e 0`, CPU time',
		floor: `${median(costs.floor).toFixed(1)} ms`,
		ours: `${median(costs[name]).toFixed(1)} ms`,
		ratio: ratioOf(costs[name], costs.floor),
		goal,
	});
	return [
		row('start-up: `sdd --help`', 'help', 1.15),
		row('start-up: `sdd --version`', 'version', 1.15),
		row('start-up: `sdd status`, 20 tasks', 'status', 1.4),
		row('start-up: `sdd validate`, 20 tasks', 'validate', 1.9),
	];
}
