/** Looking at things: plan, validate, status, runs, logs, constitution, schema. */
import { describe, expect, test } from 'vitest';
import { coder, commanded, type Data, makeRig, openItems, type Rig, reviewed, reviewerGoingAt, shell } from '../rig.ts';

const plain = (more: Data = {}): Data => ({ agent: 'dev', description: 'x', ...more });

async function project(): Promise<Rig> {
	const rig = await makeRig();
	rig.workflow({
		agents: { dev: coder, rev: reviewerGoingAt(2), bad: shell('echo out', 'echo "sad words" >&2', 'exit 5') },
		tasks: { a: reviewed('a'), fails: plain({ agent: 'bad' }), after: plain({ depends_on: ['fails'] }) },
	});
	return rig;
}

describe('plan and validate', () => {
	test('plan shows order, agents, overlays and limits; --json and --mermaid as well', async () => {
		const rig = await project();
		const text = (await rig.sdd('plan', 'w.yaml', '--max-parallel', '2', '--review-max-fix-attempts', '4')).stdout;
		for (const words of ['after', 'agentic_review', 'rev', '2', '5']) expect(text).toContain(words);
		const plan = JSON.parse((await rig.sdd('plan', 'w.yaml', '--json')).stdout) as { tasks: Data[] };
		expect(plan.tasks.map(({ id }) => id)).toEqual(['a', 'fails', 'after']);
		const mermaid = (await rig.sdd('plan', 'w.yaml', '--mermaid')).stdout;
		expect(mermaid).toContain('flowchart');
		expect(mermaid).toContain('t2 --> t3');
		expect(rig.has('.ai-sdd/state')).toBe(false);
	});

	test('validate does not count what it does not show', async () => {
		const rig = await project();
		rig.write('many.yaml', `version: "1"\n${Array.from({ length: 300 }, (_, n) => `k${n}: 1\n`).join('')}`);
		const { code, stdout, stderr } = await rig.sdd('validate', 'many.yaml');
		expect([code, stdout]).toEqual([2, 'many.yaml: at least 200 errors, 0 warnings\n']);
		expect(stderr).toContain('many.yaml error: and 101 more [WORKFLOW_MORE_PROBLEMS]');
	});

	test('plan takes the same templates and stubs as run', async () => {
		const rig = await project();
		rig.write('dev.hbs', 'MY OWN {{task.id}}');
		rig.write('stubs.yaml', '"*": ok');
		const { stdout } = await rig.sdd(
			'plan',
			'w.yaml',
			'--json',
			'--developer-prompt',
			'dev.hbs',
			'--reviewer-prompt',
			'dev.hbs',
			'--stubs',
			'stubs.yaml',
		);
		expect(stdout).toContain('MY OWN');
		expect(stdout).toContain('scripted');
	});

	test('validate without paths checks the folder workflows/', async () => {
		const rig = await makeRig();
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain() } }, 'workflows/one.yaml');
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain() } }, 'workflows/two.yml');
		expect((await rig.sdd('validate')).stdout).toBe('2 files: ok\n');
		expect((await rig.sdd('validate', 'workflows/one.yaml')).stdout).toBe('workflows/one.yaml: ok\n');
	});

	test('validate --strict counts warnings as errors', async () => {
		const rig = await makeRig();
		rig.workflow({
			agents: { dev: coder },
			tasks: { a: plain({ outputs: ['x.txt'] }), b: plain({ outputs: ['x.txt'] }) },
		});
		const loose = await rig.sdd('validate', 'w.yaml');
		const strict = await rig.sdd('validate', 'w.yaml', '--strict');
		const json = JSON.parse((await rig.sdd('validate', 'w.yaml', '--json')).stdout) as { diagnostics: Data[] };
		expect(json.diagnostics.length).toBeGreaterThan(0);
		expect(strict.code).toBe(2);
		expect(loose.code).toBe(json.diagnostics.some(({ severity }) => severity === 'error') ? 2 : 0);
	});
});

