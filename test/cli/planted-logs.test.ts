/** `sdd audit verify` of folders of logs: what no journal explains, what is missing, and what lies in the way. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
	coder,
	type Data,
	type Ended,
	makeRig,
	openItems,
	type Rig,
	reviewed,
	reviewerGoingAt,
	shell,
} from '../rig.ts';

const STATE = '.ai-sdd/state';
const at = (rig: Rig, path: string): string => join(rig.dir, STATE, path);
const verify = (rig: Rig, ...more: readonly string[]): Promise<Ended> => rig.sdd('audit', 'verify', ...more);

const gated: Data = {
	agent: 'dev',
	description: 'x',
	checks: [{ name: 'yes', run: 'true', kind: 'acceptance' }],
	overlays: { policy_gate: { enabled: true, tier: 'T0' } },
};

/** A finished run: p passed a gate, r was judged by nobody. */
async function finished(): Promise<Rig> {
	const rig = await makeRig();
	rig.workflow({ agents: { dev: coder }, tasks: { p: gated, r: { agent: 'dev', description: 'y' } } });
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
	return rig;
}

function copy(rig: Rig, from: string, to: string): void {
	mkdirSync(dirname(at(rig, to)), { recursive: true });
	cpSync(at(rig, from), at(rig, to));
}

describe('a log that no run wrote', () => {
	test('is named with what to do, and --repair leaves it alone', async () => {
		const rig = await finished();
		const run = rig.runs()[0] ?? '';
		const planted = [
			'pair-sessions/r.json',
			'gate-reports/zzz.json',
			`gate-reports/archive/${run}/p.json`,
			'made-up/p.json',
		];
		for (const path of planted) copy(rig, 'gate-reports/p.json', path);
		writeFileSync(at(rig, 'gate-reports/note.json'), '{}');
		for (const more of [[], ['--repair'], [run]]) {
			const { code, stdout } = await verify(rig, ...more);
			expect(code).toBe(1);
			for (const path of planted)
				expect(stdout).toContain(`${STATE}/${path}: the journal of run ${run} does not explain it\n  remedy: `);
			expect(stdout.includes(`${STATE}/gate-reports/note.json: no run wrote this`)).toBe(more[0] !== run);
			expect(stdout).not.toContain('repaired');
		}
		for (const path of planted) expect(rig.has(`${STATE}/${path}`)).toBe(true);
	});

	test('is not one of an earlier run, of a task that the newest run does not have', async () => {
		const rig = await finished();
		rig.workflow({ agents: { dev: coder }, tasks: { q: gated } });
		expect((await rig.sdd('run', 'w.yaml', '--fresh')).code).toBe(0);
		rig.workflow({ agents: { dev: coder, rev: reviewerGoingAt(1) }, tasks: { q: reviewed('q') } });
		expect((await rig.sdd('run', 'w.yaml', '--fresh')).code).toBe(0);
		const [first] = rig.runs();
		expect(rig.has(`${STATE}/gate-reports/archive/${first}/p.json`)).toBe(true);
		// The newest run has no gate: the report of the one before it stays where it was.
		expect(rig.has(`${STATE}/gate-reports/q.json`)).toBe(true);
		for (const run of ['', ...rig.runs()]) expect((await verify(rig, ...(run === '' ? [] : [run]))).code).toBe(0);
	});

	test('is not one of a run that is gone on with after another: its logs come back to their place', async () => {
		const rig = await makeRig();
		const agents = { dev: coder, rev: reviewerGoingAt(9) };
		rig.workflow({ agents, tasks: { a: reviewed('a', { max_iterations: 1 }) } }, 'one.yaml');
		rig.workflow({ agents: { dev: coder, rev: reviewerGoingAt(1) }, tasks: { a: reviewed('a') } }, 'two.yaml');
		await rig.sdd('run', 'one.yaml');
		const [first] = rig.runs();
		const [item = ''] = await openItems(rig);
		expect((await rig.sdd('run', 'two.yaml')).code).toBe(0);
		expect(rig.has(`${STATE}/review-logs/archive/${first}/a.json`)).toBe(true);
		writeFileSync(at(rig, 'review-logs/.tmp-999999999-abcdefghij'), 'half');
		await rig.sdd('hil', 'accept', item, '--by', 'ann');
		expect((await rig.sdd('run', 'one.yaml')).code).toBe(0);
		expect(rig.json(`${STATE}/review-logs/a.json`)).toMatchObject({
			run_id: first,
			final_decision: 'ACCEPTED_BY_HUMAN',
		});
		expect(rig.has(`${STATE}/review-logs/archive/${first}`)).toBe(false);
		expect(rig.has(`${STATE}/review-logs/.tmp-999999999-abcdefghij`)).toBe(false);
		const { code, stdout } = await verify(rig);
		expect(stdout).not.toContain('note:');
		expect(code).toBe(0);
	});

	test('cannot be told from one of an overlay that the user does not trust: that is noted', async () => {
		const rig = await makeRig();
		rig.write(
			'.ai-sdd/overlays/mine.mjs',
			`export default {
				name: 'mine', summary: '', hooks: ['after'], options: {},
				log: { folder: 'mine-logs', name: 'mine_log', closing: () => ({}) },
				create: () => ({ after: () => ({ kind: 'pass', record: { iteration: 1, decision: 'PASS' } }) }),
			};`,
		);
		const overlays = { mine: { enabled: true, use: './.ai-sdd/overlays/mine.mjs' } };
		rig.workflow({ agents: { dev: coder }, tasks: { p: { agent: 'dev', description: 'x', overlays } } });
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		expect((await verify(rig)).stdout).not.toContain('note:');
		const { code, stdout } = await rig.sddWith({ env: { SDD_TRUST_OVERLAYS: '' } }, 'audit', 'verify');
		expect(stdout).toContain(
			`note: ${STATE}/mine-logs/p.json: it was not compared with the journal: the overlay "mine" cannot be loaded, or you do not trust it yet`,
		);
		expect(code).toBe(0);
		copy(rig, 'mine-logs/p.json', 'mine-logs/q.json');
		expect((await verify(rig)).stdout).toContain(`${STATE}/mine-logs/q.json: the journal of run`);
	});
});

