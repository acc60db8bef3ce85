/** Takes the lock of a project, says so, and holds it until its standard input ends. argv: project */
import { acquireRunLock } from '../../../engine/store/run-lock.ts';

const { release } = await acquireRunLock(process.argv[2] ?? '', { onLost: () => {}, run: 'run-1' });
process.stdout.write('held\n');
for await (const _ of process.stdin);
await release();
