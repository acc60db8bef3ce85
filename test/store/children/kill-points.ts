/**
 * Loaded before a child program (`node --import`): counts every call that changes the disk, and kills the process before,
 * in the middle of or after the one that KILL_AT names. Without KILL_AT it prints how many such points there were.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const killAt = Number(process.env.KILL_AT ?? 0);
let points = 0;

function point(): boolean {
	points++;
	return points === killAt;
}

function die(): never {
	process.kill(process.pid, 'SIGKILL');
	throw new Error('still alive');
}

const CHANGING = [
	'mkdirSync',
	'renameSync',
	'linkSync',
	'rmSync',
	'unlinkSync',
	'ftruncateSync',
	'fsyncSync',
	'fdatasyncSync',
	'openSync',
] as const;

type Call = (...args: unknown[]) => unknown;
const patched = fs as unknown as { [name: string]: Call };

for (const name of CHANGING) {
	const real = patched[name] as Call;
	patched[name] = (...args) => {
		if (point()) die();
		const result = real(...args);
		if (point()) die();
		return result;
	};
}

const writeSync = patched.writeSync as Call;
patched.writeSync = (fd, bytes, at, length) => {
	if (point()) die();
	if (point()) {
		writeSync(fd, bytes, at, Math.ceil((length as number) / 2));
		die();
	}
	const written = writeSync(fd, bytes, at, length);
	if (point()) die();
	return written;
};

syncBuiltinESMExports();
if (killAt === 0) process.on('exit', () => process.stdout.write(`points ${points}\n`));
