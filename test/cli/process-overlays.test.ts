import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BROKEN, commandFor, PYTHON } from '../hosts/processes.ts';
import { coder, type Data, makeRig, openItems, type Rig, shell } from '../rig.ts';

/** A workflow of tasks that are all judged by one overlay in a process of its own. */
function workflow(rig: Rig, command: readonly string[], tasks: readonly string[] = ['write'], gate: Data = {}): void {
	const overlays = { gate: { enabled: true, use: { command }, ...gate } };
	const task = (id: string): Data => ({ agent: 'dev', description: id, outputs: [`${id}.txt`], overlays });
	rig.workflow({
		name: 'judged',
		agents: { dev: coder },
		max_parallel: 3,
		tasks: Object.fromEntries(tasks.map((id) => [id, task(id)])),
	});
}

const TRUST = { env: { SDD_TRUST_OVERLAYS: '1', PYTHONDONTWRITEBYTECODE: '1' } };
const run = (rig: Rig) => rig.sddWith(TRUST, 'run', 'w.yaml');

function verdicts(rig: Rig): readonly Data[] {
	return rig.events().flatMap(({ kind, verdict }) => (kind === 'verdict' ? [verdict as Data] : []));
}

test.each([
	[
		'prints_to_stdout.py',
		'OVERLAY_PROTOCOL',
		/^it wrote something that is no JSON to stdout: "checking the licences \.\.\."/,
	],
	['answers_unknown_id.py', 'OVERLAY_PROTOCOL', /^it answered the request 4711, which nobody made$/],
	['never_answers.py', 'OVERLAY_TIMEOUT', /^no answer to after within 1s, and it did not heed the cancellation$/],
	['sends_100_mb.py', 'OVERLAY_PROTOCOL', /^it wrote a line of more than 33554432 bytes$/],
	['typo_in_verdict.py', 'OVERLAY_BAD_VERDICT', /it has the unknown member "aproved"$/],
	['dies_while_judging.py', 'OVERLAY_CRASHED', /^its process exited with code 3; .*:\nSegmentation fault, as it were$/],
	[
		'ignores_cancellation.py',
		'OVERLAY_TIMEOUT',
		/^no answer to after within 1s, and it did not heed the cancellation; .*:\nbusy$/,
	],
	[
		'throws.mjs',
		'OVERLAY_BROKE_DOWN',
		/^it answered with an error: cannot do after; .*:\nError: no such table: licences$/,
	],
])('%s fails the task with %s, and nothing is left running', async (file, code, reason) => {
	const rig = await makeRig();
	const judge = (command: readonly string[]) => rig.script('judge.sh', `exec ${command.join(' ')}`);
	judge(commandFor(file));
	workflow(rig, ['./judge.sh'], ['write'], code === 'OVERLAY_TIMEOUT' ? { timeout: '1s' } : {});
	const broken = await run(rig);
	expect(broken.code).toBe(1);
	expect(broken.stdout).toContain('judged: 1 failed; mend the overlay, then sdd run goes on');
	expect(verdicts(rig)).toEqual([{ kind: 'fail', code, reason: expect.stringMatching(reason) }]);
	expect(rig.leftovers()).toEqual([]);
	// Mended, the run goes on where it was: the overlay is asked again, the agent is not.
	judge(commandFor('works.py'));
	expect((await run(rig)).code).toBe(0);
	expect(rig.runs()).toHaveLength(1);
	expect(rig.events().filter(({ kind }) => kind === 'attempt_started')).toHaveLength(1);
	expect(verdicts(rig).map(({ kind }) => kind)).toEqual(['fail', 'pass']);
	expect((await rig.sdd('audit', 'verify')).code).toBe(0);
	expect(rig.leftovers()).toEqual([]);
});

