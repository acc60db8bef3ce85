/** How things are measured: always against a floor, both in alternate slices of the same run. */
import { spawnSync } from 'node:child_process';

/** The middle value; of an even number of values, the mean of the two in the middle. */
export function median(values) {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length >> 1;
	return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Milliseconds that `work` takes. */
export async function timed(work) {
	const since = performance.now();
	await work();
	return performance.now() - since;
}

/**
 * Measures each of `works` (name → function returning a cost) once per round, in another order each time.
 * Returns all costs by name: the nth costs of any two names were measured side by side.
 */
export async function interleave(works, rounds) {
	const names = Object.keys(works);
	const costs = Object.fromEntries(names.map((name) => [name, []]));
	for (let round = 0; round < rounds; round++) {
		for (let i = 0; i < names.length; i++) {
			const name = names[(i + round) % names.length];
			costs[name].push(await works[name]());
		}
	}
	return costs;
}

/** The median of the ratios of costs that were measured side by side. */
export function ratioOf(costs, floors) {
	return median(costs.map((cost, i) => cost / floors[i]));
}

/** The environment of every process that is measured. */
export function cleanEnvironment() {
	// Extra certificates are read at each start of Node 20: three times its own start-up, and the same for everybody.
	const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...env } = process.env;
	return { ...env, NO_COLOR: '1' };
}

/**
 * User and system time, in milliseconds per call, of a command called `times` times. Measured by the shell that waits for it:
 * Node can ask for its own usage only, and wall time says more about the neighbours than about the command.
 */
export function cpuMs(argv, { cwd, times }) {
	const script = `TIMEFORMAT='%U %S'; time for ((i = 0; i < ${times}; i++)); do "$@" >/dev/null || exit 9; done`;
	const done = spawnSync('bash', ['-c', script, 'bash', ...argv], { cwd, env: cleanEnvironment(), encoding: 'utf8' });
	if (done.status !== 0) throw new Error(`${argv.join(' ')} failed: ${done.stderr}`);
	const [user, system] = done.stderr.trim().split('\n').at(-1).split(' ').map(Number);
	return ((user + system) * 1000) / times;
}

/** Runs a process to its end and returns its stdout; anything but one of the expected exit codes is an error. */
export function run(argv, { cwd, env = {}, exits = [0] }) {
	const [command, ...args] = argv;
	const done = spawnSync(command, args, {
		cwd,
		env: { ...cleanEnvironment(), ...env },
		encoding: 'utf8',
		maxBuffer: 1 << 28,
	});
	if (exits.includes(done.status)) return done.stdout;
	throw new Error(
		`${argv.join(' ')} ended with ${done.status ?? done.signal}:\n${done.stderr}${done.stdout.slice(-2000)}`,
	);
}
