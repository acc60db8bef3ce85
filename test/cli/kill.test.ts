/** Killed in the middle, by whatever signal: the run goes on where it was, and nothing is left running. */
import { describe, expect, test } from 'vitest';
import {
	coder,
	commanded,
	type Data,
	makeRig,
	ndjson,
	openItems,
	type Rig,
	reviewed,
	reviewerGoingAt,
	shell,
} from '../rig.ts';

const GO = { say: '{"decision": "GO", "feedback": "fine"}' };
const NO_GO = { say: '{"decision": "NO_GO", "feedback": "not yet"}' };
const LOG = '.ai-sdd/state/review-logs/build.json';

async function project(...args: readonly string[]): Promise<Rig> {
	const rig = await makeRig();
	rig.workflow({ agents: { dev: commanded(...args), rev: commanded(...args) }, tasks: { build: reviewed('build') } });
	return rig;
}

const written = (text: string) => ({ files: { 'build.txt': text } });

async function isSound(rig: Rig): Promise<void> {
	const audit = await rig.sdd('audit', 'verify');
	expect(audit.stdout).toMatch(/ok: \d+ records checked\n$/);
	expect(audit.code).toBe(0);
	expect(rig.leftovers()).toEqual([]);
}

describe('kill -9', () => {
	test('2.15 while the coder works: the old agent is ended, and the same attempt is made again', async () => {
		const rig = await project();
		const first = rig.start(['run', 'w.yaml']);
		const orphan = await rig.call('build/coder', first);
		first.child.kill('SIGKILL');
		await first.ended;
		const second = rig.start(['run', 'w.yaml']);
		const again = await rig.call('build/coder', second);
		await orphan.gone;
		expect(again.env['SDD_ATTEMPT']).toBe('1');
		again.answer(written('a'));
		(await rig.call('build/reviewer', second)).answer(GO);
		expect((await second.ended).code).toBe(0);
		expect(rig.json(LOG)).toMatchObject({ final_decision: 'GO', iterations: [{ iteration: 1, attempt: 1 }] });
		await isSound(rig);
	});

	test.each([
		['the run is replaced', ['run', 'w.yaml', '--fresh']],
		['another workflow is run', ['run', 'other.yaml']],
	])('the old agent is ended as well when %s', async (_, args) => {
		const rig = await project();
		rig.workflow({ agents: { dev: commanded() }, tasks: { build: { agent: 'dev', description: 'x' } } }, 'other.yaml');
		const first = rig.start(['run', 'w.yaml']);
		const orphan = await rig.call('build/coder', first);
		first.child.kill('SIGKILL');
		await first.ended;
		const second = rig.start(args);
		const agent = await rig.call('build/coder', second);
		await orphan.gone;
		expect(agent.env['SDD_RUN_ID']).not.toBe(orphan.env['SDD_RUN_ID']);
		second.child.kill('SIGTERM');
		await second.ended;
		await isSound(rig);
	});

	test('2.15 while the reviewer reads: the attempt is kept, and only the review is asked for again', async () => {
		const rig = await project();
		const first = rig.start(['run', 'w.yaml']);
		(await rig.call('build/coder', first)).answer(written('a'));
		(await rig.call('build/reviewer', first)).answer(NO_GO);
		(await rig.call('build/coder', first)).answer(written('b'));
		const orphan = await rig.call('build/reviewer', first);
		first.child.kill('SIGKILL');
		await first.ended;
		expect(rig.json(LOG)).toMatchObject({ final_decision: null, iterations: [{ iteration: 1, decision: 'NO_GO' }] });
		const second = rig.start(['run', 'w.yaml']);
		const review = await rig.call('build/reviewer', second);
		await orphan.gone;
		expect(review.env).toMatchObject({ SDD_ATTEMPT: '2', SDD_ITERATION: '2' });
		expect(review.brief).toBe(orphan.brief);
		expect(review.env['SDD_REVIEW_ID']).toBe(orphan.env['SDD_REVIEW_ID']);
		review.answer(GO);
		expect((await second.ended).code).toBe(0);
		expect(rig.json(LOG)).toMatchObject({ iterations: [{ iteration: 1 }, { iteration: 2, decision: 'GO' }] });
		expect(rig.events().filter(({ kind }) => kind === 'attempt_started')).toHaveLength(2);
		await isSound(rig);
	});

	test('2.15 while it waits for a person: the same question is found again, not put twice', async () => {
		const rig = await makeRig();
		rig.workflow({
			agents: { dev: coder, rev: reviewerGoingAt(9) },
			tasks: { build: reviewed('build', { max_iterations: 1 }) },
		});
		const first = rig.start(['run', 'w.yaml', '--wait']);
		await first.printed('waits for a person');
		let before = await openItems(rig);
		while (before.length === 0) before = await openItems(rig);
		first.child.kill('SIGKILL');
		await first.ended;
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
		expect(await openItems(rig)).toEqual(before);
		await rig.sdd('hil', 'accept', before[0] ?? '');
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		await isSound(rig);
	});

	test('2.15 at 25 random moments: no attempt is lost, every iteration is on the log, in order', async () => {
		const rig = await makeRig();
		const tasks = Object.fromEntries(
			[...'abcdefghijklmnopqrstuvwx'].map((id) => [id, reviewed(id, { max_iterations: 5 })]),
		);
		rig.workflow({ agents: { dev: coder, rev: reviewerGoingAt(5) }, tasks });
		let kills = 0;
		let logged = new Map<string, number>();
		let last = await killedSomewhere(rig, kills);
		for (; last !== 0 && kills < 25; last = await killedSomewhere(rig, kills)) {
			kills++;
			// Half of an unfinished run is no sign of tampering, wherever it was cut.
			const verified = await rig.sdd('audit', 'verify');
			expect(verified.code, `${verified.stdout}${verified.stderr}`).toBe(0);
			const now = new Map(Object.keys(tasks).map((id) => [id, iterationsLogged(rig, id)]));
			for (const [id, count] of now) expect(count).toBeGreaterThanOrEqual(logged.get(id) ?? 0);
			logged = now;
		}
		expect(kills).toBe(25);
		if (last !== 0) expect(await rig.sdd('run', 'w.yaml')).toMatchObject({ code: 0, stderr: '' });
		for (const id of Object.keys(tasks)) {
			const log = rig.json(`.ai-sdd/state/review-logs/${id}.json`) as { iterations: readonly Data[] };
			expect(log).toMatchObject({ final_decision: 'GO' });
			expect(log.iterations.map(({ iteration, attempt }) => [iteration, attempt])).toEqual(
				[1, 2, 3, 4, 5].map((n) => [n, n]),
			);
			expect(log.iterations.map(({ decision }) => decision)).toEqual(['NO_GO', 'NO_GO', 'NO_GO', 'NO_GO', 'GO']);
		}
		expect(rig.runs().filter((run) => rig.events(run).some(({ kind }) => kind === 'run_started'))).toHaveLength(1);
		await isSound(rig);
	}, 120_000);
});