describe('status, runs and logs', () => {
	test('status tells where each task stands and why', async () => {
		const rig = await project();
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(1);
		const { code, stdout } = await rig.sdd('status');
		expect(code).toBe(0);
		expect(stdout).toContain(`w, run ${rig.runs()[0]}: failed`);
		expect(stdout).toMatch(/a\s+COMPLETED\s+2/);
		expect(stdout).toMatch(/fails\s+FAILED\s+1 .*exited with code 5/);
		expect(stdout).toMatch(/after\s+SKIPPED\s+0 .*"fails", which it depends on, failed/);
		const json = JSON.parse((await rig.sdd('status', rig.runs()[0] ?? '', '--json')).stdout) as Data;
		expect(json).toMatchObject({
			run_id: rig.runs()[0],
			tasks: { a: { status: 'COMPLETED', iterations: 2 }, after: { status: 'SKIPPED' } },
		});
		expect(json).toEqual(rig.json('.ai-sdd/state/workflow-state.json'));
	});

	test('status of a run that waits names the command to look at the question', async () => {
		const rig = await makeRig();
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain({ overlays: { hil: { enabled: true } } }) } });
		await rig.sdd('run', 'w.yaml');
		expect((await rig.sdd('status')).stdout).toContain(
			`a waits for a person: sdd hil show ${(await openItems(rig))[0]}`,
		);
	});

	test('status names the process of a run that is under way, and of no other', async () => {
		const rig = await makeRig();
		rig.workflow({ agents: { dev: commanded() }, tasks: { a: plain() } });
		const killed = rig.start(['run', 'w.yaml']);
		await rig.call('a/coder', killed);
		killed.child.kill('SIGKILL');
		await killed.ended;
		const left = `run ${rig.runs()[0]}: unfinished: its process is gone, sdd run goes on`;
		expect((await rig.sdd('status')).stdout).toContain(left);
		rig.workflow({ agents: { dev: commanded() }, tasks: { a: plain() } }, 'other.yaml');
		const other = rig.start(['run', 'other.yaml']);
		const work = await rig.call('a/coder', other);
		expect((await rig.sdd('status', rig.runs()[1] ?? '')).stdout).toContain(`: running (process ${other.pid})`);
		expect((await rig.sdd('status', rig.runs()[0] ?? '')).stdout).toContain(left);
		work.answer();
		await other.ended;
	});

	test('runs lists them, the newest first; --all shows more than twenty', async () => {
		const rig = await makeRig();
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain() } });
		expect((await rig.sdd('runs')).stdout).toContain('there is no run yet');
		rig.write('stubs.yaml', '"*": ok');
		for (let i = 0; i < 22; i++) await rig.sdd('run', 'w.yaml', '--stubs', 'stubs.yaml', '--quiet');
		const { stdout } = await rig.sdd('runs');
		expect(stdout).toContain('and 2 older: sdd runs --all');
		const newest = stdout.split('\n')[1] ?? '';
		expect(newest).toContain(rig.runs().at(-1) ?? 'none');
		expect(newest).toContain('completed');
		const all = JSON.parse((await rig.sdd('runs', '--all', '--json')).stdout) as { runs: Data[] };
		expect(all.runs).toHaveLength(22);
	});

	test('logs shows what happened to a task and what its agents wrote', async () => {
		const rig = await project();
		await rig.sdd('run', 'w.yaml');
		const { stdout } = await rig.sdd('logs', 'a');
		for (const words of ['attempt 1: dev works', 'worked on a', 'agentic_review: NO_GO fix 1', '"decision": "GO"'])
			expect(stdout).toContain(words);
		expect((await rig.sdd('logs', 'fails')).stdout).toContain('sad words');
		const json = JSON.parse((await rig.sdd('logs', 'a', '--run', rig.runs()[0] ?? '', '--json')).stdout) as {
			events: Data[];
		};
		expect(json.events.filter(({ kind }) => kind === 'verdict')).toHaveLength(4);
		const wrong = await rig.sdd('logs', 'fail');
		expect(wrong.code).toBe(2);
		expect(wrong.stderr).toContain('did you mean "fails"?');
	});

	test('what agents print cannot steer the terminal', async () => {
		const rig = await makeRig();
		const dev = shell('printf "\\033]0;owned\\007\\033[2Jtext\\n"', 'printf "\\033[31mred" >&2', 'exit 1');
		rig.workflow({ agents: { dev }, tasks: { a: plain() } });
		const ends = [await rig.sdd('run', 'w.yaml'), await rig.sdd('logs', 'a'), await rig.sdd('status')];
		for (const { stdout, stderr } of ends) expect(stdout + stderr).not.toMatch(/[\u001b\u0007]/);
	});
});