test('what was skipped for an overlay that broke down is done when the run goes on; what failed otherwise is not', async () => {
	const rig = await makeRig();
	rig.script('judge.sh', `exec ${commandFor('dies_while_judging.py').join(' ')}`);
	const judged = { outputs: ['a.txt'], overlays: { gate: { enabled: true, use: { command: ['./judge.sh'] } } } };
	rig.workflow({
		name: 'mixed',
		agents: { dev: coder, bad: { adapter: 'command', run: ['false'] } },
		tasks: {
			a: { agent: 'dev', description: 'a', ...judged },
			b: { agent: 'dev', description: 'b', depends_on: ['a'] },
			c: { agent: 'dev', description: 'c', depends_on: ['b'] },
			lost: { agent: 'bad', description: 'lost' },
			d: { agent: 'dev', description: 'd', depends_on: ['a', 'lost'] },
		},
	});
	expect((await run(rig)).stdout).toContain('mixed: 2 failed, 3 skipped; mend the overlay, then sdd run goes on');
	expect((await rig.sdd('runs')).stdout).toContain('paused (fault)');
	rig.script('judge.sh', `exec ${commandFor('works.py').join(' ')}`);
	const again = await run(rig);
	expect(again.code).toBe(1);
	expect(again.stdout).toContain('mixed: 3 done, 1 failed, 1 skipped\n');
	expect(rig.events().filter(({ kind, task }) => kind === 'attempt_started' && task === 'a')).toHaveLength(1);
	expect((await rig.sdd('audit', 'verify')).code).toBe(0);
});

test.each([
	['exits-at-once.sh', 'it could not be started: its process exited with code 7'],
	['never-answers-initialize.sh', 'no answer to initialize within 5s; the last it wrote to stderr'],
	['speaks_protocol_99.py', 'it speaks protocol 99, and this sdd speaks 1 to 1'],
	['wrong_hooks.py', '"afterwards" is not a hook'],
	['prints_at_start.py', 'it wrote something that is no JSON to stdout: "licences 1.0"'],
	['bad_options_schema.py', 'its options schema is not valid'],
])('%s is told of at load: nothing was run', async (file, words) => {
	const rig = await makeRig();
	workflow(rig, commandFor(file));
	const { code, stderr } = await run(rig);
	expect(code).toBe(2);
	expect(stderr).toContain(words);
	expect(rig.runs()).toEqual([]);
	expect(rig.leftovers()).toEqual([]);
});

test('when it dies while three tasks wait for it, no task passes', async () => {
	const rig = await makeRig();
	workflow(rig, commandFor('dies_while_judging.py'), ['one', 'two', 'three']);
	expect((await run(rig)).code).toBe(1);
	const said = verdicts(rig);
	expect(said).toHaveLength(3);
	for (const verdict of said) expect(verdict).toMatchObject({ kind: 'fail', code: 'OVERLAY_CRASHED' });
	expect(rig.leftovers()).toEqual([]);
});

test.each(['forks_children.py', 'forks_a_daemon.py', 'stays_after_shutdown.py'])(
	'what %s leaves behind is ended with the run',
	async (file) => {
		const rig = await makeRig();
		workflow(rig, commandFor(file));
		expect((await run(rig)).code).toBe(0);
		expect(rig.leftovers()).toEqual([]);
	},
);

test('interrupted while an overlay judges, the run goes on later', async () => {
	const rig = await makeRig();
	workflow(rig, ['./judge'], ['write'], { timeout: '5m' });
	rig.script('judge', `touch judging\nexec ${commandFor('ignores_cancellation.py').join(' ')}`);
	const started = rig.start(['run', 'w.yaml'], TRUST);
	const busy = (): boolean => rig.runs().length > 0 && overlayLog(rig).includes('busy');
	await expect.poll(busy, { timeout: 20_000 }).toBe(true);
	process.kill(started.pid, 'SIGINT');
	expect((await started.ended).code).toBe(130);
	expect(rig.leftovers()).toEqual([]);
	expect(verdicts(rig)).toEqual([]);
	rig.script('judge', `exec ${commandFor('works.py').join(' ')}`);
	expect((await run(rig)).code).toBe(0);
	expect(rig.runs()).toHaveLength(1);
	expect(verdicts(rig)).toEqual([{ kind: 'pass' }]);
});

