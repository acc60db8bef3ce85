/** Spawns a command so many times, one after another, with pipes; prints the milliseconds each took. */
import { spawn } from 'node:child_process';

const [times, command, ...args] = process.argv.slice(2);
// The first one also loads what spawning needs.
await once();
const since = performance.now();
for (let i = 0; i < Number(times); i++) await once();
process.stdout.write(String((performance.now() - since) / Number(times)));

function once() {
	return new Promise((resolve, reject) => {
		const child = spawn(command, args);
		child.stdin.on('error', () => {});
		child.stdin.end('Do nothing\n');
		child.stdout.resume();
		child.stderr.resume();
		child.once('error', reject);
		child.once('close', resolve);
	});
}
