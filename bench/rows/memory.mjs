/** How memory grows with the number of tasks, over how much js-yaml alone grows on the same file. */
import { fileURLToPath } from 'node:url';
import { interleave, median, ratioOf, run } from '../measure.mjs';
import { runSliced } from '../projects.mjs';
import { chain, replies, workflow } from '../workflows.mjs';

const LOADER = fileURLToPath(new URL('../yaml-memory.mjs', import.meta.url));
const SMALL = 100;
const LARGE = 10_000;
const ROUNDS = 5;

export async function measure(bench) {
	const growth = (kb) => () => (kb(LARGE) - kb(SMALL)) / (LARGE - SMALL);
	const costs = await interleave(
		{ yaml: growth((n) => yamlKb(bench, n)), ours: growth((n) => runKb(bench, n)) },
		ROUNDS,
	);
	return [
		{
			what: 'memory growth from 100 to 10,000 tasks, per task (peak RSS)',
			against: 'js-yaml loading the same file',
			floor: `${median(costs.yaml).toFixed(1)} KB`,
			ours: `${median(costs.ours).toFixed(1)} KB`,
			ratio: ratioOf(costs.ours, costs.yaml),
			goal: 1.75,
		},
	];
}

function yamlKb(bench, n) {
	const cwd = bench.project({ 'workflow.yaml': workflow(chain(n)) });
	return Number(run([process.execPath, LOADER, `${cwd}/workflow.yaml`], { cwd }));
}

function runKb(bench, n) {
	const project = bench.project({ 'workflow.yaml': workflow(chain(n)), 'replies.yaml': replies() });
	return runSliced(bench, project).rssKb;
}