test.each([
	['validate', 'w.yaml'],
	['plan', 'w.yaml'],
	['run', 'w.yaml'],
	['overlays', 'describe', './judge.sh'],
])('interrupted while an overlay is asked what it is, sdd %s %s leaves nothing running', async (...args) => {
	const rig = await makeRig();
	rig.script('judge.sh', 'touch asked; sleep 600');
	workflow(rig, ['./judge.sh']);
	const started = rig.start(args, TRUST);
	await expect.poll(() => rig.has('asked'), { timeout: 20_000 }).toBe(true);
	process.kill(started.pid, 'SIGINT');
	expect((await started.ended).code).toBe(130);
	await expect.poll(() => rig.leftovers()).toEqual([]);
	expect(rig.runs()).toEqual([]);
});

test('on_error decides about a crash, and never about nonsense', async () => {
	const rig = await makeRig();
	workflow(rig, commandFor('dies_while_judging.py'), ['write'], { on_error: 'warn' });
	expect((await run(rig)).code).toBe(0);
	expect(rig.events().filter(({ kind }) => kind === 'warning')).toMatchObject([{ code: 'OVERLAY_SKIPPED' }]);
	for (const nonsense of ['answers_unknown_id.py', 'throws.mjs']) {
		workflow(rig, commandFor(nonsense), ['write'], { on_error: 'skip' });
		expect((await rig.sddWith(TRUST, 'run', 'w.yaml', '--fresh')).code).toBe(1);
	}
});

/** An overlay without sdd_overlay, beside `speak`. */
function speaking(rig: Rig, judge: string): readonly string[] {
	rig.write('judge.py', `import json, os, sys\nsys.path.insert(0, ${JSON.stringify(BROKEN)})\nimport speak\n${judge}`);
	return [PYTHON, 'judge.py'];
}

test('of two verdicts that contradict each other none counts', async () => {
	const rig = await makeRig();
	const both = `
def judge(request):
    one = lambda result: json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + "\\n"
    sys.stdout.write(one({"kind": "pass"}) + one({"kind": "fail", "reason": "a secret was committed"}))
    sys.stdout.flush()
speak.serve(judge)
`;
	workflow(rig, speaking(rig, both), ['write'], { on_error: 'skip' });
	expect((await run(rig)).code).toBe(1);
	expect(verdicts(rig)).toMatchObject([{ kind: 'fail', code: 'OVERLAY_PROTOCOL' }]);
});

test('an overlay that talks on after its last verdict leaves a warning', async () => {
	const rig = await makeRig();
	workflow(rig, speaking(rig, 'speak.serve()\nprint("bye", flush=True)\n'));
	const { code, stdout } = await run(rig);
	expect(code).toBe(0);
	expect(stdout).toContain('[OVERLAY_PROTOCOL]');
	const message = expect.stringMatching(
		/after its last verdict had counted: it wrote something that is no JSON .*"bye"/,
	);
	expect(rig.events()).toContainEqual(expect.objectContaining({ kind: 'warning', code: 'OVERLAY_PROTOCOL', message }));
	expect((await rig.sdd('audit', 'verify')).code).toBe(0);
	expect(overlayLog(rig)).toContain('[sdd] it wrote something that is no JSON to stdout: "bye"\n');
});

test.each([
	[['--trust-overlays'], ''],
	[[], '1'],
])(
	'an overlay that an agent rewrites and kills is not started again (%j, SDD_TRUST_OVERLAYS=%j)',
	async (args, trust) => {
		const rig = await makeRig();
		const judge = (kind: string): string => `
def judge(request):
    with open("pid", "w") as file: file.write(str(os.getpid()))
    is_first = request["params"]["moment"]["task"]["id"] == "first"
    speak.send(id=request["id"], result={"kind": "pass"} if is_first else ${kind})
speak.serve(judge)
`;
		const command = speaking(rig, judge('{"kind": "fail", "reason": "never good"}'));
		rig.write('passing.py', rig.read('judge.py').replace('"fail", "reason": "never good"', '"pass"'));
		const overlays = { gate: { enabled: true, use: { command }, on_error: 'skip' } };
		const noticed = 'until grep -q SIGKILL .ai-sdd/state/runs/*/overlays/*; do sleep 0.01; done';
		const evil = shell('cp passing.py judge.py', 'kill -9 $(cat pid)', noticed);
		const first = { agent: 'dev', description: 'x', overlays };
		const second = { agent: 'evil', description: 'x', overlays, depends_on: ['first'] };
		rig.workflow({ agents: { dev: coder, evil }, tasks: { first, second } });
		const env = { env: { ...TRUST.env, SDD_TRUST_OVERLAYS: trust } };
		expect((await rig.sddWith(env, 'run', 'w.yaml', ...args)).code).toBe(1);
		expect(verdicts(rig)).toEqual([
			{ kind: 'pass' },
			{
				kind: 'fail',
				code: 'OVERLAY_CHANGED',
				reason: expect.stringMatching(
					/^its code changed since this run began, so it is not started: read .*judge\.py; `sdd run` then asks/,
				),
			},
		]);
		expect(overlayLog(rig)).toBe('[sdd] its process was killed by SIGKILL\n');
	},
);