describe('what was damaged or never began', () => {
	test('a run that was killed before its first event is no run to look at', async () => {
		const rig = await project();
		await rig.sdd('run', 'w.yaml');
		rig.write('.ai-sdd/state/runs/99991231-000000-000000/plan.json', '{}');
		expect((await rig.sdd('status')).stdout).toContain(`run ${rig.runs()[0]}: failed`);
		const { code, stderr } = await rig.sdd('status', '9999');
		expect(code).toBe(2);
		expect(stderr).toContain('never began: it was killed before its first event [RUN_NOT_FOUND]');
		expect((await rig.sdd('runs')).stdout).toContain('never began');
		expect((await rig.sdd('audit', 'list')).stdout).toContain('agentic_review');
		expect((await rig.sdd('audit', 'verify')).code).toBe(0);
	});

	test.each(['{}', '[]', 'null', '{"tasks": [{}]}', 'no JSON'])(
		'a plan that reads %s is damage, for every command',
		async (text) => {
			const rig = await project();
			await rig.sdd('run', 'w.yaml');
			rig.write(`.ai-sdd/state/runs/${rig.runs()[0]}/plan.json`, text);
			for (const args of [['status'], ['logs', 'a'], ['audit', 'show', 'a'], ['audit', 'verify']]) {
				const { code, stdout, stderr } = await rig.sdd(...args);
				expect(code).toBe(1);
				expect(stdout + stderr).toContain('plan.json');
			}
			expect((await rig.sdd('audit', 'list')).stderr).toContain('RUN_PLAN_DAMAGED');
		},
	);

	test('a damaged journal hides no other run', async () => {
		const rig = await project();
		await rig.sdd('run', 'w.yaml');
		const [first] = rig.runs();
		await rig.sdd('run', 'w.yaml');
		rig.write(`.ai-sdd/state/runs/${first}/journal/000001.ndjson`, 'torn\n{"kind":"x"}\n');
		const { code, stdout } = await rig.sdd('runs');
		expect(code).toBe(0);
		expect(stdout).toContain('damaged: STORE_JOURNAL_DAMAGED');
		expect(stdout).toContain(rig.runs()[1] ?? 'none');
	});

	test('a damaged question hides no other, and is named', async () => {
		const rig = await makeRig();
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain({ overlays: { hil: { enabled: true } } }) } });
		await rig.sdd('run', 'w.yaml');
		rig.write('.ai-sdd/state/hil/hil-000000000000.json', '{"torn');
		const { code, stdout, stderr } = await rig.sdd('hil', 'list');
		expect(code).toBe(1);
		expect(stdout).toContain('approval_required');
		expect(stderr).toContain('hil-000000000000.json cannot be trusted');
	});

	test('a lost or broken view is made anew by the next run', async () => {
		const rig = await makeRig();
		rig.workflow({
			agents: { dev: coder, rev: reviewerGoingAt(9) },
			tasks: { a: reviewed('a', { max_iterations: 1 }) },
		});
		await rig.sdd('run', 'w.yaml');
		const log = rig.read('.ai-sdd/state/review-logs/a.json');
		rig.write('.ai-sdd/state/review-logs/a.json', 'broken');
		rig.write('.ai-sdd/state/workflow-state.json', '');
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
		expect(rig.read('.ai-sdd/state/review-logs/a.json')).toBe(log);
		expect(rig.json('.ai-sdd/state/workflow-state.json')).toMatchObject({ tasks: { a: { status: 'HIL_PENDING' } } });
	});
});

describe('constitution and schema', () => {
	const TEXT = '# Ours\n\n## Purpose\n\nTo test.\n\n## Standards\n\n- **Tabs**: use them\n';

	test('constitution prints what holds, and where it comes from', async () => {
		const rig = await makeRig();
		rig.write('constitution.md', TEXT);
		const { stdout } = await rig.sdd('constitution');
		expect(stdout).toContain('To test.');
		expect(stdout).toContain('constitution.md');
		const section = (await rig.sdd('constitution', '--section', 'Standards')).stdout;
		expect(section).toContain('use them');
		expect(section).not.toContain('To test.');
		expect(JSON.stringify(JSON.parse((await rig.sdd('constitution', '--json')).stdout))).toContain('use them');
	});

	test('--task takes the folders of its files into account', async () => {
		const rig = await makeRig();
		rig.write('constitution.md', TEXT);
		rig.write('lib/constitution.md', '## Standards\n\n- **Lib**: only here\n');
		rig.workflow({
			agents: { dev: shell('mkdir -p lib', 'echo x > lib/x.txt') },
			tasks: { a: plain({ outputs: ['lib/x.txt'] }), b: plain() },
		});
		const of = async (task: string, ...more: string[]): Promise<string> =>
			(await rig.sdd('constitution', '--task', task, ...more)).stdout;
		expect(await of('a', '--workflow', 'w.yaml')).toContain('only here');
		expect(await of('b', '--workflow', 'w.yaml')).not.toContain('only here');
		await rig.sdd('run', 'w.yaml');
		expect(await of('a')).toContain('only here');
		expect((await rig.sdd('constitution', '--task', 'c')).code).toBe(2);
	});

	test('a malformed constitution is an error, for run as well', async () => {
		const rig = await makeRig();
		rig.write('constitution.md', '## Standards\n\n\0binary\n');
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain() } });
		for (const args of [['constitution'], ['run', 'w.yaml']]) {
			const { code, stderr } = await rig.sdd(...args);
			expect(code).toBe(2);
			expect(stderr).toContain('CONSTITUTION_MALFORMED');
		}
	});

	test('schema prints a JSON Schema with the options of every overlay in it', async () => {
		const rig = await makeRig();
		const { code, stdout } = await rig.sdd('schema');
		expect(code).toBe(0);
		const schema = JSON.parse(stdout) as { definitions: { overlays: { properties: Data } } };
		expect(Object.keys(schema.definitions.overlays.properties)).toEqual(
			expect.arrayContaining(['agentic_review', 'hil']),
		);
		expect(stdout).toContain('max_iterations');
	});
});
