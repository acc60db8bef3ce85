/** `sdd hil`: what waits for a person, and what a decision leads to. */
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { coder, type Data, makeRig, openItems, type Rig, reviewed, reviewerGoingAt } from '../rig.ts';

const LOG = '.ai-sdd/state/review-logs/build.json';

/** A project whose review has run out after this many iterations. */
async function waiting(
	review: Data = { max_iterations: 1 },
	goAt = 99,
	more: Data = {},
): Promise<{ rig: Rig; id: string }> {
	const rig = await makeRig();
	rig.workflow({
		agents: { dev: coder, rev: reviewerGoingAt(goAt) },
		tasks: { build: reviewed('build', review, more), after: { agent: 'dev', description: 'x', depends_on: ['build'] } },
	});
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
	return { rig, id: (await openItems(rig))[0] ?? '' };
}

const statusOf = (rig: Rig, task: string): unknown =>
	(rig.json('.ai-sdd/state/workflow-state.json')['tasks'] as { [id: string]: Data })[task]?.['status'];

describe('looking', () => {
	test('list and show name the question, the history and the commands that decide', async () => {
		const { rig, id } = await waiting();
		const list = await rig.sdd('hil', 'list');
		expect(list.stdout).toContain(id);
		expect(list.stdout).toContain('max_iterations');
		const show = await rig.sdd('hil', 'show', id);
		expect(show.stdout).toContain('1 review without a GO. The last one said: fix 1');
		for (const choice of ['accept', 'rework', 'takeover', 'reject'])
			expect(show.stdout).toContain(`sdd hil ${choice} ${id}`);
		expect(JSON.parse((await rig.sdd('hil', 'show', id, '--json')).stdout)).toMatchObject({ id, status: 'PENDING' });
	});

	test('an empty queue says so', async () => {
		const rig = await makeRig();
		expect((await rig.sdd('hil', 'list')).stdout).toBe('nothing waits for a person\n');
		expect(JSON.parse((await rig.sdd('hil', 'list', '--json')).stdout)).toEqual({ items: [] });
	});

	test('ack notes who has seen it, and decides nothing', async () => {
		const { rig, id } = await waiting();
		expect((await rig.sdd('hil', 'ack', id, '--by', 'ann')).stdout).toBe(`${id}: ACKED\n`);
		expect(rig.json(`.ai-sdd/state/hil/${id}.ack.json`)).toMatchObject({ by: 'ann' });
		expect(await openItems(rig)).toEqual([id]);
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
	});

	test('list --all also shows what is decided', async () => {
		const { rig, id } = await waiting();
		await rig.sdd('hil', 'accept', id);
		expect(await openItems(rig)).toEqual([]);
		const all = JSON.parse((await rig.sdd('hil', 'list', '--all', '--json')).stdout) as { items: Data[] };
		expect(all.items).toMatchObject([{ id, status: 'RESOLVED' }]);
	});
});

