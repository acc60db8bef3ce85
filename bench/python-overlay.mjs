/** The same judge in Python, in TypeScript's place, and as nothing but JSON over a pipe; all are shown the same 50 KB. */
import { spawn } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importSources } from './bundle.mjs';
import { cleanEnvironment } from './measure.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = ['process-host', 'overlay-host', 'overlay-process', 'find-python', 'wire'];
const MOMENT_BYTES = 50_000;

/** The overlay that is measured: it looks into every file, as a real one would. */
export const JUDGE = `import os
from sdd_overlay import Overlay, passed, rework

overlay = Overlay("licences")
if "SDD_BENCH_STARTS" in os.environ:
    with open(os.environ["SDD_BENCH_STARTS"], "a") as starts:
        starts.write(f"{os.environ.get('SDD_RUN_ID', 'planning')}\\n")


@overlay.after
def judge(moment, options, call):
    if "seconds" in options:
        call.sleep(options["seconds"])
    found = [file.path for file in moment.artifacts if "GPL" in (file.content or "")]
    return rework(f"{found} mention the GPL") if found else passed()


if __name__ == "__main__":
    overlay.serve()
`;

/** What the rows about Python need: the sources, the interpreter, the overlay's file and the environment of its process. */
export async function pythonBench(bench) {
	return await bench.once('python', async () => {
		const sources = await importSources(
			bench,
			SOURCES.map((name) => `engine/hosts/${name}.ts`),
		);
		const found = sources.findPython({ project: bench.folder, configured: null, path: process.env.PATH ?? '' });
		if (!found.ok) throw new Error(found.error);
		// Beside the copied command, which looks for it there; and its byte code is cached, as in an installation.
		cpSync(join(root, 'python'), join(bench.folder, 'python'), { recursive: true });
		const file = join(bench.folder, 'licences.py');
		writeFileSync(file, JUDGE);
		const env = { ...cleanEnvironment(), PYTHONPATH: join(bench.folder, 'python'), PYTHONUTF8: '1' };
		return { ...sources, python: found.program, file, env, cwd: bench.folder };
	});
}

/** A function that consults the Python overlay, and the way to end its process. */
export async function pythonJudge({ createProcessHost, python, file, env, cwd }) {
	const commandOf = (use) => ({ ok: true, command: [python, use] });
	const host = createProcessHost({ project: cwd, version: 'bench', logDir: null, env, commandOf });
	const consult = (moment, options = {}) => passedBy(host.consult(planOf(file, options), 'after', moment, NEVER));
	await consult(momentOf());
	return { consult, close: () => host.close() };
}

/** A function that consults the same overlay in TypeScript. */
export function typescriptJudge({ createOverlayHost }) {
	const plan = planOf(null, {});
	const after = ({ artifacts }) => {
		const found = artifacts.filter(({ content }) => content?.includes('GPL'));
		if (found.length === 0) return { kind: 'pass' };
		return { kind: 'rework', feedback: `${found.map(({ path }) => path)} mention the GPL` };
	};
	const definition = { name: plan.name, summary: '', hooks: ['after'], options: {}, create: () => ({ after }) };
	const host = createOverlayHost({ definitionOf: () => definition, overlays: [plan], templates: {} });
	return (moment) => passedBy(host.consult(plan, 'after', moment, NEVER));
}

/** A function that sends the moment to a bare loop in Python and reads its answer (`echo`: the whole message), and the way to end it. */
export function bareLoop({ python, env, cwd, momentToWire }, { echo = false } = {}) {
	const script = fileURLToPath(new URL('round-trip.py', import.meta.url));
	const child = spawn(python, [script, ...(echo ? ['echo'] : [])], { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
	const waiting = [];
	let rest = '';
	child.stdout.setEncoding('utf8').on('data', (chunk) => {
		const lines = (rest + chunk).split('\n');
		rest = lines.pop();
		for (const line of lines) waiting.shift()(JSON.parse(line));
	});
	let id = 0;
	const wire = momentToWire(momentOf());
	const roundTrip = () =>
		new Promise((resolve) => {
			waiting.push(resolve);
			const params = { options: {}, moment: wire };
			child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method: 'after', params })}\n`);
		});
	return { roundTrip, close: () => child.stdin.end() };
}

const NEVER = new AbortController().signal;

function planOf(use, options) {
	return { name: 'licences', use, hooks: ['after'], options, order: 50, timeoutMs: 60_000, onError: 'fail' };
}

async function passedBy(consulted) {
	const { ok, reason, verdict } = await consulted;
	if (!ok || verdict.kind !== 'pass') throw new Error(`the overlay did not pass: ${reason ?? verdict.kind}`);
}

/** A moment of 50 KB as JSON: a diff, three files, the agent's output, checks and a constitution. */
export function momentOf() {
	const line = 'const value = compute(a < b && c > "d") // a line of code: größer\n';
	const text = (bytes) => line.repeat(bytes / line.length + 1).slice(0, bytes);
	const artifact = (i) => ({ path: `src/file-${i}.ts`, sha256: 'a'.repeat(64), bytes: 8000, content: text(8000) });
	const moment = {
		run: 'run-1',
		workflow: 'bench',
		hook: 'after',
		at: '2026-01-01T00:00:00.000Z',
		task: {
			id: 'implement',
			agent: 'dev',
			description: 'Do it',
			acceptanceCriteria: ['it works'],
			inputs: [],
			outputs: ['src/file-0.ts'],
		},
		attempt: 1,
		worker: 'dev',
		iteration: 1,
		brief: { prompt: text(4000) },
		output: { text: text(2000) },
		artifacts: [0, 1, 2].map(artifact),
		diff: '',
		touched: [],
		checks: [{ name: 'unit', kind: 'tests', required: true, ok: true, exit: 0, output: text(1000), ms: 900 }],
		constitution: { Standards: '- **Tests**: they pass.' },
		history: [],
		answers: {},
		failure: null,
	};
	const bytes = () => Buffer.byteLength(JSON.stringify(moment));
	moment.diff = text(Math.floor(((MOMENT_BYTES - bytes()) * 64) / 68.5));
	if (Math.abs(bytes() - MOMENT_BYTES) > 500) throw new Error(`the moment has ${bytes()} bytes`);
	return moment;
}
