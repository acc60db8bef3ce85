/** What starting a Python overlay costs, over starting Python; and that a run starts it once, while the first agent works. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { interleave, median, ratioOf, run, timed } from '../measure.mjs';
import { journalOf } from '../projects.mjs';
import { JUDGE, pythonBench } from '../python-overlay.mjs';
import { chain, replies, workflow } from '../workflows.mjs';

const ROUNDS = 31;
const RUNS = 9;
const TASKS = 20;
const AGENT_MS = 300;
const OVERLAY = 'overlays: { licences: { enabled: true, use: ./licences.py } }';

export async function measure(bench) {
	const python = await pythonBench(bench);
	const starts = { floor: () => timed(() => bareStart(python)), ours: () => handshake(python) };
	await interleave(starts, 2);
	const costs = await interleave(starts, ROUNDS);
	const runs = await interleave({ floor: () => firstTask(bench, []), ours: () => firstTask(bench, [OVERLAY]) }, RUNS);
	const ms = (values) => `${median(values).toFixed(0)} ms`;
	const count = startsInRun(bench);
	return [
		{
			what: 'start of a Python overlay, up to its handshake',
			against: '`python3 -c pass`',
			floor: `${median(costs.floor).toFixed(1)} ms`,
			ours: `${median(costs.ours).toFixed(1)} ms`,
			ratio: ratioOf(costs.ours, costs.floor),
			goal: 2,
		},
		{
			what: `a run's first task, agent of ${AGENT_MS} ms, judged by a Python overlay`,
			against: 'the same task without the overlay',
			floor: ms(runs.floor),
			ours: ms(runs.ours),
			ratio: ratioOf(runs.ours, runs.floor),
			goal: 1.1,
		},
		{
			what: `starts of a Python overlay in a run of ${TASKS} tasks that all ask it`,
			against: 'one run',
			floor: '1 run',
			ours: `${count} ${count === 1 ? 'start' : 'starts'}`,
			ratio: count,
			goal: 1,
		},
	];
}

function bareStart({ python, env, cwd }) {
	return new Promise((resolve, reject) => {
		const child = spawn(python, ['-c', 'pass'], { cwd, env });
		child.once('error', reject);
		child.once('close', resolve);
	});
}

/** Milliseconds until it has said what it is; its end is not part of it. */
async function handshake({ overlayProcess, python, file, env, cwd }) {
	const started = overlayProcess({ command: [python, file], cwd, env, stderrPath: null, version: 'bench' });
	const ms = await timed(async () => {
		const said = await started.handshake();
		if (!said.ok) throw new Error(said.reason);
	});
	await started.close();
	return ms;
}

/** Milliseconds from the start of a run's first task to its end, by the run's journal. */
function firstTask(bench, more) {
	const delays = { 'task-0': AGENT_MS };
	const journal = journalOf(runOf(bench, chain(2), { more, delays }).cwd);
	const at = (kind) => Date.parse(journal.find((one) => one.kind === kind && one.task === 'task-0').at);
	const verdicts = journal.filter(({ kind }) => kind === 'verdict').length;
	if (verdicts !== 2 * more.length) throw new Error(`the run has ${verdicts} verdicts`);
	return at('task_completed') - at('task_started');
}

/** How often the run itself has started it: planning, which asks it what it is, comes before there is a run. */
function startsInRun(bench) {
	const { starts } = runOf(bench, chain(TASKS), { more: [OVERLAY] });
	return readFileSync(starts, 'utf8')
		.trimEnd()
		.split('\n')
		.filter((line) => line !== 'planning').length;
}

function runOf(bench, tasks, { more, delays = {} }) {
	const text = workflow(tasks.map((task) => ({ ...task, more })));
	const cwd = bench.project({ 'workflow.yaml': text, 'replies.yaml': replies(delays), 'licences.py': JUDGE });
	const starts = join(cwd, 'starts.txt');
	const env = { SDD_BENCH_STARTS: starts, SDD_TRUST_OVERLAYS: '1' };
	run([...bench.sdd, 'run', 'workflow.yaml', '--quiet'], { cwd, env });
	return { cwd, starts };
}