/** How many iterations the log has as the killed process left it: whole, and none left out. */
function iterationsLogged(rig: Rig, id: string): number {
	const path = `.ai-sdd/state/review-logs/${id}.json`;
	if (!rig.has(path)) return 0;
	const iterations = rig.json(path)['iterations'] as readonly Data[];
	expect(iterations.map(({ iteration }) => iteration)).toEqual(iterations.map((_, index) => index + 1));
	return iterations.length;
}

/** Runs until a random number of events, or of milliseconds, has passed, and kills it there; 0 when it was done before. */
async function killedSomewhere(rig: Rig, turn: number): Promise<number | null> {
	const run = rig.start(['run', 'w.yaml', '--json']);
	const kill = (): void => void run.child.kill('SIGKILL');
	if (turn % 2 === 0) {
		const wanted = 2 + Math.floor(Math.random() * 10);
		let seen = 0;
		run.child.stdout?.on('data', (text: string) => {
			seen += text.split('\n').length - 1;
			if (seen >= wanted) kill();
		});
	} else setTimeout(kill, 40 + Math.random() * 160);
	const { code, stdout, stderr } = await run.ended;
	expect([0, null], `${stdout}${stderr}`).toContain(code);
	return code;
}

describe('SIGINT and SIGTERM', () => {
	test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
		'%s ends the agents and leaves the run to be gone on with',
		async (signal) => {
			const rig = await project();
			const first = rig.start(['run', 'w.yaml']);
			const agent = await rig.call('build/coder', first);
			first.child.kill(signal);
			const { code, stderr, stdout } = await first.ended;
			await agent.gone;
			expect(code).toBe(130);
			expect(stderr).toContain(`${signal}: ending the agents; sdd run goes on later`);
			expect(stdout).toContain('interrupted, sdd run goes on');
			expect(rig.leftovers()).toEqual([]);
			const second = rig.start(['run', 'w.yaml', '--json']);
			const again = await rig.call('build/coder', second);
			expect(again.env['SDD_ATTEMPT']).toBe('1');
			again.answer(written('a'));
			(await rig.call('build/reviewer', second)).answer(GO);
			const done = await second.ended;
			expect(done.code).toBe(0);
			expect(ndjson(done.stdout).at(-1)).toMatchObject({ kind: 'result', ending: 'completed', exit: 0 });
			await isSound(rig);
		},
	);

	test('an agent that takes no notice of SIGTERM is killed', async () => {
		const rig = await project('stubborn');
		const run = rig.start(['run', 'w.yaml']);
		const agent = await rig.call('build/coder', run);
		run.child.kill('SIGTERM');
		expect((await run.ended).code).toBe(130);
		await agent.gone;
		expect(rig.leftovers()).toEqual([]);
	});

	test('a second signal ends it at once, agents included', async () => {
		const rig = await project('stubborn');
		const run = rig.start(['run', 'w.yaml']);
		const agent = await rig.call('build/coder', run);
		run.child.kill('SIGINT');
		await run.printed('SIGINT: ending the agents');
		run.child.kill('SIGINT');
		expect((await run.ended).code).toBe(130);
		await agent.gone;
		expect((await rig.sdd('audit', 'verify')).code).toBe(0);
	});

	test('one that waits for a person is ended at once', async () => {
		const rig = await makeRig();
		rig.workflow({
			agents: { dev: coder },
			tasks: { a: { agent: 'dev', description: 'x', overlays: { hil: { enabled: true } } } },
		});
		const run = rig.start(['run', 'w.yaml', '--wait']);
		await run.printed('waits for a person');
		run.child.kill('SIGINT');
		expect((await run.ended).code).toBe(130);
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
		await isSound(rig);
	});

	test('one that waits for its next try is ended at once, and waits on when it goes on', async () => {
		const rig = await makeRig();
		const task = { agent: 'dev', description: 'x', retry: { times: 1, backoff: '1h' } };
		rig.workflow({ agents: { dev: shell('exit 1') }, tasks: { a: task } });
		for (let i = 0; i < 2; i++) {
			const run = rig.start(['run', 'w.yaml']);
			await run.printed(i === 0 ? 'trying again at' : 'going on where the run was');
			run.child.kill('SIGTERM');
			expect((await run.ended).code).toBe(130);
		}
		expect(rig.events().filter(({ kind }) => kind === 'attempt_started')).toHaveLength(1);
		await isSound(rig);
	});

	test('children and daemons of an agent are ended too', async () => {
		const rig = await makeRig();
		const dev = shell('sleep 1000 &', 'setsid sleep 1001 &', 'trap "" TERM', 'touch ../ready', 'sleep 1002');
		rig.workflow({
			agents: { dev, gate: commanded() },
			tasks: { a: { agent: 'dev', description: 'x' }, b: { agent: 'gate', description: 'x' } },
		});
		const run = rig.start(['run', 'w.yaml']);
		await rig.call('b/coder', run);
		await until(() => rig.leftovers().length >= 5);
		run.child.kill('SIGTERM');
		expect((await run.ended).code).toBe(130);
		expect(rig.leftovers()).toEqual([]);
	});
});

/** Looks again until it is so: for what only the process table can tell. */
async function until(isSo: () => boolean): Promise<void> {
	while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
