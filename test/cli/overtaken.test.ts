/** Two commands about one workflow, of which one is done before the other holds the lock. */
import { expect, test } from 'vitest';
import { coder, type Ended, makeRig, openItems, type Rig } from '../rig.ts';
import { pausedAt } from './paused.ts';

async function project(): Promise<Rig> {
	const rig = await makeRig();
	rig.workflow({
		agents: { dev: coder },
		tasks: {
			a: { agent: 'dev', description: 'x' },
			b: { agent: 'dev', description: 'x', depends_on: ['a'], overlays: { hil: { enabled: true } } },
		},
	});
	return rig;
}

/** Stops one command where it reads the workflow, until others are done: it has looked at the runs by then, and holds no lock yet. */
const overtaken = (rig: Rig, slow: readonly string[], ...quick: readonly (readonly string[])[]): Promise<Ended> =>
	pausedAt('/w.yaml', rig, slow, async () => {
		for (const args of quick) await rig.sdd(...args);
	});

test('a run that another command ended meanwhile stays over', async () => {
	const rig = await project();
	await rig.sdd('run', 'w.yaml', '--step');
	const { code, stderr } = await overtaken(rig, ['run', 'w.yaml'], ['run', 'w.yaml', '--fresh']);
	const [first = '', second = ''] = rig.runs();
	expect(stderr).toContain(`another sdd run began the run ${second} while this one was starting; nothing was done`);
	expect(stderr).toContain('[RUN_OVERTAKEN]');
	expect(code).toBe(1);
	expect(rig.events(first).at(-1)).toMatchObject({ kind: 'run_finished', outcome: 'cancelled' });
	expect((await rig.sdd('audit', 'verify')).code).toBe(0);
});

test.each([[[]], [['--fresh']]])('nothing is recorded after the end of a run: sdd run w.yaml %s', async (more) => {
	const rig = await project();
	await rig.sdd('run', 'w.yaml');
	const [item = ''] = await openItems(rig);
	const { code, stderr } = await overtaken(rig, ['run', 'w.yaml', ...more], ['hil', 'accept', item], ['run', 'w.yaml']);
	expect(rig.runs()).toHaveLength(1);
	expect(stderr).toContain(`another sdd run ended the run ${rig.runs()[0]} while this one was starting`);
	expect(code).toBe(1);
	expect(rig.events().at(-1)).toMatchObject({ kind: 'run_finished', outcome: 'completed' });
});

test('a run that waits for a person is not left behind by one that begins without having seen it', async () => {
	const rig = await project();
	const { code, stderr } = await overtaken(rig, ['run', 'w.yaml'], ['run', 'w.yaml']);
	expect(stderr).toContain('[RUN_OVERTAKEN]');
	expect(code).toBe(1);
	expect(rig.runs()).toHaveLength(1);
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
	expect(rig.runs()).toHaveLength(1);
});
