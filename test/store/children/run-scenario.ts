/** Runs the scenario as a program; an expected failure is said, any other ends it. argv: project */
import { SddError } from '../../../engine/errors.ts';
import { scenario } from './scenario.ts';

try {
	await scenario(process.argv[2] ?? '', (what) => process.stdout.write(`${what}\n`));
} catch (error) {
	if (!(error instanceof SddError)) throw error;
	process.stdout.write(`failed ${error.code}\n`);
}
