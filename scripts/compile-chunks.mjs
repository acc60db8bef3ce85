/** Keeps the code that V8 makes of a built command: see docs/decisions/0011-compiled-code.md. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Enough to have something to say of every kind; waits for a person in the end. */
const WARM_UP = `version: "1"
name: warm-up
agents:
  dev: { adapter: command, run: [echo, done] }
  reviewer: { adapter: command, run: [echo, '{"decision": "GO", "feedback": "Well done."}'] }
tasks:
  work:
    agent: dev
    description: Do nothing
    overlays: { agentic_review: { enabled: true, reviewer_agent: reviewer } }
  release:
    agent: dev
    depends_on: [work]
    description: Do nothing more
    overlays: { hil: { enabled: true } }
`;
/** What scripts and people call often and should not wait for; `run` sets V8 up in a way of its own. */
const WARM_UP_COMMANDS = [
	'validate workflow.yaml',
	'plan workflow.yaml',
	'status',
	'runs',
	'logs work',
	'hil list',
	'audit list',
	'audit show work',
	'audit verify',
];

/**
 * Lets the new command do what is to start quickly, in a project of its own, and keeps the code that V8 made meanwhile. The
 * command does without that code, so a machine on which this fails is told and nothing more.
 */
export function compileChunks(dist) {
	const project = mkdtempSync(join(tmpdir(), 'sdd-build-'));
	try {
		// Without one it would belong to a project that somebody has above it, and leave runs there.
		mkdirSync(join(project, '.ai-sdd'));
		writeFileSync(join(project, 'workflow.yaml'), WARM_UP);
		tryOut(dist, project, [], 'run workflow.yaml', 3);
		const recorder = ['--require', fileURLToPath(new URL('keep-code.cjs', import.meta.url))];
		for (const command of WARM_UP_COMMANDS) tryOut(dist, project, recorder, command, 0);
	} catch (error) {
		process.stderr.write(`sdd will start more slowly: ${error.message}\n`);
	} finally {
		rmSync(project, { recursive: true });
	}
}

function tryOut(dist, cwd, options, command, expected) {
	const argv = [...options, join(dist, 'sdd.cjs'), ...command.split(' ')];
	// Nobody's own settings have a say in what is built.
	const env = { PATH: process.env.PATH, HOME: cwd };
	const { status, stderr } = spawnSync(process.execPath, argv, { cwd, env, encoding: 'utf8' });
	if (status !== expected) throw new Error(`the new command ended "sdd ${command}" with ${status}: ${stderr}`);
}
