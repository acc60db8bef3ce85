/** The drift protocol of seed 000, its caps and its stop markers, through the real command. */
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { coder, type Data, makeRig, type Rig, reviewed, shell } from '../rig.ts';

async function project(rev: Data, more: Data = {}, dev: Data = coder): Promise<Rig> {
	const rig = await makeRig();
	rig.workflow({ agents: { dev, rev }, tasks: { build: reviewed('build', { protocol: 'drift' }, more) } });
	return rig;
}

const failureIn = (rig: Rig): Data => rig.events().find(({ kind }) => kind === 'task_failed') ?? {};
const attemptsIn = (rig: Rig): number => rig.events().filter(({ kind }) => kind === 'attempt_started').length;

/** Says drift at the first review and pass at the second. */
const driftsOnce = shell(
	`if [ "$SDD_ITERATION" = 1 ]; then echo '{"verdict": "drift", "followUpPrompt": "EXACTLY this, please"}'`,
	`else echo '{"verdict": "pass", "followUpPrompt": ""}'; fi`,
);

describe('the verdict', () => {
	test.each([
		['{"verdict": "ok", "followUpPrompt": ""}', '"verdict" is "ok", expected "pass" or "drift"'],
		['{"verdict": "pass"}', '"followUpPrompt" is missing, expected a text'],
		['{"verdict": "pass", "followUpPrompt": 3}', '"followUpPrompt" is 3, expected a text'],
	])('0.04 %s is refused with the reason', async (reply, why) => {
		const rig = await project(shell(`echo '${reply}'`));
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(1);
		expect(failureIn(rig)).toMatchObject({ code: 'REVIEW_CONTRACT_VIOLATION' });
		expect(failureIn(rig)['reason']).toContain(why);
	});

	test('0.05 a verdict is found between braces that mean nothing', async () => {
		const rig = await project(shell(`echo 'fn(){x} text {"verdict":"pass","followUpPrompt":""} trailing {z}'`));
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
	});

	test('0.06 a reply without JSON fails the task at once, and nobody fixes anything', async () => {
		const rig = await project(shell('echo "looks fine"'));
		const { code, stdout } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(1);
		expect(stdout).toContain('contract violation by the reviewer "rev"');
		expect(attemptsIn(rig)).toBe(1);
	});

	test('0.07 one pass completes the task without a fix', async () => {
		const rig = await project(shell(`echo '{"verdict": "pass", "followUpPrompt": ""}'`));
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		expect(attemptsIn(rig)).toBe(1);
		expect(rig.json('.ai-sdd/state/review-logs/build.json')).toMatchObject({ final_decision: 'GO' });
	});

	test('0.08 the follow-up prompt of a drift reaches the fixing agent word for word', async () => {
		const rig = await project(driftsOnce);
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		expect(rig.seen('build.coder.2')).toContain('EXACTLY this, please');
	});

	test('0.11 a reviewer that exits with an error has said nothing, whatever it printed', async () => {
		const rig = await project(shell(`echo '{"verdict": "pass", "followUpPrompt": ""}'`, 'exit 1'));
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(1);
		expect(failureIn(rig)).toMatchObject({ code: 'AGENT_EXIT' });
		expect(failureIn(rig)['reason']).toContain('the reviewer "rev" failed: agent "rev" exited with code 1');
	});

	test('0.11 a coder that exits with an error is never reviewed', async () => {
		const rig = await project(driftsOnce, {}, shell('exit 3'));
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(1);
		expect(rig.events().some(({ kind }) => kind === 'verdict')).toBe(false);
	});
});

describe('the prompt', () => {
	test("0.15 the coder's output is cut at 50,000 characters, and the prompt says so", async () => {
		const dev = shell('echo x > build.txt', 'head -c 60000 /dev/zero | tr "\\0" q');
		const rig = await project(driftsOnce, {}, dev);
		await rig.sdd('run', 'w.yaml');
		const prompt = rig.seen('build.reviewer.1');
		expect((prompt.match(/q{100,}/g) ?? []).join('')).toHaveLength(50_000);
		expect(prompt).toMatch(/10,000 .*cut/);
	});

	test('0.16 the diff is cut at 50,000 characters', async () => {
		const dev = shell('head -c 60000 /dev/zero | tr "\\0" z > build.txt', 'echo ok');
		const rig = await project(driftsOnce, {}, dev);
		initGit(rig);
		await rig.sdd('run', 'w.yaml');
		const diff = sectionOf(rig.seen('build.reviewer.1'), 'What changed');
		expect((diff.match(/z+/g) ?? []).join('').length).toBeGreaterThan(49_000);
		expect((diff.match(/z+/g) ?? []).join('').length).toBeLessThanOrEqual(50_000);
		expect(diff).toMatch(/cut/);
	});

	test('0.16 without changes the prompt says "(no changes detected)"', async () => {
		const rig = await project(driftsOnce, {}, shell('echo same'));
		rig.write('build.txt', 'as before\n');
		initGit(rig);
		await rig.sdd('run', 'w.yaml');
		expect(sectionOf(rig.seen('build.reviewer.1'), 'What changed')).toContain('(no changes detected)');
	});

	test('0.19 it ends with the contract of the reply', async () => {
		const rig = await project(driftsOnce);
		await rig.sdd('run', 'w.yaml');
		const prompt = rig.seen('build.reviewer.1');
		const contract = prompt.slice(prompt.lastIndexOf('\n## '));
		expect(contract).toContain('## How to answer');
		expect(contract).toContain('"verdict"');
		expect(contract).toContain('"followUpPrompt"');
	});
});

describe('stop markers', () => {
	test("0.20 a marker in a reviewer's reply stops nothing", async () => {
		const rev = shell('echo STOP-HERE', `echo '{"verdict": "pass", "followUpPrompt": ""}'`);
		const rig = await project(rev, { stop_markers: ['STOP-HERE'] });
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
	});

	test('0.20 a marker of the coder stops the task before any review', async () => {
		const dev = shell('echo x > build.txt', 'echo "cannot go on"', 'echo STOP-HERE');
		const rig = await project(driftsOnce, { stop_markers: ['STOP-HERE'], retry: 2 }, dev);
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(1);
		expect(failureIn(rig)).toMatchObject({ code: 'TASK_STOPPED', reason: 'the agent "dev" stopped with "STOP-HERE"' });
		expect(attemptsIn(rig)).toBe(1);
	});
});

function initGit(rig: Rig): void {
	const git = (...args: readonly string[]): void => {
		execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
			cwd: rig.dir,
			stdio: 'ignore',
		});
	};
	git('init');
	git('add', '.');
	git('commit', '-m', 'first');
}

function sectionOf(text: string, heading: string): string {
	const from = text.indexOf(`## ${heading}`);
	return text.slice(from, text.indexOf('\n## ', from + 1));
}
