/** Building a reviewer's prompt of 250 KB, over putting its parts together. */
import { importSources } from '../bundle.mjs';
import { interleave, median, ratioOf, timed } from '../measure.mjs';

const SOURCES = ['overlays/review/review-prompt.ts', 'overlays/review/review-overlay.ts', 'engine/brief/render.ts'];
const ROUNDS = 25;
const TIMES = 40;

export async function measure(bench) {
	const { reviewPrompt, agenticReview, renderTemplate } = await importSources(bench, SOURCES);
	const kit = { render: (name, data) => renderTemplate(name, agenticReview.templates[name], data) };
	const about = { coder: 'dev', reviewId: 'r-1', complaint: null };
	// Texts are built anew for each prompt, as files are read anew: none is a string that was made ready before.
	const build = (moment) => reviewPrompt(moment, { reviewer_agent: 'reviewer' }, kit, about);
	const whole = build(momentWith(texts(0)));
	const frame = whole.length - 5 * TEXT;
	if (whole.length < 250_000) throw new Error(`the prompt has only ${whole.length} characters`);
	const costs = await interleave(
		{
			floor: () => perCall((parts) => `${'x'.repeat(frame)}${parts.join('\n')}`),
			ours: () => perCall((parts) => build(momentWith(parts))),
		},
		ROUNDS,
	);
	return [
		{
			what: 'building a 250 KB prompt',
			against: 'concatenation of its parts',
			floor: `${median(costs.floor).toFixed(3)} ms`,
			ours: `${median(costs.ours).toFixed(3)} ms`,
			ratio: ratioOf(costs.ours, costs.floor),
			goal: 1.5,
		},
	];
}

const TEXT = 50_000;

function texts(seed) {
	const line = `const value${seed} = compute(a < b && c > "d") // a line of code\n`;
	return Array.from({ length: 5 }, () => Buffer.from(line.repeat(TEXT / line.length + 1).slice(0, TEXT)).toString());
}

/** Milliseconds per prompt; each ends as bytes, which is what an agent is given. */
async function perCall(build) {
	const inputs = Array.from({ length: TIMES }, (_, i) => texts(i));
	const ms = await timed(() => {
		for (const parts of inputs) Buffer.from(build(parts));
	});
	return ms / TIMES;
}

function momentWith([diff, output, ...contents]) {
	const artifacts = contents.map((content, i) => ({
		path: `src/file-${i}.ts`,
		sha256: 'a'.repeat(64),
		bytes: TEXT,
		content,
	}));
	return {
		run: 'run-1',
		workflow: 'bench',
		hook: 'after',
		at: '2026-01-01T00:00:00.000Z',
		task: {
			id: 'implement',
			agent: 'dev',
			description: 'Do it',
			acceptanceCriteria: ['it works'],
			inputs: [],
			outputs: [],
		},
		attempt: 1,
		iteration: 1,
		brief: { prompt: 'Do it' },
		output: { text: output },
		artifacts,
		diff,
		checks: [],
		constitution: { Standards: '- **Tests**: they pass.' },
		history: [],
		answers: {},
		failure: null,
	};
}
