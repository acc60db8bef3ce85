/** Runs the scenario as a program; argv: project. */
import { scenario } from './scenario.ts';

await scenario(process.argv[2] ?? '', (what) => process.stdout.write(`${what}\n`));
