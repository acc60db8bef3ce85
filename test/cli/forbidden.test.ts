/** Files that a gate forbids: no way of changing them, or of blinding git, gets past it. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { makeRig, type Rig } from '../rig.ts';

const CHECKS = ['acceptance', 'tests', 'lint'].map((kind) => ({ name: kind, run: 'true', kind }));

/** A repository with a forbidden folder, and a coder that writes its output and then does this. */
async function forbidding(action: string, more: { readonly reviewer?: string } = {}): Promise<Rig> {
	const rig = await makeRig();
	rig.write('infra/prod.txt', 'prod\n');
	const git = (...args: readonly string[]) =>
		execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: rig.dir });
	git('init', '-q');
	git('add', '.');
	git('commit', '-qm', 'base');
	rig.script('dev.sh', `echo work > out.txt`, action);
	rig.script('rev.sh', more.reviewer ?? ':', `echo '{"decision": "GO", "feedback": "fine"}'`);
	rig.workflow({
		name: 'gated',
		agents: {
			dev: { adapter: 'command', run: ['./dev.sh'] },
			rev: { adapter: 'command', run: ['./rev.sh'], read_only: true },
		},
		tasks: {
			a: {
				agent: 'dev',
				description: 'a',
				outputs: ['out.txt'],
				checks: CHECKS,
				overlays: {
					policy_gate: { enabled: true, forbidden: ['infra'] },
					...(more.reviewer === undefined ? {} : { agentic_review: { enabled: true, reviewer_agent: 'rev' } }),
				},
			},
		},
	});
	return rig;
}

test.each([
	['changed', 'echo EVIL >> infra/prod.txt'],
	['changed and committed', 'echo EVIL >> infra/prod.txt; git -c user.name=a -c user.email=a@b commit -qam x'],
	['changed, and the repository is gone', 'rm -rf .git; echo EVIL >> infra/prod.txt'],
	['added, and git told to ignore it', 'echo infra/ >> .git/info/exclude; echo EVIL > infra/new.txt'],
	['in a repository of its own', 'mkdir infra/sub; cd infra/sub; git init -q; echo EVIL > y'],
	[
		'hidden by a filter',
		'git config filter.e.clean "echo prod"; echo "infra/** filter=e" > .git/info/attributes; echo EVIL > infra/prod.txt',
	],
	[
		'hidden from a sparse checkout',
		'git config core.sparseCheckout true; echo "!/infra/" > .git/info/sparse-checkout; echo EVIL > infra/prod.txt',
	],
	['made executable', 'chmod +x infra/prod.txt'],
])('%s: the task fails', async (_how, action) => {
	const rig = await forbidding(action);
	const { code, stdout } = await rig.sdd('run', 'w.yaml');
	expect(code).toBe(1);
	expect(stdout).toMatch(/policy_gate: changed, though it is forbidden: infra\/(prod\.txt|new\.txt|sub\/)/);
	expect(stdout).toContain('[GATE_FORBIDDEN_CHANGE]');
	expect((await rig.sdd('audit', 'verify')).code).toBe(0);
});

test('changed after the gate has passed: its verdict is void, and it judges again', async () => {
	const rig = await forbidding(':', { reviewer: 'echo EVIL > infra/prod.txt' });
	const { code, stdout } = await rig.sdd('run', 'w.yaml');
	expect(code).toBe(1);
	expect(stdout).toContain('the approval is void: infra/prod.txt changed since');
	expect(stdout).toContain('policy_gate: changed, though it is forbidden: infra/prod.txt [GATE_FORBIDDEN_CHANGE]');
	expect((await rig.sdd('audit', 'verify')).code).toBe(0);
});

test('changed while the run was killed: what it was like when the task began is on record', async () => {
	const rig = await forbidding('if [ ! -f killed ]; then touch killed; kill -9 $PPID; sleep 5; fi');
	expect((await rig.sdd('run', 'w.yaml')).signal).toBe('SIGKILL');
	rig.write('infra/prod.txt', 'EVIL\n');
	const { code, stdout } = await rig.sdd('run', 'w.yaml');
	expect([code, stdout]).toEqual([1, expect.stringContaining('changed, though it is forbidden: infra/prod.txt')]);
});

test('left alone: the task passes', async () => {
	const rig = await forbidding('touch infra/prod.txt');
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
	expect(rig.json('.ai-sdd/state/gate-reports/a.json')).toMatchObject({
		iterations: [{ decision: 'PASS', forbidden_changes: [] }],
	});
});