describe('deciding', () => {
	test('a name cannot move the cursor', async () => {
		const { rig, id } = await waiting();
		const { stdout } = await rig.sdd('hil', 'reject', id, '--by', '\u001b[31mann');
		expect(stdout).toBe(`${id}: reject by ann. Go on with sdd run.\n`);
	});

	test('4.10 accept takes the work as it is, and the log says who, by which way, when and why', async () => {
		const { rig, id } = await waiting();
		const { code, stdout } = await rig.sdd('hil', 'accept', id, '--notes', 'the risk is known', '--by', 'ann');
		expect(code).toBe(0);
		expect(stdout).toBe(`${id}: accept by ann. Go on with sdd run.\n`);
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		expect(rig.json(LOG)).toMatchObject({
			final_decision: 'ACCEPTED_BY_HUMAN',
			hil_item: id,
			decided_by: 'ann',
			decisions: [
				{ choice: 'accept', decided_by: 'ann', decided_via: 'cli', notes: 'the risk is known', after_iteration: 1 },
			],
		});
		expect(statusOf(rig, 'after')).toBe('COMPLETED');
	});

	test('4.10 whoever may accept is told which required checks failed, and that they accepted all the same is on the log', async () => {
		const checks = [
			{ name: 'unit', run: 'exit 1' },
			{ name: 'style', run: 'exit 1', required: false },
		];
		const { rig, id } = await waiting({ max_iterations: 1 }, 9, { checks });
		expect((await rig.sdd('hil', 'show', id)).stdout).toContain('failed_checks:\n  [\n    "unit"\n  ]\n');
		await rig.sdd('hil', 'accept', id);
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		expect(rig.json(LOG)).toMatchObject({
			final_decision: 'ACCEPTED_BY_HUMAN',
			decisions: [{ choice: 'accept', failed_checks: ['unit'] }],
		});
		expect((await rig.sdd('audit', 'show', 'build')).stdout).toContain('although required checks failed: unit\n');
		expect(rig.read('.ai-sdd/state/reports/build.md')).toContain(', although required checks failed: unit,');
	});

	test('4.10 reject fails the task, and what depends on it is skipped', async () => {
		const { rig, id } = await waiting();
		await rig.sdd('hil', 'reject', id, '--notes', 'wrong way');
		const { code, stdout } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(1);
		expect(stdout).toContain('wrong way');
		expect([statusOf(rig, 'build'), statusOf(rig, 'after')]).toEqual(['FAILED', 'SKIPPED']);
		expect(rig.json(LOG)).toMatchObject({ final_decision: 'NO_GO' });
	});

	test("4.10 rework means one more round, and the guidance reaches the coder's brief", async () => {
		const { rig, id } = await waiting({ max_iterations: 1 }, 2);
		await rig.sdd('hil', 'rework', id, '--notes', 'use the other parser', '--by', 'ann');
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		const brief = rig.seen('build.coder.2');
		expect(brief).toContain('use the other parser');
		expect(brief).toContain('(ann)');
		expect(brief).toContain('fix 1');
		expect(rig.json(LOG)).toMatchObject({ final_decision: 'GO', iterations: [{ iteration: 1 }, { iteration: 2 }] });
	});

	test('4.10 takeover has the edits of a person reviewed, and no agent works', async () => {
		const { rig, id } = await waiting({ max_iterations: 1 }, 2);
		const { stdout } = await rig.sdd('hil', 'takeover', id);
		expect(stdout).toContain('Edit the files of "build", then go on with sdd run: they will be reviewed.');
		rig.write('build.txt', 'BY HAND\n');
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		expect(rig.read('build.txt')).toBe('BY HAND\n');
		expect(rig.seen('build.reviewer.2')).toContain('BY HAND');
		const second = rig
			.events()
			.find(({ kind, attempt, task }) => kind === 'attempt_started' && attempt === 2 && task === 'build');
		expect(second).toMatchObject({ by: 'human', agent: null });
	});

	test('4.10 a task that waits blocks what depends on it until somebody decides', async () => {
		const { rig } = await waiting();
		expect(statusOf(rig, 'after')).toBe('PENDING');
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
		expect(statusOf(rig, 'after')).toBe('PENDING');
		expect(await openItems(rig)).toHaveLength(1);
	});

	test('4.11 after five reviews rework is neither offered nor taken', async () => {
		const { rig, id } = await waiting({ max_iterations: 4 });
		await rig.sdd('hil', 'rework', id);
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
		const last = (await openItems(rig))[0] ?? '';
		const item = JSON.parse((await rig.sdd('hil', 'show', last, '--json')).stdout) as Data;
		expect(item).toMatchObject({ choices: ['accept', 'takeover', 'reject'], context: { rounds_used: 5, hard_cap: 5 } });
		const refused = await rig.sdd('hil', 'rework', last);
		expect(refused.code).toBe(2);
		expect(refused.stderr).toContain(`the item ${last} does not offer "rework" [HIL_CHOICE_NOT_OFFERED]`);
		expect(refused.stderr).toContain('choose one of: accept, takeover, reject');
	});

	test.each(['ship', 'ship it', "don't; touch ran", '--force'])(
		'the choice %j is shown as a shell takes it',
		async (choice) => {
			const rig = await makeRig();
			const question = {
				id: 'q',
				to: 'human',
				brief: { prompt: 'Well?' },
				choices: [choice],
				trigger: 'legal\nmatter',
			};
			rig.write(
				'judge.mjs',
				`export default { name: 'judge', summary: '', hooks: ['before'], options: {}, create: () => ({
				before: ({ answers: { q } }) => q === undefined ? { kind: 'ask', questions: [${JSON.stringify(question)}] } : { kind: 'pass', note: q.value },
			}) };`,
			);
			const overlays = { judge: { enabled: true, use: './judge.mjs' } };
			rig.workflow({ agents: { dev: coder }, tasks: { a: { agent: 'dev', description: 'x', overlays } } });
			expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
			const shown = (await rig.sdd('hil', 'show', (await openItems(rig))[0] ?? '')).stdout;
			expect(shown).toContain('asked by judge (legal matter) at');
			expect((await rig.sdd('hil', 'list')).stdout).toContain('legal matter');
			const line = /^ {2}sdd (hil decide .*)$/m.exec(shown)?.[1] ?? '';
			const words = execFileSync('sh', ['-c', `printf '%s\\n' ${line}`], { cwd: rig.dir, encoding: 'utf8' });
			await rig.sdd(...words.trimEnd().split('\n'));
			expect((await rig.sdd('run', 'w.yaml')).stdout).toContain(`judge: pass ${choice}`);
			expect(rig.has('ran')).toBe(false);
		},
	);

	test('decide takes any choice that is offered, and no other', async () => {
		const { rig, id } = await waiting();
		expect((await rig.sdd('hil', 'decide', id, 'shrug')).stderr).toContain('does not offer "shrug"');
		expect((await rig.sdd('hil', 'decide', id, 'accept', '--json')).code).toBe(0);
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
	});

	test('a decision made in a pipeline says so', async () => {
		const { rig, id } = await waiting();
		const { stdout } = await rig.sddWith({ env: { CI: 'true' } }, 'hil', 'accept', id, '--json');
		expect(JSON.parse(stdout)).toMatchObject({ resolution: { via: 'ci' } });
	});

	test('a run that stays takes the answer as soon as it is there', async () => {
		const rig = await makeRig();
		rig.workflow({
			agents: { dev: coder, rev: reviewerGoingAt(9) },
			tasks: { build: reviewed('build', { max_iterations: 1 }) },
		});
		const run = rig.start(['run', 'w.yaml', '--wait']);
		await run.printed('waits for a person');
		let items = await openItems(rig);
		while (items.length === 0) items = await openItems(rig);
		await rig.sdd('hil', 'accept', items[0] ?? '');
		expect((await run.ended).code).toBe(0);
	});

	test('words that only the run knows to be secret are in no way of an audit', async () => {
		const rig = await makeRig();
		const overlays = { hil: { enabled: true } };
		const dev = { ...coder, env: ['STAGE', 'OWNER'] };
		rig.workflow({ agents: { dev }, tasks: { build: { agent: 'dev', description: 'x', overlays } } });
		const env = { STAGE: 'staging (a+b)', OWNER: 'ada-lovelace' };
		expect((await rig.sddWith({ env }, 'run', 'w.yaml')).code).toBe(3);
		const [id = ''] = await openItems(rig);
		await rig.sdd('hil', 'accept', id, '--by', 'ada-lovelace', '--notes', 'for staging (a+b) only');
		expect((await rig.sddWith({ env }, 'run', 'w.yaml')).code).toBe(0);
		const resolved = rig.events().find(({ kind }) => kind === 'hil_resolved');
		expect(resolved).toMatchObject({ resolution: { by: '[redacted]', notes: 'for [redacted] only' } });
		expect(await rig.sdd('audit', 'verify')).toMatchObject({ code: 0 });
		rig.write(`.ai-sdd/state/hil/${id}.json`, rig.read(`.ai-sdd/state/hil/${id}.json`).replace(' only"', ' also"'));
		expect((await rig.sdd('audit', 'verify')).code).toBe(1);
	});

	test('who decides is redacted like what they say', async () => {
		const rig = await makeRig();
		const overlays = { hil: { enabled: true } };
		const dev = { ...coder, env: ['OWNER'] };
		rig.workflow({ agents: { dev }, tasks: { build: { agent: 'dev', description: 'x', overlays } } });
		const env = { OWNER: 'ada-lovelace' };
		await rig.sddWith({ env }, 'run', 'w.yaml');
		const [id = ''] = await openItems(rig);
		await rig.sddWith({ env }, 'hil', 'ack', id, '--by', 'ada-lovelace');
		expect(rig.json(`.ai-sdd/state/hil/${id}.ack.json`)).toMatchObject({ by: '[redacted]' });
		const { stdout } = await rig.sddWith({ env }, 'hil', 'accept', id, '--by', 'ada-lovelace');
		expect(stdout).toContain('accept by [redacted]');
		expect(rig.read(`.ai-sdd/state/hil/${id}.resolution.json`)).not.toContain('ada-lovelace');
	});

	test('hil asks before any agent works; accepted it starts, rejected it fails', async () => {
		for (const [choice, code] of [
			['accept', 0],
			['reject', 1],
		] as const) {
			const rig = await makeRig();
			const overlays = { hil: { enabled: true, message: 'Really?' } };
			rig.workflow({ agents: { dev: coder }, tasks: { build: { agent: 'dev', description: 'x', overlays } } });
			expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
			expect(rig.has('build.txt')).toBe(false);
			const id = (await openItems(rig))[0] ?? '';
			expect((await rig.sdd('hil', 'show', id)).stdout).toContain('Really?');
			await rig.sdd('hil', choice, id);
			expect((await rig.sdd('run', 'w.yaml')).code).toBe(code);
			expect(rig.has('build.txt')).toBe(choice === 'accept');
		}
	});
});