test('secrets in what an overlay writes are masked: in its log, and in reasons', async () => {
	const rig = await makeRig();
	const leaks = `
def judge(request):
    print("print", os.environ["DEPLOY_TOKEN"], file=sys.stderr, flush=True)
    speak.send(method="log", params={"text": "log " + os.environ["DEPLOY_TOKEN"]})
    speak.refused(request, "no")
speak.serve(judge)
`;
	workflow(rig, speaking(rig, leaks));
	const secret = 'correct-horse-42';
	const { code, stdout } = await rig.sddWith({ env: { ...TRUST.env, DEPLOY_TOKEN: secret } }, 'run', 'w.yaml');
	expect(code).toBe(1);
	expect(overlayLog(rig)).toBe(`print ${'*'.repeat(16)}\n[log info] log ${'*'.repeat(16)}\n`);
	expect(verdicts(rig)).toMatchObject([{ reason: expect.stringContaining('print [redacted]') }]);
	expect(stdout + JSON.stringify(rig.events())).not.toContain(secret);
});

test('what an overlay writes to stderr is kept with the run', async () => {
	const rig = await makeRig();
	workflow(rig, commandFor('dies_while_judging.py'));
	await run(rig);
	expect(overlayLog(rig)).toBe('Segmentation fault, as it were\n[sdd] its process exited with code 3\n');
});

/** The stderr of the only overlay of the newest run. */
function overlayLog(rig: Rig): string {
	const folder = join('.ai-sdd/state/runs', rig.runs().at(-1) ?? '', 'overlays');
	const line = rig.tree().find((path) => path.startsWith(`${folder}/1-`));
	return line === undefined ? '' : rig.read(line.split(' ')[0] ?? '');
}

test('an overlay that breaks down with the answer in its hands is given it again; nobody else is asked twice', async () => {
	const rig = await makeRig();
	const judge = (onAnswer: string) =>
		rig.write(
			'judge.mjs',
			`export default { name: 'judge', summary: '', hooks: ['after'], options: {}, create: () => ({ after({ answers }) {
				if (answers.q === undefined) return { kind: 'ask', questions: [{ id: 'q', to: 'agent:oracle', brief: { prompt: 'well?' } }] };
				${onAnswer}
			} }) };`,
		);
	judge("throw new Error('lost it');");
	rig.write(
		'first.mjs',
		`export default { name: 'first', summary: '', hooks: ['after'], options: {}, order: 10, create: () => ({ after: () => ({ kind: 'pass' }) }) };`,
	);
	rig.workflow({
		name: 'asked',
		agents: { dev: coder, oracle: { adapter: 'command', run: ['sh', '-c', 'echo asked >> oracle.log; echo yes'] } },
		tasks: {
			a: {
				agent: 'dev',
				description: 'a',
				outputs: ['a.txt'],
				overlays: { first: { enabled: true, use: './first.mjs' }, judge: { enabled: true, use: './judge.mjs' } },
			},
		},
	});
	expect((await run(rig)).code).toBe(1);
	judge("return { kind: 'pass', note: answers.q.value };");
	const again = await run(rig);
	expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('judge: pass yes')]);
	expect(rig.read('oracle.log')).toBe('asked\n');
	const said = rig.events().flatMap(({ kind, overlay, round }) => (kind === 'verdict' ? [`${overlay} ${round}`] : []));
	expect(said).toEqual(['first 1', 'judge 1', 'judge 2', 'judge 2']);
	expect((await rig.sdd('audit', 'verify')).code).toBe(0);
});

