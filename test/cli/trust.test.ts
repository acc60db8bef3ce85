/** Overlays of a project are code: they are started only when the user knows. */
import { describe, expect, test } from 'vitest';
import { coder, makeRig, type Rig, shell } from '../rig.ts';

const ASKING = { env: { SDD_TRUST_OVERLAYS: '' } };
const MODULE = (words: string): string => `export default {
	name: 'mine', summary: '${words}', hooks: ['after'], options: {}, create: () => ({ after: () => ({ kind: 'pass' }) }),
};`;

async function project(use: unknown = './.ai-sdd/overlays/mine.mjs'): Promise<Rig> {
	const rig = await makeRig();
	rig.write('.ai-sdd/overlays/mine.mjs', MODULE('first'));
	rig.write(
		'.ai-sdd/overlays/mine.py',
		`from sdd_overlay import Overlay, passed
import neighbour
overlay = Overlay("mine")
@overlay.after
def judge(moment, options):
    return passed()
if __name__ == "__main__":
    overlay.serve()
`,
	);
	rig.write('.ai-sdd/overlays/neighbour.py', 'WORD = 1\n');
	const overlays = { mine: { enabled: true, use } };
	rig.workflow({ agents: { dev: coder }, tasks: { a: { agent: 'dev', description: 'x', overlays } } });
	return rig;
}

describe.each([['./.ai-sdd/overlays/mine.mjs'], ['./.ai-sdd/overlays/mine.py']])(
	'an overlay that was never run here: %s',
	(use) => {
		test('is not started where nobody can be asked: it is named with its digest', async () => {
			const rig = await project(use);
			for (const args of [
				['run', 'w.yaml'],
				['validate', 'w.yaml'],
				['plan', 'w.yaml'],
			]) {
				const { code, stderr } = await rig.sddWith(ASKING, ...args);
				expect(code).toBe(2);
				expect(stderr).toMatch(
					new RegExp(`the overlay ${use} \\(sha256 [0-9a-f]{64}\\) was never run on this machine`),
				);
				expect(stderr).toContain('[OVERLAY_UNTRUSTED]');
				expect(stderr).toContain('--trust-overlays, or SDD_TRUST_OVERLAYS=1 in CI');
			}
			expect(rig.has('.ai-sdd/state')).toBe(false);
		});

		test('is started with --trust-overlays, and known from then on', async () => {
			const rig = await project(use);
			const first = await rig.sddWith(ASKING, 'run', 'w.yaml', '--trust-overlays');
			expect(first.code).toBe(0);
			expect(first.stderr).toContain('starting it, as --trust-overlays says');
			const second = await rig.sddWith(ASKING, 'run', 'w.yaml');
			expect([second.code, second.stderr]).toEqual([0, '']);
		});
	},
);

test('an overlay that changed, or whose neighbour did, is asked about again', async () => {
	const rig = await project('./.ai-sdd/overlays/mine.py');
	expect((await rig.sddWith(ASKING, 'run', 'w.yaml', '--trust-overlays')).code).toBe(0);
	rig.write('.ai-sdd/overlays/neighbour.py', 'WORD = 2\n');
	const { code, stderr } = await rig.sddWith(ASKING, 'run', 'w.yaml');
	expect(code).toBe(2);
	expect(stderr).toContain('changed since it was last run on this machine');
});

test('a frozen plan does not start code that changed since', async () => {
	const rig = await project();
	const overlays = { mine: { enabled: true, use: './.ai-sdd/overlays/mine.mjs' }, hil: { enabled: true } };
	rig.workflow({ agents: { dev: coder }, tasks: { a: { agent: 'dev', description: 'x', overlays } } });
	expect((await rig.sddWith(ASKING, 'run', 'w.yaml', '--trust-overlays')).code).toBe(3);
	rig.write('.ai-sdd/overlays/mine.mjs', MODULE('second'));
	expect((await rig.sddWith(ASKING, 'run', 'w.yaml', '--frozen')).code).toBe(2);
	expect((await rig.sddWith(ASKING, 'run', 'w.yaml', '--frozen', '--trust-overlays')).code).toBe(3);
});

test('a module that an agent rewrites judges as it was when the run began', async () => {
	const rig = await project();
	const judging = (verdict: string): string => MODULE('x').replace("{ kind: 'pass' }", verdict);
	rig.write('.ai-sdd/overlays/mine.mjs', judging("{ kind: 'fail', reason: 'never good' }"));
	rig.write('passing.mjs', judging("{ kind: 'pass' }"));
	const overlays = { mine: { enabled: true, use: './.ai-sdd/overlays/mine.mjs' } };
	const evil = shell('cp passing.mjs .ai-sdd/overlays/mine.mjs');
	const task = { agent: 'evil', description: 'x', overlays };
	rig.workflow({ agents: { evil }, tasks: { a: task, b: { ...task, depends_on: [] } }, max_parallel: 1 });
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(1);
	const verdicts = rig.events().flatMap(({ kind, verdict }) => (kind === 'verdict' ? [verdict] : []));
	expect(verdicts).toEqual(Array(2).fill({ kind: 'fail', reason: 'never good' }));
});

test('looking at a run starts no code that the user does not know', async () => {
	const rig = await project();
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
	rig.write('.ai-sdd/overlays/mine.mjs', 'console.error("STARTED"); process.exit(3);');
	for (const args of [['audit', 'show', 'a'], ['audit', 'verify'], ['status']]) {
		const { code, stderr } = await rig.sddWith(ASKING, ...args);
		expect([code, stderr]).toEqual([0, '']);
	}
});

test('the list of overlays names one that is not trusted, and shows the others', async () => {
	const rig = await project();
	const { stdout, stderr } = await rig.sddWith(ASKING, 'overlays', 'list');
	expect(stdout).toContain('agentic_review');
	expect(stdout + stderr).toContain('was never run on this machine');
	expect((await rig.sddWith(ASKING, 'overlays', 'list', '--trust-overlays')).stdout).toContain('first');
});
