/** Overlays of a project are code: they are started only when the user knows. */
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../engine/store/hash.ts';
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
		test('is not started where nobody can be asked: it is named, with what sha256sum says of it', async () => {
			const rig = await project(use);
			for (const args of [
				['run', 'w.yaml'],
				['validate', 'w.yaml'],
				['plan', 'w.yaml'],
			]) {
				const { code, stderr } = await rig.sddWith(ASKING, ...args);
				expect(code).toBe(2);
				expect(stderr).toContain(
					`the overlay ${use} was never run on this machine; ${use.slice(2)} has the sha256 ${sha256(rig.read(use))}; ` +
						'2 other files in .ai-sdd/overlays/ go with it; it is code of this project',
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

test('all overlays that were never run here are named at once, with their places and whatever else is wrong', async () => {
	const rig = await project();
	const [first, second] = ['./.ai-sdd/overlays/mine.mjs', './.ai-sdd/overlays/mine.py'];
	const overlays = { one: { enabled: true, use: first }, two: { enabled: true, use: second } };
	rig.workflow({ agents: { dev: coder }, tasks: { a: { agent: 'dve', description: 'x', overlays } } });
	const { code, stdout } = await rig.sddWith(ASKING, 'validate', 'w.yaml', '--json');
	expect(code).toBe(2);
	const found = (JSON.parse(stdout) as { diagnostics: { code: string; line: number; message: string }[] }).diagnostics;
	expect(found.map((one) => one.code).sort()).toEqual(['AGENT_UNKNOWN', 'OVERLAY_UNTRUSTED', 'OVERLAY_UNTRUSTED']);
	for (const use of [first, second])
		expect(found.find(({ message }) => message.startsWith(`the overlay ${use} was never run`))?.line).toBeGreaterThan(
			0,
		);
});

test('an overlay that changed, or whose neighbour did, is asked about again', async () => {
	const rig = await project('./.ai-sdd/overlays/mine.py');
	expect((await rig.sddWith(ASKING, 'run', 'w.yaml', '--trust-overlays')).code).toBe(0);
	const files = '.ai-sdd/overlays';
	rig.write(`${files}/neighbour.py`, 'WORD = 2\n');
	rig.write(`${files}/more.py`, '');
	const beside = await rig.sddWith(ASKING, 'run', 'w.yaml');
	expect(beside.code).toBe(2);
	expect(beside.stderr).toContain(
		`the overlay ./${files}/mine.py is as it was last run on this machine, but what lies beside it changed ` +
			`(${files}/more.py was added, ${files}/neighbour.py changed)`,
	);
	rig.write(`${files}/mine.py`, rig.read(`${files}/mine.py`).replace('passed()', 'passed("yes")'));
	const itself = await rig.sddWith(ASKING, 'run', 'w.yaml');
	expect(itself.stderr).toContain(`the overlay ./${files}/mine.py changed since it was last run on this machine (`);
});

test.each([
	[
		['bash', '-c', 'exec tools/judge.sh'],
		'; what these words of its command lead to is not looked at: bash -c "exec tools/judge.sh"; it is',
	],
	[
		['python3', '-m', 'tools.raw'],
		'; what these words of its command lead to is not looked at: python3 -m tools.raw; it is',
	],
	[
		['node', '.ai-sdd/overlays/mine.mjs'],
		`; .ai-sdd/overlays/mine.mjs has the sha256 ${sha256(MODULE('first'))}; 2 other files in .ai-sdd/overlays/ go with it; ` +
			'what these words of its command lead to is not looked at: node; it is',
	],
])('of the command %j it is said what the digests cover, and what they do not', async (command, words) => {
	const rig = await project({ command });
	const { code, stderr } = await rig.sddWith(ASKING, 'validate', 'w.yaml');
	expect([code, stderr]).toEqual([2, expect.stringContaining(`was never run on this machine${words}`)]);
});

test.each(['1', 'true', 'YES'])('SDD_TRUST_OVERLAYS=%s trusts every overlay', async (said) => {
	const rig = await project();
	expect((await rig.sddWith({ env: { SDD_TRUST_OVERLAYS: said } }, 'validate', 'w.yaml')).code).toBe(0);
});

test.each([
	['0', '[OVERLAY_UNTRUSTED]'],
	['False', '[OVERLAY_UNTRUSTED]'],
	['no', '[OVERLAY_UNTRUSTED]'],
	[
		'maybe',
		'SDD_TRUST_OVERLAYS cannot be "maybe" [CLI_USAGE]\n  remedy: 1, true or yes trusts every overlay; 0, false, no or nothing does not',
	],
])('SDD_TRUST_OVERLAYS=%s trusts none', async (said, words) => {
	const rig = await project();
	const { code, stderr } = await rig.sddWith({ env: { SDD_TRUST_OVERLAYS: said } }, 'validate', 'w.yaml');
	expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
});

test('what an earlier version remembered still counts, and says less', async () => {
	const rig = await project();
	expect((await rig.sddWith(ASKING, 'validate', 'w.yaml', '--trust-overlays')).code).toBe(0);
	const list = join(rig.outer, 'home/.config/sdd/trusted-overlays.json');
	const use = './.ai-sdd/overlays/mine.mjs';
	const known = JSON.parse(readFileSync(list, 'utf8')) as { [project: string]: { [use: string]: { digest: string } } };
	writeFileSync(list, JSON.stringify({ [rig.dir]: { [use]: known[rig.dir]?.[use]?.digest } }));
	expect((await rig.sddWith(ASKING, 'validate', 'w.yaml')).code).toBe(0);
	rig.write(use, MODULE('second'));
	const { stderr } = await rig.sddWith(ASKING, 'validate', 'w.yaml');
	expect(stderr).toContain('changed since it was last run on this machine; .ai-sdd/overlays/mine.mjs has the sha256');
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

test.each(['mjs', 'py'])(
	'a run whose overlay (%s) is no longer there is cancelled without asking for it',
	async (kind) => {
		const rig = await project();
		const overlays = { mine: { enabled: true, use: `./.ai-sdd/overlays/mine.${kind}` }, hil: { enabled: true } };
		rig.workflow({ agents: { dev: coder }, tasks: { a: { agent: 'dev', description: 'x', overlays } } });
		expect((await rig.sddWith(ASKING, 'run', 'w.yaml', '--trust-overlays')).code).toBe(3);
		const [old] = rig.runs();
		rmSync(join(rig.dir, `.ai-sdd/overlays/mine.${kind}`));
		rig.workflow({ agents: { dev: coder }, tasks: { a: { agent: 'dev', description: 'x' } } });
		const { code, stderr } = await rig.sddWith(ASKING, 'run', 'w.yaml', '--fresh');
		expect([code, stderr]).toEqual([0, `the unfinished run ${old} is cancelled\n`]);
		expect(rig.events(old).at(-1)).toMatchObject({ kind: 'run_finished', outcome: 'cancelled' });
		expect((await rig.sddWith(ASKING, 'audit', 'verify')).code).toBe(0);
	},
);

test('a folder that is linked in beside an overlay is seen', async () => {
	const rig = await project('./.ai-sdd/overlays/mine.py');
	expect((await rig.sddWith(ASKING, 'validate', 'w.yaml', '--trust-overlays')).code).toBe(0);
	rig.write('elsewhere/__init__.py', 'WORD = 2\n');
	symlinkSync('../../elsewhere', join(rig.dir, '.ai-sdd/overlays/json'));
	const { code, stderr } = await rig.sddWith(ASKING, 'validate', 'w.yaml');
	expect([code, stderr]).toEqual([2, expect.stringContaining('(.ai-sdd/overlays/json was added)')]);
});

test.each([
	['tools/python', 'python: tools/python'],
	['.venv/bin/python', 'max_parallel: 1'],
])('an interpreter that the project brings along (%s) is code of the project', async (path, settings) => {
	const rig = await project('./.ai-sdd/overlays/mine.py');
	expect((await rig.sddWith(ASKING, 'validate', 'w.yaml', '--trust-overlays')).code).toBe(0);
	rig.script(path, 'touch started; exec python3 "$@"');
	rig.write('.ai-sdd/ai-sdd.yaml', `version: "1"\n${settings}\n`);
	const asked = await rig.sddWith(ASKING, 'validate', 'w.yaml');
	const digest = sha256(rig.read('.ai-sdd/overlays/mine.py'));
	const words = `(${path} was added); .ai-sdd/overlays/mine.py has the sha256 ${digest}, ${path} has the sha256`;
	expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining(words)]);
	expect(rig.has('started')).toBe(false);
	expect((await rig.sddWith(ASKING, 'validate', 'w.yaml', '--trust-overlays')).code).toBe(0);
	expect(rig.has('started')).toBe(true);
	expect((await rig.sddWith(ASKING, 'validate', 'w.yaml')).code).toBe(0);
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
	expect(stderr).toContain('\n  remedy: read it; then trust it with --trust-overlays');
	expect((await rig.sddWith(ASKING, 'overlays', 'list', '--trust-overlays')).stdout).toContain('first');
});
