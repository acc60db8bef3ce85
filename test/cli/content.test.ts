/** A verdict is bound to the content it was about: what changes afterwards is reported and judged again. */
import { expect, test } from 'vitest';
import { coder, commanded, type Data, makeRig, openItems, type Rig, reviewed, reviewerGoingAt, shell } from '../rig.ts';

const LOG = '.ai-sdd/state/review-logs/a.json';
const iterations = (rig: Rig): readonly Data[] => rig.json(LOG)['iterations'] as readonly Data[];

test('2.04 what a later task does to an approved file voids the approval, and the file is reviewed again', async () => {
	const rig = await makeRig();
	const later = { agent: 'meddler', description: 'x', depends_on: ['a'] };
	rig.workflow({
		agents: { dev: coder, rev: reviewerGoingAt(1), meddler: shell('echo meddled > a.txt') },
		tasks: { a: reviewed('a'), later },
	});
	const { code, stdout } = await rig.sdd('run', 'w.yaml');
	expect(code).toBe(0);
	expect(stdout).toContain('a: the approval is void: a.txt changed since');
	expect(rig.events().find(({ kind }) => kind === 'approval_voided')).toMatchObject({
		task: 'a',
		changed: [{ path: 'a.txt' }],
	});
	expect(iterations(rig).map(({ decision }) => decision)).toEqual(['GO', 'GO']);
	const digests = iterations(rig).map(({ artifacts }) => (artifacts as readonly Data[])[0]?.['sha256']);
	expect(digests[0]).not.toBe(digests[1]);
	expect(rig.seen('a.reviewer.2')).toContain('meddled');
});

test('2.04 what a reviewer then refuses is worked on again', async () => {
	const rig = await makeRig();
	const rev = shell(
		`if grep -q meddled a.txt; then echo '{"decision": "NO_GO", "feedback": "who did this"}'; else echo '{"decision": "GO", "feedback": ""}'; fi`,
	);
	const later = { agent: 'meddler', description: 'x', depends_on: ['a'] };
	rig.workflow({
		agents: { dev: coder, rev, meddler: shell('echo meddled > a.txt') },
		tasks: { a: reviewed('a'), later },
	});
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
	expect(iterations(rig).map(({ decision }) => decision)).toEqual(['GO', 'NO_GO', 'GO']);
	expect(rig.seen('a.coder.3')).toContain('who did this');
	expect((await rig.sdd('audit', 'verify')).code).toBe(0);
});

test('2.04 an approved file changed by hand while the run is paused is reviewed again', async () => {
	const rig = await makeRig();
	const asks = { agent: 'dev', description: 'x', depends_on: ['a'], overlays: { hil: { enabled: true } } };
	rig.workflow({ agents: { dev: coder, rev: reviewerGoingAt(1) }, tasks: { a: reviewed('a'), asks } });
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
	rig.write('a.txt', 'by hand\n');
	await rig.sdd('hil', 'accept', (await openItems(rig))[0] ?? '');
	const { code, stdout } = await rig.sdd('run', 'w.yaml');
	expect(code).toBe(0);
	expect(stdout).toContain('the approval is void: a.txt changed since');
	expect(rig.seen('a.reviewer.2')).toContain('by hand');
	expect(rig.read('a.txt')).toBe('by hand\n');
});

test('2.04 an approved file that was removed voids the approval', async () => {
	const rig = await makeRig();
	const later = { agent: 'meddler', description: 'x', depends_on: ['a'] };
	rig.workflow({
		agents: { dev: coder, rev: reviewerGoingAt(1), meddler: shell('rm a.txt') },
		tasks: { a: reviewed('a'), later },
	});
	const { code, stdout } = await rig.sdd('run', 'w.yaml');
	expect(code).toBe(1);
	expect(stdout).toContain('the approval is void: a.txt changed since');
	expect(stdout).toContain('declared outputs that are not there: a.txt');
});

test('2.04 a file changed while the reviewer reads it is not approved by that review', async () => {
	const rig = await makeRig();
	rig.workflow({ agents: { dev: coder, rev: commanded() }, tasks: { a: reviewed('a') } });
	const run = rig.start(['run', 'w.yaml']);
	const first = await rig.call('a/reviewer', run);
	rig.write('a.txt', 'changed meanwhile\n');
	first.answer({ say: '{"decision": "GO", "feedback": ""}' });
	const second = await rig.call('a/reviewer', run);
	expect(second.brief).toContain('changed meanwhile');
	second.answer({ say: '{"decision": "GO", "feedback": ""}' });
	expect((await run.ended).code).toBe(0);
	const last = iterations(rig).at(-1) as { artifacts: readonly Data[] };
	expect(last.artifacts).toHaveLength(1);
});

test('2.04 what a person accepted is held to what it was when they were asked', async () => {
	const rig = await makeRig();
	rig.workflow({ agents: { dev: coder, rev: reviewerGoingAt(2) }, tasks: { a: reviewed('a', { max_iterations: 1 }) } });
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
	await rig.sdd('hil', 'accept', (await openItems(rig))[0] ?? '', '--by', 'ann');
	rig.write('a.txt', 'something else\n');
	const { code, stdout } = await rig.sdd('run', 'w.yaml');
	expect(stdout).toContain('the approval is void: a.txt changed since');
	expect(code).toBe(0);
	expect(rig.seen('a.reviewer.2')).toContain('something else');
	expect(rig.json(LOG)).toMatchObject({
		final_decision: 'GO',
		iterations: [{ decision: 'NO_GO' }, { decision: 'GO' }],
	});
	expect((await rig.sdd('audit', 'verify')).code).toBe(0);
});

test('2.04 a later task that declares the file answers for it', async () => {
	const rig = await makeRig();
	const dev = shell('echo "$SDD_TASK_ID" >> a.txt');
	rig.workflow({
		agents: { dev, rev: reviewerGoingAt(1) },
		tasks: { a: reviewed('a'), b: reviewed('b', {}, { outputs: ['a.txt'], depends_on: ['a'] }) },
	});
	const { code, stdout } = await rig.sdd('run', 'w.yaml');
	expect(code).toBe(0);
	expect(stdout).not.toContain('the approval is void');
	expect(rig.read('a.txt')).toBe('a\nb\n');
});
