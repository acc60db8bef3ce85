/**
 * A rig for tests of the real command: a project in a temp folder, `dist/sdd.cjs` run in it with a clean environment,
 * and agents that the test commands.
 *
 *   <dir>/project   the project; nothing of the rig lies in it but what a test writes
 *   <dir>/seen      the briefs that the rig's shell agents were given, as <task>.<role>.<attempt>
 *   <dir>/agent.mjs an agent that reports to the test and does what it is told
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
	chmodSync,
	existsSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import { type AgentCall, agentSource, type Desk, openDesk } from './cli/desk.ts';

const dist = process.env['SDD_TEST_DIST'] ?? fileURLToPath(new URL('../dist', import.meta.url));
/** The command under test. */
export const COMMAND: string = join(dist, 'sdd.cjs');

/** A command that has ended. */
export interface Ended {
	readonly code: number | null;
	readonly signal: string | null;
	readonly stdout: string;
	readonly stderr: string;
}

/** A command that is running. */
export interface Started {
	readonly pid: number;
	readonly child: ChildProcess;
	readonly ended: Promise<Ended>;
	/** Resolves when the command has printed this on stdout or stderr; rejects when it ends without. */
	printed(text: string): Promise<void>;
}

/** How a command is called; `wrap` is put before it, as `sh -c 'ulimit …; exec "$@"'` is. */
export interface CallOptions {
	readonly env?: { readonly [name: string]: string };
	readonly cwd?: string;
	readonly wrap?: readonly string[];
	/** Whether the test types: `child.stdin` is a pipe then. */
	readonly typed?: boolean;
}

/** Anything that JSON can say: a workflow is written as JSON, which is YAML too. */
export type Data = { readonly [key: string]: unknown };

/** One project under test. */
export interface Rig {
	/** The project's folder. */
	readonly dir: string;
	readonly outer: string;
	write(path: string, text: string): void;
	/** Writes an executable shell script. */
	script(path: string, ...lines: readonly string[]): void;
	/** Writes `w.yaml` (or another file) from data; `version` is put in. */
	workflow(data: Data, path?: string): void;
	read(path: string): string;
	json(path: string): Data;
	has(path: string): boolean;
	/** Every file below the project with its content and mode. */
	tree(): readonly string[];
	/** The brief that a shell agent was given. */
	seen(name: string): string;
	sdd(...args: readonly string[]): Promise<Ended>;
	sddWith(options: CallOptions, ...args: readonly string[]): Promise<Ended>;
	start(args: readonly string[], options?: CallOptions): Started;
	/** The next call of a commanded agent for `<task>/<role>`; rejects when `during` ends first. */
	call(key: string, during: Started): Promise<AgentCall>;
	/** How many calls of commanded agents wait for an answer. */
	waitingCalls(): readonly string[];
	/** Processes of agents in this project that are still there. */
	leftovers(): readonly number[];
	/** Ids of runs, the oldest first. */
	runs(): readonly string[];
	/** All events of the newest run, or of one. */
	events(run?: string): readonly Data[];
}

const open: (() => Promise<void>)[] = [];
/** What commands said that met a bug of sdd: none is ever expected, whatever else a test looks at. */
const bugs: string[] = [];

afterEach(async () => {
	for (const close of open.splice(0)) await close();
	const [bug] = bugs.splice(0);
	if (bug !== undefined) throw new Error(bug);
});

/** Makes an empty project with the rig's agents beside it; it is removed after the test. */
export async function makeRig(): Promise<Rig> {
	const outer = realpathSync(mkdtempSync(join(tmpdir(), 'sdd-')));
	const dir = join(outer, 'project');
	for (const name of ['project', 'seen', 'home']) mkdirSync(join(outer, name));
	// Nothing above the temp folder may be taken for the project.
	mkdirSync(join(dir, '.ai-sdd'));
	const desk = await openDesk(join(outer, 's'));
	writeFileSync(join(outer, 'agent.mjs'), agentSource(join(outer, 's')));
	const started = new Set<Started>();
	open.push(async () => {
		for (const { child } of started) child.kill('SIGKILL');
		for (const pid of leftovers(dir)) kill(pid);
		await desk.close();
		rmSync(outer, { recursive: true, force: true });
	});
	return rigOf(outer, dir, desk, started);
}

function rigOf(outer: string, dir: string, desk: Desk, started: Set<Started>): Rig {
	const path = (name: string): string => join(dir, name);
	const write = (name: string, text: string): void => {
		mkdirSync(dirname(path(name)), { recursive: true });
		writeFileSync(path(name), text);
	};
	const start: Rig['start'] = (args, options = {}) => {
		const one = startCommand(outer, dir, args, options);
		started.add(one);
		void one.ended.then(({ code, stderr }) => {
			started.delete(one);
			if (code === 70) bugs.push(stderr);
		});
		return one;
	};
	const runs = (): readonly string[] => namesIn(path('.ai-sdd/state/runs')).sort();
	return {
		dir,
		outer,
		write,
		script(name, ...lines) {
			write(name, `#!/bin/sh\n${lines.join('\n')}\n`);
			chmodSync(path(name), 0o755);
		},
		workflow: (data, name = 'w.yaml') => write(name, JSON.stringify({ version: '1', ...data }, null, 2)),
		read: (name) => readFileSync(path(name), 'utf8'),
		json: (name) => JSON.parse(readFileSync(path(name), 'utf8')) as Data,
		has: (name) => existsSync(path(name)),
		tree: () => treeOf(dir),
		seen: (name) => readFileSync(join(outer, 'seen', name), 'utf8'),
		sdd: (...args) => start(args).ended,
		sddWith: (options, ...args) => start(args, options).ended,
		start,
		call: (key, during) => desk.call(key, during),
		waitingCalls: () => desk.waiting(),
		leftovers: () => leftovers(dir),
		runs,
		events: (run = runs().at(-1) ?? '') => eventsIn(path(`.ai-sdd/state/runs/${run}/journal`)),
	};
}

