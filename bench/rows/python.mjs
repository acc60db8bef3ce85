/** A Python verdict on a moment of 50 KB, over the same JSON sent to a bare loop in Python and back, and over a TypeScript verdict. */
import { interleave, median, ratioOf, timed } from '../measure.mjs';
import { bareLoop, momentOf, pythonBench, pythonJudge, typescriptJudge } from '../python-overlay.mjs';

const ROUNDS = 41;
const TIMES = 25;

export async function measure(bench) {
	const python = await pythonBench(bench);
	const judge = await pythonJudge(python);
	const typescript = typescriptJudge(python);
	const short = bareLoop(python);
	const echo = bareLoop(python, { echo: true });
	const works = {
		short: () => perCall(short.roundTrip),
		echo: () => perCall(echo.roundTrip),
		typescript: () => perCall(typescript),
		python: () => perCall(judge.consult),
	};
	await interleave(works, 5);
	const costs = await interleave(works, ROUNDS);
	await judge.close();
	short.close();
	echo.close();
	const row = (against, floor, goal) => ({
		what: 'a Python verdict, moment of 50 KB',
		against,
		floor: `${median(costs[floor]).toFixed(3)} ms`,
		ours: `${median(costs.python).toFixed(3)} ms`,
		ratio: ratioOf(costs.python, costs[floor]),
		goal,
	});
	return [
		row('the same JSON to a bare Python loop, a verdict back', 'short', 3),
		row('the same JSON to a bare Python loop and back', 'echo', 3),
		row('a TypeScript verdict', 'typescript', null),
	];
}

/** Milliseconds per call, one after another. */
async function perCall(call) {
	const moment = momentOf();
	const ms = await timed(async () => {
		for (let i = 0; i < TIMES; i++) await call(moment);
	});
	return ms / TIMES;
}
