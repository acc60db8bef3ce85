/** What each tier and each option of `policy_gate` asks for, through the real command with real checks. */
import { expect, test } from 'vitest';
import { coder, type Data, makeRig } from '../rig.ts';

/** Checks by their kind, each with what it prints. */
type Checks = { readonly [kind: string]: string };

const T0 = { acceptance: '' };
const T1 = { ...T0, tests: '', lint: '' };
const T2 = { ...T1, security: '', operational: '' };

function without(checks: Checks, kind: string): Checks {
	return Object.fromEntries(Object.entries(checks).filter(([name]) => name !== kind));
}

test.each<[Data, Checks, string, readonly string[]]>([
	[{ tier: 'T0' }, T0, 'PASS', []],
	[{ tier: 'T0' }, without(T2, 'acceptance'), 'REWORK', ['acceptance']],
	[{}, T1, 'PASS', []],
	[{}, T0, 'REWORK', ['tests', 'lint']],
	[{ tier: 'T1' }, without(T2, 'lint'), 'REWORK', ['lint']],
	[{ tier: 'T2' }, T2, 'ASK', []],
	[{ tier: 'T2' }, without(T2, 'security'), 'REWORK', ['security']],
	[{ tier: 'T2' }, without(T2, 'operational'), 'REWORK', ['operational']],
	[{ tier: 'T0', evidence: ['security'] }, T0, 'REWORK', ['security']],
	[{ tier: 'T0', evidence: ['coverage'] }, { ...T0, coverage: 'coverage: 80%' }, 'PASS', []],
	[{ tier: 'T0', evidence: ['coverage'] }, { ...T0, coverage: 'coverage: 79.9%' }, 'REWORK', []],
	[{ tier: 'T0', evidence: ['coverage'] }, { ...T0, coverage: 'well covered' }, 'FAIL', []],
	[{ tier: 'T0', coverage_threshold: 0.5 }, { ...T0, coverage: 'coverage: 50%' }, 'PASS', []],
	[{ tier: 'T0', coverage_threshold: 0.9 }, { ...T0, coverage: 'coverage: 89%' }, 'REWORK', []],
	[{ tier: 'T0', coverage_threshold: 0.9 }, T0, 'REWORK', ['coverage']],
	[{ tier: 'T0' }, { ...T0, coverage: 'coverage: 1%' }, 'PASS', []],
])('%j with the evidence %j: %s, missing %j', async (gate, evidence, decision, missing) => {
	const rig = await makeRig();
	const checks = Object.entries(evidence).map(([kind, says]) => ({ name: kind, kind, run: `echo "${says}"` }));
	const overlays = { policy_gate: { enabled: true, ...gate } };
	rig.workflow({
		agents: { dev: coder },
		tasks: { build: { agent: 'dev', description: 'x', outputs: ['build.txt'], max_attempts: 1, checks, overlays } },
	});
	const { code } = await rig.sdd('run', 'w.yaml');
	expect(code).toBe(decision === 'PASS' ? 0 : decision === 'ASK' ? 3 : 1);
	expect(rig.json('.ai-sdd/state/gate-reports/build.json')).toMatchObject({
		iterations: [{ decision, missing, tier: gate['tier'] ?? 'T1' }],
		status: { PASS: 'PASSED', ASK: 'OPEN' }[decision] ?? 'FAILED',
	});
});