/** What a command needs, and nothing of the machine's own settings. */
function environment(outer: string): { [name: string]: string } {
	return { PATH: process.env['PATH'] ?? '', HOME: join(outer, 'home'), USER: 'tester', SDD_TRUST_OVERLAYS: '1' };
}

function startCommand(outer: string, dir: string, args: readonly string[], options: CallOptions): Started {
	const argv = [...(options.wrap ?? []), process.execPath, COMMAND, ...args];
	const env = { ...environment(outer), ...options.env };
	const child = spawn(argv[0] ?? '', argv.slice(1), {
		cwd: options.cwd ?? dir,
		env,
		stdio: [options.typed === true ? 'pipe' : 'ignore', 'pipe', 'pipe'],
	});
	const said = { stdout: '', stderr: '' };
	const listeners = new Set<() => void>();
	for (const name of ['stdout', 'stderr'] as const) {
		child[name]?.setEncoding('utf8').on('data', (text: string) => {
			said[name] += text;
			for (const look of listeners) look();
		});
	}
	const ended = new Promise<Ended>((resolve, reject) => {
		child.once('error', reject);
		child.once('close', (code, signal) => resolve({ code, signal, ...said }));
	});
	return { pid: child.pid ?? 0, child, ended, printed: (text) => printed(text, said, listeners, ended) };
}

function printed(
	text: string,
	said: { readonly stdout: string; readonly stderr: string },
	listeners: Set<() => void>,
	ended: Promise<Ended>,
): Promise<void> {
	return new Promise((resolve, reject) => {
		const look = (): void => {
			if (said.stdout.includes(text) || said.stderr.includes(text)) resolve();
		};
		listeners.add(look);
		look();
		void ended.then(() => reject(new Error(`it ended without printing ${text}:\n${said.stdout}\n${said.stderr}`)));
	});
}

/** An agent that the test commands. */
export const commanded = (...args: readonly string[]): Data => ({
	adapter: 'command',
	run: ['node', '../agent.mjs', ...args],
});

/** An agent that is a shell script: its brief is kept, then these lines run. */
export const shell = (...lines: readonly string[]): Data => ({
	adapter: 'command',
	run: ['/bin/sh', '-c', ['cat > "../seen/$SDD_TASK_ID.$SDD_ROLE.$SDD_ATTEMPT"', ...lines].join('\n')],
});

/** A coder that writes `<task>.txt`, saying which attempt it was. */
export const coder: Data = shell('echo "attempt $SDD_ATTEMPT" > "$SDD_TASK_ID.txt"', 'echo "worked on $SDD_TASK_ID"');

/** A reviewer that says NO_GO ("fix <iteration>") until this iteration. */
export const reviewerGoingAt = (iteration: number): Data =>
	shell(
		`if [ "$SDD_ITERATION" -ge ${iteration} ]; then echo '{"decision": "GO", "feedback": "fine"}'`,
		`else echo '{"decision": "NO_GO", "feedback": "fix '"$SDD_ITERATION"'"}'; fi`,
	);

/** A task that is reviewed. */
export const reviewed = (task: string, review: Data = {}, more: Data = {}): Data => ({
	agent: 'dev',
	description: `write ${task}.txt`,
	outputs: [`${task}.txt`],
	...more,
	overlays: { agentic_review: { enabled: true, reviewer_agent: 'rev', ...review } },
});

/** The lines of an NDJSON text. */
export function ndjson(text: string): readonly Data[] {
	return text
		.split('\n')
		.filter((line) => line !== '')
		.map((line) => JSON.parse(line) as Data);
}

/** The ids of open questions. */
export async function openItems(rig: Rig): Promise<readonly string[]> {
	const { items } = JSON.parse((await rig.sdd('hil', 'list', '--json')).stdout) as { items: readonly { id: string }[] };
	return items.map(({ id }) => id);
}

function eventsIn(folder: string): readonly Data[] {
	const names = namesIn(folder)
		.filter((name) => name.endsWith('.ndjson'))
		.sort();
	return names.flatMap((name) => ndjson(readFileSync(join(folder, name), 'utf8')));
}

function treeOf(dir: string, below = ''): readonly string[] {
	return namesIn(join(dir, below))
		.sort()
		.flatMap((name) => {
			const path = join(below, name);
			const stat = lstatSync(join(dir, path));
			if (stat.isDirectory()) return [`${path}/`, ...treeOf(dir, path)];
			return [`${path} ${stat.mode.toString(8)} ${stat.mtimeMs} ${readFileSync(join(dir, path), 'latin1')}`];
		});
}

function namesIn(folder: string): string[] {
	try {
		return readdirSync(folder);
	} catch {
		return [];
	}
}

/** Every agent carries the project's folder in its environment. */
function leftovers(dir: string): readonly number[] {
	const wanted = `\0SDD_PROJECT_DIR=${dir}\0`;
	return namesIn('/proc')
		.filter((name) => /^\d+$/.test(name))
		.map(Number)
		.filter((pid) => {
			try {
				return `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}\0`.includes(wanted);
			} catch {
				return false;
			}
		});
}

function kill(pid: number): void {
	try {
		process.kill(pid, 'SIGKILL');
	} catch {
		// It ended by itself.
	}
}
