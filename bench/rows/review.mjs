/** A late review iteration over an early one: the journal's part, and with the review log written anew. */
import { importSources } from '../bundle.mjs';
import { median } from '../measure.mjs';

const SOURCES = ['engine/run/open-run.ts', 'engine/store/seal.ts', 'overlays/review/review-overlay.ts'];
const TASKS = 12;
const ITERATIONS = 200;
/** Iterations are compared in windows: one sync alone says little. */
const WINDOW = 20;

export async function measure(bench) {
	const costs = { early: [], late: [], earlyView: [], lateView: [] };
	const open = await openRun(bench);
	for (let task = 0; task <= TASKS; task++) await reviewTask(open, task, task === 0 ? null : costs);
	await open.writer.close();
	const row = (what, early, late, goal) => ({
		what,
		against: 'iteration 2',
		floor: `${median(early).toFixed(3)} ms`,
		ours: `${median(late).toFixed(3)} ms`,
		ratio: median(late) / median(early),
		goal,
	});
	return [
		row('review iteration 200, journal', costs.early, costs.late, 1.3),
		row('review iteration 200, journal and review log', costs.earlyView, costs.lateView, 2),
	];
}

async function openRun(bench) {
	const sources = await importSources(bench, SOURCES);
	const project = bench.project({ '.ai-sdd/state/.keep': '' });
	const overlay = { name: 'agentic_review', hooks: ['after'], use: null };
	const tasks = Array.from({ length: TASKS + 1 }, (_, i) => ({ id: `task-${i}`, outputs: [], overlays: [overlay] }));
	const opened = sources.openRun({
		project,
		run: 'run-1',
		plan: { workflow: 'bench', file: 'workflow.yaml', tasks, agents: [] },
		world: { now: () => new Date(), logOf: () => sources.agenticReview.log, redact: (event) => event },
		version: 'bench',
		by: 'bench',
		report: () => {},
		stop: new AbortController(),
	});
	const about = {
		run: 'run-1',
		workflow: 'bench',
		file: 'workflow.yaml',
		project,
		plan: '',
		by: 'bench',
		version: 'bench',
	};
	opened.session.record({ kind: 'run_started', ...about });
	await opened.session.durable();
	return { ...opened, seal: sources.sealRecord };
}

/** All iterations of one task; the first task only warms up, and has no costs. */
async function reviewTask(open, task, costs) {
	for (let n = 1; n <= ITERATIONS; n++) {
		const window = n <= WINDOW + 1 && n > 1 ? 'early' : n > ITERATIONS - WINDOW ? 'late' : null;
		const cost = await iterate(open, `task-${task}`, n);
		if (costs === null || window === null) continue;
		costs[window].push(cost.journal);
		costs[`${window}View`].push(cost.all);
	}
}

async function iterate({ session, writer, seal }, task, n) {
	const event = verdictOf(seal, task, n);
	const since = performance.now();
	session.record(event);
	await writer.flush();
	const journal = performance.now() - since;
	await session.durable();
	return { journal, all: performance.now() - since };
}

function verdictOf(seal, task, n) {
	const record = {
		iteration: n,
		decision: 'NO_GO',
		feedback: `Iteration ${n}: ${'the tests of the login flow still fail, see the output below. '.repeat(8)}`,
		timestamp: new Date().toISOString(),
		task_id: task,
		reviewer_agent: 'reviewer',
		coder_agent: 'dev',
		findings: [],
		artifacts: [{ path: 'src/login.ts', sha256: 'a'.repeat(64) }],
	};
	const verdict = { kind: 'rework', feedback: record.feedback, record: seal(record, '0'.repeat(64)) };
	return {
		kind: 'verdict',
		task,
		hook: 'after',
		attempt: n,
		round: 1,
		overlay: 'agentic_review',
		verdict,
		content: '',
	};
}
