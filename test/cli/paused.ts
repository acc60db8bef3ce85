/** Stops a command where it reads a file, lets others do something, and has it go on. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ended, Rig } from '../rig.ts';

const PAUSE = `const fs = require('node:fs');
const { readFileSync } = fs;
fs.readFileSync = (path, ...rest) => {
	if (String(path).endsWith(process.env.PAUSE_AT)) {
		fs.writeFileSync(process.env.REACHED, '');
		while (!fs.existsSync(process.env.GO_ON)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
	}
	return readFileSync(path, ...rest);
};
`;

/** Runs a command that waits, where it reads `file`, until `meanwhile` is done. */
export async function pausedAt(
	file: string,
	rig: Rig,
	args: readonly string[],
	meanwhile: () => Promise<unknown>,
): Promise<Ended> {
	const [code, reached, goOn] = ['pause.cjs', 'reached', 'go-on'].map((name) => join(rig.outer, name)) as [
		string,
		string,
		string,
	];
	writeFileSync(code, PAUSE);
	const env = { NODE_OPTIONS: `--require ${code}`, PAUSE_AT: file, REACHED: reached, GO_ON: goOn };
	const run = rig.start(args, { env });
	while (!existsSync(reached)) await new Promise((resolve) => setImmediate(resolve));
	await meanwhile();
	writeFileSync(goOn, '');
	return await run.ended;
}