describe('refusing', () => {
	test('an agent may look, but not decide', async () => {
		const { rig, id } = await waiting();
		const asAgent = { env: { SDD_AGENT: '1' } };
		for (const verb of ['accept', 'rework', 'takeover', 'reject', 'ack']) {
			const { code, stderr } = await rig.sddWith(asAgent, 'hil', verb, id);
			expect(code).toBe(2);
			expect(stderr).toContain('agents cannot decide what waits for a person [HIL_BY_AGENT]');
		}
		expect((await rig.sddWith(asAgent, 'hil', 'decide', id, 'accept')).code).toBe(2);
		expect((await rig.sddWith(asAgent, 'hil', 'list')).code).toBe(0);
		expect(await openItems(rig)).toEqual([id]);
	});

	test('the first decision stands', async () => {
		const { rig, id } = await waiting();
		await rig.sdd('hil', 'accept', id, '--by', 'ann');
		const { code, stderr } = await rig.sdd('hil', 'reject', id, '--by', 'bob');
		expect(code).toBe(1);
		expect(stderr).toMatch(/is already decided: "accept" by ann \(cli\) at .* \[HIL_ALREADY_RESOLVED\]/);
	});

	test('of many who decide at once exactly one is heard', async () => {
		const { rig, id } = await waiting();
		const ends = await Promise.all(['ann', 'bob', 'cid', 'dee'].map((by) => rig.sdd('hil', 'accept', id, '--by', by)));
		expect(ends.filter(({ code }) => code === 0)).toHaveLength(1);
	});

	test('an unknown id is answered with the one that was meant', async () => {
		const { rig, id } = await waiting();
		for (const wrong of [id.slice(0, -2), `${id}x`]) {
			const { code, stderr } = await rig.sdd('hil', 'show', wrong);
			expect(code).toBe(2);
			expect(stderr).toContain(`there is no HIL item "${wrong}"; did you mean ${id}?`);
		}
		expect((await rig.sdd('hil', 'accept', '../../x')).code).toBe(2);
	});

	test('a decision about a run that is over leads nowhere, and is refused', async () => {
		const { rig, id } = await waiting();
		rig.workflow({ agents: { dev: coder }, tasks: { only: { agent: 'dev', description: 'x' } } });
		expect((await rig.sdd('run', 'w.yaml', '--fresh')).code).toBe(0);
		const { code, stderr } = await rig.sdd('hil', 'accept', id);
		expect(code).toBe(2);
		expect(stderr).toContain('is over: nothing would come of a decision [HIL_RUN_OVER]');
		expect(await openItems(rig)).toEqual([]);
	});
});
