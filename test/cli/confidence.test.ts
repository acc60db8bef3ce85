/** What each option of `confidence` changes, through the real command with real checks and a real evaluator. */
import { expect, test } from 'vitest';
import { coder, type Data, makeRig, openItems, type Rig, shell } from '../rig.ts';

async function project(confidence: Data, more: Data = {}, lint = 'true'): Promise<Rig> {
	const rig = await makeRig();
	const checks = [
		{ name: 'cover', kind: 'coverage', run: 'echo coverage: 50%' },
		{ name: 'lint', kind: 'lint', run: lint },
	];
	rig.workflow({
		agents: { dev: coder, eva: shell(`echo '{"score": 0.2, "reason": "thin"}'`) },
		tasks: {
			build: {
				agent: 'dev',
				description: 'x',
				outputs: ['build.txt'],
				checks,
				overlays: { confidence: { enabled: true, ...confidence }, ...more },
			},
		},
	});
	return rig;
}

const scoresIn = (rig: Rig): readonly Data[] =>
	rig.json('.ai-sdd/state/confidence-scores/build.json')['iterations'] as readonly Data[];

test.each<[Data, number, number, string]>([
	[{}, 0.75, 0, 'PASS'],
	[{ weights: { lint_score: 3 } }, 0.875, 0, 'PASS'],
	[{ weights: { lint_score: 0 } }, 0.5, 0, 'PASS'],
	[{ evaluator_agent: 'eva' }, 0.566, 0, 'PASS'],
	[{ evaluator_agent: 'eva', weights: { llm_judge: 0 } }, 0.75, 0, 'PASS'],
	[{ evaluator_agent: 'eva', weights: { test_coverage: 0, lint_score: 0 } }, 0.2, 0, 'PASS'],
	[{ on_low: 'ask' }, 0.75, 0, 'PASS'],
	[{ on_low: 'ask', threshold: 0.75 }, 0.75, 0, 'PASS'],
	[{ on_low: 'ask', threshold: 0.76 }, 0.75, 3, 'ASK'],
	[{ on_low: 'note', threshold: 0.76 }, 0.75, 0, 'PASS'],
	[{ on_low: 'ask', evaluator_agent: 'eva' }, 0.566, 3, 'ASK'],
])('%j: score %f, exit code %i, %s', async (options, score, exit, decision) => {
	const rig = await project(options);
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(exit);
	expect(scoresIn(rig)).toMatchObject([{ score, decision, threshold: options['threshold'] ?? 0.7 }]);
	expect(await openItems(rig)).toHaveLength(exit === 3 ? 1 : 0);
});

test('however high the score, what a required check or a gate refuses does not pass', async () => {
	const easy = { threshold: 0, weights: { lint_score: 0 } };
	const checked = await project(easy, {}, 'false');
	const { code, stdout } = await checked.sdd('run', 'w.yaml');
	expect(code).toBe(1);
	expect(stdout).toContain('required checks failed: lint');
	expect(scoresIn(checked)).toMatchObject([{ decision: 'PASS' }]);
	const gated = await project(easy, { policy_gate: { enabled: true, tier: 'T0' } });
	expect((await gated.sdd('run', 'w.yaml')).code).toBe(1);
	expect(gated.has('.ai-sdd/state/confidence-scores/build.json')).toBe(false);
});
