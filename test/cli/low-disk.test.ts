/** A disk that is nearly full: no agent is started that might fill it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { coder, makeRig, reviewed, reviewerGoingAt } from '../rig.ts';

/** Has the system say how much is free, as the test writes it into `../free`. */
const SAID = `const fs = require('node:fs');
const real = fs.statfsSync;
fs.statfsSync = (path) => ({ ...real(path), bavail: Number(fs.readFileSync('../free', 'utf8')), bsize: 1024 * 1024 });
`;

test('below 64 MiB no agent is started, and the run goes on when there is room', async () => {
	const rig = await makeRig();
	writeFileSync(join(rig.outer, 'said.cjs'), SAID);
	const env = { NODE_OPTIONS: `--require ${join(rig.outer, 'said.cjs')}` };
	rig.workflow({ agents: { dev: coder, rev: reviewerGoingAt(1) }, tasks: { a: reviewed('a') } });
	const run = async (free: number) => {
		writeFileSync(join(rig.outer, 'free'), String(free));
		return await rig.sddWith({ env }, 'run', 'w.yaml');
	};
	const low = await run(63);
	expect([low.code, low.stderr]).toEqual([
		1,
		expect.stringContaining(
			'the disk has only 63 MiB left, and an agent may need 64 MiB [DISK_LOW]\n  remedy: make room, then `sdd run` goes on',
		),
	]);
	expect(rig.has('a.txt')).toBe(false);
	expect((await run(64)).code).toBe(0);
	expect(rig.runs()).toHaveLength(1);
	expect((await rig.sdd('audit', 'verify')).code).toBe(0);
});
