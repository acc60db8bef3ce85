/**
 * Behaviour by case folders. `test/cases/<name>/` holds a `workflow.yaml` and what it needs, the `replies.yaml` of its
 * agents, perhaps `steps.yaml` (without it: one run), and `expected.txt`: all that the real command said and left.
 *
 * UPDATE_GOLDENS=1 writes the expectations anew; read the difference before you keep it.
 */
import {
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { afterAll, expect, test } from 'vitest';
import { normalise } from './normalise.ts';
import { performStep, type Step } from './perform-step.ts';

const cases = fileURLToPath(new URL('./cases', import.meta.url));
const home = mkdtempSync(join(realpathSync(tmpdir()), 'sdd-'));

afterAll(() => rmSync(home, { recursive: true, force: true }));

const names = readdirSync(cases, { withFileTypes: true }).filter((entry) => entry.isDirectory());

test.each(names.map(({ name }) => name).sort())('%s', (name) => {
	const said = playCase(name);
	const golden = join(cases, name, 'expected.txt');
	if (process.env['UPDATE_GOLDENS'] !== undefined) writeFileSync(golden, said);
	expect(said).toBe(readFileSync(golden, 'utf8'));
});

/** Plays a case in a folder of its own; returns all that was said, and the logs it left. */
function playCase(name: string): string {
	const project = join(home, name);
	cpSync(join(cases, name), project, { recursive: true });
	rmSync(join(project, 'expected.txt'), { force: true });
	mkdirSync(join(project, '.ai-sdd'), { recursive: true });
	const said = stepsOf(project).map((step) => performStep(project, home, step));
	return normalise(`${[...said, ...logsIn(project)].join('\n')}`, project);
}

function stepsOf(project: string): readonly Step[] {
	const file = join(project, 'steps.yaml');
	return existsSync(file) ? (load(readFileSync(file, 'utf8')) as readonly Step[]) : ['run workflow.yaml'];
}

/** The logs that built-in overlays keep, in the order in which they judge. */
const LOG_FOLDERS = ['gate-reports', 'review-logs', 'pair-sessions', 'confidence-scores'];

function logsIn(project: string): readonly string[] {
	return LOG_FOLDERS.flatMap((name) => {
		const folder = join(project, '.ai-sdd/state', name);
		if (!existsSync(folder)) return [];
		const logs = readdirSync(folder)
			.filter((file) => file.endsWith('.json'))
			.sort();
		return logs.map((file) => `--- ${name}/${file}\n${readFileSync(join(folder, file), 'utf8')}`);
	});
}