test('a question called like what every object has is put, answered and taken for answered', async () => {
	const rig = await makeRig();
	const judge = `
def judge(request):
    answers = request["params"]["moment"]["answers"]
    question = {"id": "constructor", "to": "human", "brief": {"prompt": "May it?"}}
    given = {"kind": "pass", "note": answers["constructor"]["by"]} if answers else {"kind": "ask", "questions": [question]}
    speak.send(id=request["id"], result=given)
speak.serve(judge)
`;
	const command = speaking(rig, judge);
	workflow(rig, command);
	expect((await run(rig)).code).toBe(3);
	const [item] = await openItems(rig);
	await rig.sdd('hil', 'accept', item ?? '', '--by', 'ann');
	const { code, stdout } = await run(rig);
	expect([code, stdout]).toEqual([0, expect.stringContaining('gate: pass ann')]);
	expect((await rig.sdd('overlays', 'test', '--', ...command)).stdout).toContain('ok       questions');
});

test('byte code that somebody put beside an overlay is not what is run', async () => {
	const rig = await makeRig();
	rig.write('.ai-sdd/overlays/helper.py', 'OK = False\n');
	rig.write(
		'.ai-sdd/overlays/judge.py',
		`from sdd_overlay import Overlay, fail, passed
from helper import OK
overlay = Overlay("judge")
@overlay.after
def judge(moment):
    return passed() if OK else fail("not ok")
overlay.serve()
`,
	);
	rig.write(
		'plant.py',
		`import importlib.util, marshal, os
source = ".ai-sdd/overlays/helper.py"
stat = os.stat(source)
target = importlib.util.cache_from_source(source)
os.makedirs(os.path.dirname(target), exist_ok=True)
head = importlib.util.MAGIC_NUMBER + (0).to_bytes(4, "little")
head += int(stat.st_mtime).to_bytes(4, "little") + stat.st_size.to_bytes(4, "little")
with open(target, "wb") as file:
    file.write(head + marshal.dumps(compile("OK = True", source, "exec")))
print(target)
`,
	);
	const planted = execFileSync(PYTHON, ['plant.py'], { cwd: rig.dir, encoding: 'utf8' });
	expect(planted).toContain('.ai-sdd/overlays/__pycache__/helper.');
	const overlays = { judge: { enabled: true, use: './.ai-sdd/overlays/judge.py' } };
	rig.workflow({ agents: { dev: coder }, tasks: { a: { agent: 'dev', description: 'a', overlays } } });
	const { code, stdout } = await rig.sddWith({ env: { SDD_TRUST_OVERLAYS: '1' } }, 'run', 'w.yaml');
	expect([code, stdout]).toEqual([1, expect.stringContaining('judge: not ok [OVERLAY_FAILED_TASK]')]);
});

test('what changed while an overlay was mended is judged as it is, however few attempts there may be', async () => {
	const rig = await makeRig();
	rig.script('judge.sh', `exec ${commandFor('dies_while_judging.py').join(' ')}`);
	const overlays = { gate: { enabled: true, use: { command: ['./judge.sh'] } } };
	const task = { agent: 'dev', description: 'a', outputs: ['a.txt'], max_attempts: 1, overlays };
	rig.workflow({ agents: { dev: coder }, tasks: { a: task } });
	expect((await run(rig)).code).toBe(1);
	rig.script('judge.sh', `exec ${commandFor('works.py').join(' ')}`);
	rig.write('a.txt', 'edited by a person\n');
	expect((await run(rig)).code).toBe(0);
	expect(rig.events().flatMap(({ kind, by }) => (kind === 'attempt_started' ? [by] : []))).toEqual([
		'agent',
		'outside',
	]);
	expect(rig.read('a.txt')).toBe('edited by a person\n');
});
