/** What each option of `paired_workflow` changes, through the real command with real agents. */
import { expect, test } from 'vitest';
import { type Data, makeRig, openItems, type Rig, shell } from '../rig.ts';

const SESSION = '.ai-sdd/state/pair-sessions/build.json';

/** One of the pair: as challenger it says this, otherwise it writes the file. */
function one(says: Data): Data {
	return shell(
		`if [ "$SDD_ROLE" = challenger ]; then echo '${JSON.stringify(says)}'`,
		'else echo "$SDD_ATTEMPT" > build.txt; fi',
	);
}

const challenges = one({ decision: 'CHALLENGE', feedback: 'more' });

async function project(pair: Data, agent: Data = challenges): Promise<Rig> {
	const rig = await makeRig();
	const overlays = { paired_workflow: { enabled: true, challenger_agent: 'eve', ...pair } };
	rig.workflow({
		agents: { dev: agent, eve: agent, zoe: agent },
		defaults: { agent: 'dev' },
		tasks: { build: { description: 'x', outputs: ['build.txt'], overlays } },
	});
	return rig;
}

const roundsIn = (rig: Rig): readonly Data[] => rig.json(SESSION)['iterations'] as readonly Data[];

test.each<[Data, string]>([
	[{}, 'dev dev dev dev'],
	[{ role_switch: 'session' }, 'dev dev dev dev'],
	[{ role_switch: 'subtask' }, 'dev eve dev eve'],
	[{ role_switch: 'checkpoint' }, 'dev dev eve eve'],
	[{ role_switch: 'checkpoint', checkpoint_every: 3 }, 'dev dev dev eve'],
	[{ driver_agent: 'zoe', role_switch: 'subtask' }, 'zoe eve zoe eve'],
])('%j: the drivers are %s, and the other one challenges', async (pair, drivers) => {
	const rig = await project({ max_rounds: 4, ...pair });
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
	const attempts = rig.events().filter(({ kind }) => kind === 'attempt_finished');
	expect(attempts.map(({ agent }) => agent).join(' ')).toBe(drivers);
	expect(roundsIn(rig).map(({ driver_agent }) => driver_agent)).toEqual(drivers.split(' '));
	const answers = rig.events().filter(({ kind }) => kind === 'answered');
	for (const [index, { answer }] of answers.entries()) {
		const { by } = answer as { by: string };
		expect(new Set([by, drivers.split(' ')[index]])).toEqual(new Set(['eve', drivers.slice(0, 3)]));
		expect(roundsIn(rig)[index]).toMatchObject({ challenger_agent: by });
	}
});

test.each([1, 2])('max_rounds: %i rounds, and then a person decides', async (max_rounds) => {
	const rig = await project({ max_rounds });
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
	expect(roundsIn(rig)).toHaveLength(max_rounds);
	expect(await openItems(rig)).toHaveLength(1);
});

test('after five rounds one more is neither offered nor taken', async () => {
	const rig = await project({ max_rounds: 5 });
	await rig.sdd('run', 'w.yaml');
	const item = (await openItems(rig))[0] ?? '';
	const refused = await rig.sdd('hil', 'rework', item);
	expect(refused.code).toBe(2);
	expect(refused.stderr).toContain('choose one of: accept, takeover, reject');
});

test.each<[readonly string[], number, string]>([
	[['pair.confidence >= 0.8'], 0, 'AGREE'],
	[['pair.confidence >= 0.9'], 3, 'CHALLENGE'],
	[['pair.decision == AGREE', 'pair.round > 1'], 3, 'CHALLENGE'],
])('an agreement passes only if all of %j hold: exit code %i', async (exit_conditions, exit, decision) => {
	const agrees = one({ decision: 'AGREE', feedback: 'fine', confidence: 0.85 });
	const rig = await project({ max_rounds: 1, exit_conditions }, agrees);
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(exit);
	expect(roundsIn(rig)).toMatchObject([{ decision, confidence: 0.85 }]);
});
