/**
 * Loaded before a child program (`node --import`): counts every call that changes the disk, and kills the process before,
 * in the middle of or after the one that KILL_AT names, or has the call fail that FAIL_AT names, with the error FAIL_WITH.
 * Without either it prints how many points and calls there were.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const killAt = Number(process.env.KILL_AT ?? 0);
const failAt = Number(process.env.FAIL_AT ?? 0);
let points = 0;
let calls = 0;

function point(): boolean {
	points++;
	return points === killAt;
}

function die(): never {
	process.kill(process.pid, 'SIGKILL');
	throw new Error('still alive');
}

function failIfAsked(syscall: string): void {
	calls++;
	if (calls !== failAt) return;
	const code = process.env.FAIL_WITH ?? 'EIO';
	throw Object.assign(new Error(`${code}: simulated`), { code, syscall });
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
		// Newer versions of Node load modules through the same functions: those are none of the program's writes.
		if (/\.[cm]?js$/.test(String(args[0] instanceof URL ? args[0].pathname : args[0]))) return real(...args);
		failIfAsked(name);
		if (point()) die();
		const result = real(...args);
		if (point()) die();
		return result;
	};
}

const writeSync = patched.writeSync as Call;
patched.writeSync = (fd, bytes, at, length) => {
	failIfAsked('write');
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
if (killAt + failAt === 0) process.on('exit', () => process.stdout.write(`points ${points} ${calls}\n`));
