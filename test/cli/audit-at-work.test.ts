/** `sdd audit verify` beside `sdd run`: what is only under way is no sign of tampering. */
import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { startOf } from '../../engine/store/process-alive.ts';
import { coder, makeRig, type Rig, reviewed, reviewerGoingAt } from '../rig.ts';
import { pausedAt } from './paused.ts';

async function finished(): Promise<Rig> {
	const rig = await makeRig();
	rig.workflow({ agents: { dev: coder, rev: reviewerGoingAt(2) }, tasks: { build: reviewed('build') } });
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
	return rig;
}

test('another run that begins meanwhile does not make the logs of the first look edited', async () => {
	const rig = await finished();
	const { code, stdout } = await pausedAt('/plan.json', rig, ['audit', 'verify'], () => rig.sdd('run', 'w.yaml'));
	expect(stdout).toMatch(/ok: \d+ records checked\n$/);
	expect(code).toBe(0);
	expect(rig.runs()).toHaveLength(2);
});

test('a head is missed only where no process is left to note it', async () => {
	const rig = await finished();
	rig.write('.ai-sdd/state/heads.ndjson', '');
	const holder = { pid: process.pid, host: hostname(), start: startOf(process.pid), run: rig.runs()[0] };
	rig.write('.ai-sdd/state/run.holder.json', JSON.stringify(holder));
	const atWork = await rig.sdd('audit', 'verify', '--repair');
	expect(atWork.code).toBe(0);
	expect(rig.read('.ai-sdd/state/heads.ndjson')).toBe('');
	rig.write('.ai-sdd/state/run.holder.json', JSON.stringify({ ...holder, run: 'another' }));
	const left = await rig.sdd('audit', 'verify');
	expect(left.code).toBe(1);
	expect(left.stdout).toContain('has finished, but no head of its journal was noted');
});
