/** Defaults, agents, environment and secrets: what reaches an agent, and what must not be written down. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { coder, commanded, type Data, makeRig, openItems, type Rig, reviewed, reviewerGoingAt, shell } from '../rig.ts';

const plain = (more: Data = {}): Data => ({ agent: 'dev', description: 'x', ...more });

describe('defaults are merged: built-in < project < workflow < task < command line', () => {
	const LAYERS = ['built-in', 'project', 'workflow', 'task', 'command line'];
	/** The most reviews that each layer allows, read off how many there were. */
	const REVIEWS = [3, 4, 2, 5, 1];

	test.each(LAYERS.map((name, index) => [name, index] as const))(
		'the layer %s wins over those before it',
		async (_name, layer) => {
			const rig = await makeRig();
			const review = (index: number): Data =>
				layer >= index ? { agentic_review: { max_iterations: REVIEWS[index] } } : {};
			rig.write('.ai-sdd/ai-sdd.yaml', JSON.stringify({ version: '1', defaults: { overlays: review(1) } }));
			const task = reviewed('a') as { overlays: { agentic_review: Data } };
			const overlays = {
				agentic_review: { ...task.overlays.agentic_review, ...(review(3)['agentic_review'] as Data) },
			};
			rig.workflow({
				agents: { dev: coder, rev: reviewerGoingAt(99) },
				defaults: { overlays: review(2) },
				tasks: { a: { ...task, overlays } },
			});
			const more = layer >= 4 ? ['--review-max-fix-attempts', '0'] : [];
			expect((await rig.sdd('run', 'w.yaml', ...more)).code).toBe(3);
			expect(rig.json('.ai-sdd/state/review-logs/a.json')['iterations']).toHaveLength(REVIEWS[layer] ?? 0);
		},
	);

	test('a timeout of the project holds until a task says otherwise', async () => {
		const rig = await makeRig();
		rig.write('.ai-sdd/ai-sdd.yaml', 'version: "1"\ndefaults: { timeout: 7m }\n');
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain(), b: plain({ timeout: '9m' }) } });
		const plan = JSON.parse((await rig.sdd('plan', 'w.yaml', '--json')).stdout) as { tasks: Data[] };
		expect(plan.tasks.map((task) => task['timeout_ms'] ?? task['timeoutMs'])).toEqual([420_000, 540_000]);
	});

	test('max_parallel: the workflow beats the project', async () => {
		const rig = await makeRig();
		rig.write('.ai-sdd/ai-sdd.yaml', 'version: "1"\nmax_parallel: 7\n');
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain() } });
		const parallel = async (...more: string[]): Promise<unknown> =>
			(JSON.parse((await rig.sdd('run', 'w.yaml', '--dry-run', '--json', ...more)).stdout) as Data)['max_parallel'];
		expect(await parallel()).toBe(7);
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain() }, max_parallel: 2 });
		expect(await parallel()).toBe(2);
		expect(await parallel('--max-parallel', '9')).toBe(9);
	});
});