test('whatever names a missing run is named, though all runs and heads were removed', async () => {
	const rig = await makeRig();
	rig.workflow({
		agents: { dev: coder, rev: reviewerGoingAt(9) },
		tasks: { p: gated, a: reviewed('a', { max_iterations: 1 }) },
	});
	await rig.sdd('run', 'w.yaml');
	const [run] = rig.runs();
	const [item] = await openItems(rig);
	rmSync(at(rig, 'runs'), { recursive: true });
	rmSync(at(rig, 'heads.ndjson'));
	const { code, stdout } = await verify(rig);
	expect(code).toBe(1);
	expect(stdout).toContain(`${STATE}/hil/${item}.json: the run ${run} that asked it is missing`);
	for (const file of ['gate-reports/p.json', 'review-logs/a.json', 'workflow-state.json'])
		expect(stdout).toContain(`${STATE}/${file}: it is of run ${run}, which is missing`);
	expect(stdout).toContain('4 problems: 0 records checked');
	expect(stdout).toContain('remedy: restore the folder of the run from a backup');
	rmSync(at(rig, ''), { recursive: true });
	expect((await verify(rig)).stdout).toBe('ok: 0 records checked\n');
});

describe('a log that is not in its place', () => {
	test('is missing, and written anew by --repair', async () => {
		const rig = await finished();
		const good = rig.read(`${STATE}/gate-reports/p.json`);
		rmSync(at(rig, 'gate-reports/p.json'));
		const { code, stdout } = await verify(rig);
		expect(stdout).toContain(
			`${STATE}/gate-reports/p.json: the view is missing\n  remedy: nothing is lost: \`sdd audit`,
		);
		expect(code).toBe(1);
		expect((await verify(rig, '--repair')).code).toBe(0);
		expect(rig.read(`${STATE}/gate-reports/p.json`)).toBe(good);
	});

	test('but a folder with something in it: that stays until somebody moves it away', async () => {
		const rig = await finished();
		rmSync(at(rig, 'gate-reports/p.json'));
		mkdirSync(at(rig, 'gate-reports/p.json'));
		writeFileSync(at(rig, 'gate-reports/p.json/mine.txt'), 'mine');
		rmSync(at(rig, 'workflow-state.json'));
		const { code, stdout, stderr } = await verify(rig, '--repair');
		expect([code, stderr]).toEqual([1, '']);
		expect(stdout).toContain(
			`${STATE}/gate-reports/p.json: a folder lies where this view belongs\n  remedy: move away`,
		);
		expect(stdout).toContain(`repaired: ${STATE}/workflow-state.json`);
		expect(rig.read(`${STATE}/gate-reports/p.json/mine.txt`)).toBe('mine');
		rmSync(at(rig, 'gate-reports/p.json/mine.txt'));
		const again = await verify(rig, '--repair');
		expect(again.stdout).toContain(`repaired: ${STATE}/gate-reports/p.json`);
		expect(again.code).toBe(0);
	});

	test('is not missed while its run is under way', async () => {
		const rig = await makeRig();
		rig.workflow({
			agents: { dev: coder, slow: shell('exec sleep 600') },
			tasks: { p: gated, s: { agent: 'slow', description: 'x', depends_on: ['p'] } },
		});
		const run = rig.start(['run', 'w.yaml']);
		await run.printed('s: attempt 1');
		rmSync(at(rig, 'gate-reports/p.json'));
		expect((await verify(rig)).code).toBe(0);
		run.child.kill('SIGKILL');
		await run.ended;
	});
});
