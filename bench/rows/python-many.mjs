/** 64 verdicts on moments of 50 KB at once through one Python process, over one after another, and over bare round trips at once. */
import { interleave, median, ratioOf, timed } from '../measure.mjs';
import { bareLoop, momentOf, pythonBench, pythonJudge } from '../python-overlay.mjs';

const ROUNDS = 31;
const CALLS = 64;
const SECONDS = 0.1;

export async function measure(bench) {
	const python = await pythonBench(bench);
	const judge = await pythonJudge(python);
	const bare = bareLoop(python);
	const moment = momentOf();
	const slow = () => judge.consult(moment, { seconds: SECONDS });
	const works = {
		bare: () => timed(() => atOnce(bare.roundTrip)),
		sequential: () => timed(() => inTurn(() => judge.consult(moment))),
		concurrent: () => timed(() => atOnce(() => judge.consult(moment))),
		oneSlow: () => timed(slow),
		manySlow: () => timed(() => atOnce(slow)),
	};
	await interleave(works, 3);
	const costs = await interleave(works, ROUNDS);
	await judge.close();
	bare.close();
	const row = (what, ours, against, floor, goal) => ({
		what,
		against,
		floor: `${median(costs[floor]).toFixed(1)} ms`,
		ours: `${median(costs[ours]).toFixed(1)} ms`,
		ratio: ratioOf(costs[ours], costs[floor]),
		goal,
	});
	const many = `${CALLS} Python verdicts at once, moments of 50 KB`;
	return [
		row(many, 'concurrent', `${CALLS} one after another`, 'sequential', 1),
		row(many, 'concurrent', `${CALLS} at once to a bare Python loop, verdicts back`, 'bare', 3),
		row(`${CALLS} at once that wait ${SECONDS * 1000} ms each`, 'manySlow', 'one of them', 'oneSlow', 1.5),
	];
}

async function atOnce(call) {
	await Promise.all(Array.from({ length: CALLS }, () => call()));
}

async function inTurn(call) {
	for (let i = 0; i < CALLS; i++) await call();
}