describe('an agent', () => {
	test('gets its brief on stdin, the project as working directory, and the SDD variables', async () => {
		const rig = await makeRig();
		rig.workflow({ agents: { dev: commanded('one', 'a b'), rev: commanded() }, tasks: { build: reviewed('build') } });
		const run = rig.start(['run', 'w.yaml']);
		const work = await rig.call('build/coder', run);
		const id = rig.runs()[0] ?? '';
		expect(work.cwd).toBe(rig.dir);
		expect(work.argv).toEqual(['one', 'a b']);
		expect(work.brief).toContain('write build.txt');
		const common = {
			SDD_RUN_ID: id,
			SDD_TASK_ID: 'build',
			SDD_ATTEMPT: '1',
			SDD_ITERATION: '1',
			SDD_PROJECT_DIR: rig.dir,
			SDD_AGENT: '1',
		};
		expect(work.env).toMatchObject({ ...common, SDD_ROLE: 'coder' });
		expect(work.env['SDD_REVIEW_ID']).toBeUndefined();
		work.answer({ files: { 'build.txt': 'x' } });
		const review = await rig.call('build/reviewer', run);
		expect(review.env).toMatchObject({ ...common, SDD_ROLE: 'reviewer', SDD_REVIEW_ID: `${id}/build/1` });
		review.answer({ say: `{"decision": "GO", "feedback": "", "review_id": "${id}/build/1"}` });
		expect((await run.ended).code).toBe(0);
	});

	test('gets only the basic variables and those it is allowed', async () => {
		const rig = await makeRig();
		rig.workflow({ agents: { dev: { ...commanded(), env: ['NEEDED', 'PRE_*'] } }, tasks: { a: plain() } });
		const env = {
			NEEDED: 'value-needed',
			PRE_ONE: 'value-one',
			OTHER: 'value-other',
			SDD_RUN_ID: 'a lie',
			AWS_SECRET: 'value-aws',
		};
		const run = rig.start(['run', 'w.yaml'], { env });
		const work = await rig.call('a/coder', run);
		expect(work.env).toMatchObject({ NEEDED: 'value-needed', PRE_ONE: 'value-one', PATH: process.env['PATH'] });
		expect(Object.keys(work.env)).not.toContain('OTHER');
		expect(Object.keys(work.env)).not.toContain('AWS_SECRET');
		expect(work.env['SDD_RUN_ID']).toBe(rig.runs()[0]);
		work.answer();
		expect((await run.ended).code).toBe(0);
	});

	test('a persona stands whole at the head of the brief, for coder and reviewer', async () => {
		const rig = await makeRig();
		rig.write('personas/x.md', '# I am X\n\n{{not a template}}\n');
		const persona = 'personas/x.md';
		rig.workflow({
			agents: { dev: { ...coder, persona }, rev: { ...reviewerGoingAt(1), persona } },
			tasks: { a: reviewed('a') },
		});
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		for (const role of ['coder', 'reviewer'])
			expect(rig.seen(`a.${role}.1`)).toMatch(/^# I am X\n\n\{\{not a template\}\}\n/);
	});

	test('extends takes what another agent says, field by field, also from .ai-sdd/agents', async () => {
		const rig = await makeRig();
		rig.write(
			'.ai-sdd/agents/base.yaml',
			JSON.stringify({ ...shell('echo "$EXTRA" > got.txt'), timeout: '3m', env: ['EXTRA'] }),
		);
		rig.workflow({ agents: { dev: { extends: 'base', timeout: '5m' } }, tasks: { a: plain() } });
		expect((await rig.sddWith({ env: { EXTRA: 'extra-value' } }, 'run', 'w.yaml')).code).toBe(0);
		expect(rig.read('got.txt')).toBe('extra-value\n');
		rig.workflow({ agents: { dev: { extends: 'two' }, two: { extends: 'dev' } }, tasks: { a: plain() } });
		const { code, stderr } = await rig.sdd('validate', 'w.yaml');
		expect(code).toBe(2);
		expect(stderr).toContain('AGENT_EXTENDS_CYCLE');
	});

	test('a read-only reviewer that changes the work has failed, whatever it said', async () => {
		const rig = await makeRig();
		const rev = { ...shell('echo changed > a.txt', `echo '{"decision": "GO", "feedback": ""}'`), read_only: true };
		rig.workflow({ agents: { dev: coder, rev }, tasks: { a: reviewed('a') } });
		const { code, stdout } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(1);
		expect(stdout).toContain("is read_only, but the task's outputs changed while it ran");
	});
});

describe('what is written down', () => {
	const SECRET = 'c0rrect-h0rse-battery';
	const TOKEN = `ghp_${'a1B2'.repeat(9)}`;

	test("secrets are in no file of the state: journal, briefs, logs, agents' output, questions", async () => {
		const rig = await makeRig();
		const dev = {
			...shell(`echo "key $KEY ${TOKEN}"`, 'echo "err $KEY" >&2', 'echo "work $KEY" > a.txt'),
			env: ['KEY'],
		};
		const rev = { ...shell(`echo '{"decision": "NO_GO", "feedback": "I saw '"$KEY"' there"}'`), env: ['KEY'] };
		const checks = [{ name: 'leaky', run: `echo ${TOKEN}; exit 1` }];
		rig.workflow({ agents: { dev, rev }, tasks: { a: reviewed('a', { max_iterations: 2 }, { checks }) } });
		expect((await rig.sddWith({ env: { KEY: SECRET } }, 'run', 'w.yaml')).code).toBe(3);
		expect(filesWith(rig, SECRET)).toEqual([]);
		expect(filesWith(rig, TOKEN)).toEqual(['.ai-sdd/state/runs/RUN/plan.json']);
		expect(filesWith(rig, 'work [redacted]')).not.toEqual([]);
		expect(filesWith(rig, 'I saw ****')).toContain('.ai-sdd/state/review-logs/a.json');
		expect((await rig.sdd('audit', 'verify')).code).toBe(0);
	});

	test("secrets are not in the diffs either, nor in a person's notes", async () => {
		const rig = await makeRig();
		execFileSync('git', ['init', '-q'], { cwd: rig.dir });
		const key = ['-----BEGIN PRIVATE KEY-----', 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', '-----END PRIVATE KEY-----'];
		const dev = { ...shell(`printf '%s\\n' "$KEY" ${key.map((line) => `'${line}'`).join(' ')} > a.txt`), env: ['KEY'] };
		rig.workflow({ agents: { dev, rev: reviewerGoingAt(9) }, tasks: { a: reviewed('a', { max_iterations: 1 }) } });
		const env = { KEY: SECRET };
		expect((await rig.sddWith({ env }, 'run', 'w.yaml')).code).toBe(3);
		const id = (await openItems(rig))[0] ?? '';
		expect((await rig.sddWith({ env }, 'hil', 'accept', id, '--notes', `I changed ${SECRET}`)).code).toBe(0);
		expect(rig.json(`.ai-sdd/state/hil/${id}.resolution.json`)).toMatchObject({ notes: 'I changed [redacted]' });
		expect((await rig.sddWith({ env }, 'run', 'w.yaml')).code).toBe(0);
		expect(filesWith(rig, `+${'*'.repeat(SECRET.length)}`)).toContain('.ai-sdd/state/runs/RUN/diffs/a-1.diff');
		expect([...filesWith(rig, SECRET), ...filesWith(rig, 'MIIEvQIBADANBgkqhkiG9w0')]).toEqual([
			'.ai-sdd/state/runs/RUN/plan.json',
		]);
	});

	test('the state is git-ignored, and what a person wrote there is kept', async () => {
		const rig = await makeRig();
		rig.write('.ai-sdd/.gitignore', 'mine\n');
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain() } });
		await rig.sdd('run', 'w.yaml');
		expect(rig.read('.ai-sdd/.gitignore')).toBe('mine\nstate/\n');
	});
});

function filesWith(rig: Rig, text: string, below = '.ai-sdd'): readonly string[] {
	return readdirSync(join(rig.dir, below)).flatMap((name): readonly string[] => {
		const path = `${below}/${name}`;
		if (statSync(join(rig.dir, path)).isDirectory()) return filesWith(rig, text, path);
		return readFileSync(join(rig.dir, path), 'latin1').includes(text) ? [path.replace(rig.runs()[0] ?? '', 'RUN')] : [];
	});
}
