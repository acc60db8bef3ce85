import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type OverlayProcess, overlayProcess, type ProcessOptions } from '../../engine/hosts/overlay-process.ts';
import { groupIsAlive } from '../../engine/process/groups.ts';
import { BROKEN, commandFor, ENV, PYTHON, tempFolder } from './processes.ts';

const open: OverlayProcess[] = [];

afterEach(async () => {
	for (const process of open.splice(0)) await process.close();
});

function processOf(file: string, parts: Partial<ProcessOptions> = {}): OverlayProcess {
	const process = overlayProcess({
		command: commandFor(file),
		cwd: BROKEN,
		env: ENV,
		version: '0.0.0',
		stderrPath: null,
		graceMs: 300,
		...parts,
	});
	open.push(process);
	return process;
}

/** A Python script of its own, with `speak` at hand. */
function scripted(text: string, parts: Partial<ProcessOptions> = {}): OverlayProcess {
	const file = join(tempFolder(), 'overlay.py');
	writeFileSync(file, `import os, sys, time, threading, json\nimport speak\n${text}\n`);
	const env = { ...ENV, PYTHONPATH: BROKEN };
	return processOf('', { command: [PYTHON, file], env, ...parts });
}

const LONG = { timeoutMs: 30_000, signal: new AbortController().signal };
const after = (process: OverlayProcess, limits = LONG) => process.call('after', {}, limits);

test('a process is started by the first call, says what it is, and answers', async () => {
	const process = processOf('works.py');
	expect(await after(process)).toEqual({ ok: true, result: { kind: 'pass' } });
	expect(await process.handshake()).toEqual({ ok: true, handshake: { protocol: 1, name: 'broken', hooks: ['after'] } });
});

test('calls at once go to one process, and each gets its own answer, in whatever order they come', async () => {
	const process = scripted(`
waiting = []
def judge(request):
    waiting.append(request)
    if len(waiting) == 8:
        for one in reversed(waiting):
            speak.send(id=one["id"], result=[os.getpid(), one["params"]["n"]])
speak.serve(judge)`);
	const answers = await Promise.all([...Array(8).keys()].map((n) => process.call('after', { n }, LONG)));
	const results = answers.map((answer) => (answer.ok ? (answer.result as [number, number]) : []));
	expect(results.map(([, n]) => n)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
	expect(new Set(results.map(([pid]) => pid)).size).toBe(1);
});

test.each([
	[
		'exits-at-once.sh',
		'OVERLAY_START',
		/^it could not be started: its process exited with code 7; the last it wrote to stderr:\nthe licence server is not configured$/,
	],
	[
		'does_not_parse.py',
		'OVERLAY_START',
		/^it could not be started: its process exited with code 1; [\s\S]*SyntaxError/,
	],
	['answers_twice.py', 'OVERLAY_PROTOCOL', /^it answered the request 2 twice$/],
	['answers_unknown_id.py', 'OVERLAY_PROTOCOL', /^it answered the request 4711, which nobody made$/],
	['sends_100_mb.py', 'OVERLAY_PROTOCOL', /^it wrote a line of more than 33554432 bytes$/],
	[
		'speaks_protocol_99.py',
		'OVERLAY_PROTOCOL',
		/^its answer to initialize is wrong: it speaks protocol 99, and this sdd speaks 1 to 1$/,
	],
	[
		'wrong_hooks.py',
		'OVERLAY_PROTOCOL',
		/^its answer to initialize is wrong: "afterwards" is not a hook; there are before, checkpoint, after, failed$/,
	],
	[
		'throws.mjs',
		'OVERLAY_BROKE_DOWN',
		/^it answered with an error: cannot do after; the last it wrote to stderr:\nError: no such table: licences$/,
	],
	[
		'prints_to_stdout.py',
		'OVERLAY_PROTOCOL',
		/^it wrote something that is no JSON to stdout: "checking the licences \.\.\."$/,
	],
	[
		'prints_at_start.py',
		'OVERLAY_PROTOCOL',
		/^it could not be started: it wrote something that is no JSON to stdout: "licences 1\.0"$/,
	],
	[
		'dies_while_judging.py',
		'OVERLAY_CRASHED',
		/^its process exited with code 3; the last it wrote to stderr:\nSegmentation fault, as it were$/,
	],
	['closes_stdout.py', 'OVERLAY_PROTOCOL', /^it closed its stdout, though it is still running$/],
])('%s is %s', async (file, code, reason) => {
	const process = processOf(file);
	const called = await after(process);
	// What comes after an answer may be seen after it: then the next call hears of it.
	const told = called.ok ? await after(process) : called;
	expect(told).toMatchObject({ ok: false, code, reason: expect.stringMatching(reason) });
});

test('a process that says nothing at the handshake is given up', async () => {
	expect(await after(processOf('never-answers-initialize.sh', { startTimeoutMs: 200 }))).toEqual({
		ok: false,
		code: 'OVERLAY_START',
		reason:
			'it could not be started: no answer to initialize within 200ms; the last it wrote to stderr:\nstill thinking',
	});
});

test('a program that is not there, or may not be executed, is named', async () => {
	const folder = tempFolder();
	const plain = join(folder, 'plain.sh');
	writeFileSync(plain, '#!/bin/sh\n');
	chmodSync(plain, 0o644);
	const reasonOf = async (command: readonly string[], parts: Partial<ProcessOptions> = {}) =>
		await after(processOf('', { command, cwd: folder, ...parts }));
	expect(await reasonOf(['no-such-program'])).toMatchObject({
		code: 'OVERLAY_START',
		reason: 'it could not be started: "no-such-program" was not found on the PATH',
	});
	expect(await reasonOf(['./plain.sh'])).toMatchObject({
		code: 'OVERLAY_START',
		reason: 'it could not be started: "./plain.sh" is not executable (chmod +x)',
	});
	expect(await reasonOf(['a\0b'])).toMatchObject({ code: 'OVERLAY_START' });
	expect(await reasonOf(['true'], { cwd: join(folder, 'gone') })).toMatchObject({
		reason: `it could not be started: the working directory ${join(folder, 'gone')} does not exist`,
	});
	expect(await reasonOf(['true'], { stderrPath: join(plain, 'log.txt') })).toMatchObject({ code: 'OVERLAY_START' });
});

test('a late call is cancelled; one that stops in time leaves the process running', async () => {
	const process = scripted(`
waiting = {}
def judge(request):
    if request["params"].get("wait"): waiting[request["id"]] = request
    else: speak.send(id=request["id"], result=os.getpid())
def serve():
    for line in sys.stdin:
        request = json.loads(line)
        if request["method"] == "initialize": speak.initialized(request)
        elif request["method"] == "after": judge(request)
        elif request["method"] == "$/cancel": speak.refused(waiting.pop(request["params"]["id"]), "cancelled")
        elif request["method"] == "shutdown": break
serve()`);
	const first = await after(process);
	const late = await process.call('after', { wait: true }, { ...LONG, timeoutMs: 20 });
	expect(late).toEqual({ ok: false, code: 'OVERLAY_TIMEOUT', reason: 'no answer to after within 20ms' });
	const stop = new AbortController();
	const stopped = process.call('after', { wait: true }, { timeoutMs: 30_000, signal: stop.signal });
	setImmediate(() => stop.abort());
	expect(await stopped).toEqual({ ok: false, code: 'AGENT_CANCELLED', reason: 'the run was stopped' });
	expect(await after(process)).toEqual(first);
});

test('one that does not heed the cancellation is killed, and what else it was asked hears why', async () => {
	const process = processOf('ignores_cancellation.py');
	const calls = [after(process), process.call('after', {}, { ...LONG, timeoutMs: 20 })];
	expect(await Promise.all(calls)).toMatchObject([
		{
			ok: false,
			code: 'OVERLAY_CRASHED',
			reason:
				'its process was ended, as it did not heed the cancellation of another call; the last it wrote to stderr:\nbusy',
		},
		{
			ok: false,
			code: 'OVERLAY_TIMEOUT',
			reason:
				'no answer to after within 20ms, and it did not heed the cancellation; the last it wrote to stderr:\nbusy',
		},
	]);
});

test('nothing is asked for a run that is stopped already', async () => {
	const process = processOf('never_answers.py');
	expect(await process.call('after', {}, { timeoutMs: 1000, signal: AbortSignal.abort() })).toMatchObject({
		code: 'AGENT_CANCELLED',
	});
});

test('when it dies while three tasks wait, all three hear why; then it is started again, three times at most', async () => {
	const process = processOf('dies_while_judging.py');
	const round = () => Promise.all([after(process), after(process), after(process)]);
	for (let start = 1; start <= 4; start++) {
		for (const called of await round()) {
			expect(called).toMatchObject({
				ok: false,
				code: 'OVERLAY_CRASHED',
				reason: expect.stringContaining('exited with code 3'),
			});
		}
	}
	for (const called of await round()) {
		expect(called).toMatchObject({
			ok: false,
			code: 'OVERLAY_CRASHED',
			reason: expect.stringMatching(
				/^it went down 4 times and is not started again; the last time: its process exited with code 3/,
			),
		});
	}
});

test('calls that come at once after a crash share one new process', async () => {
	const file = join(tempFolder(), 'starts');
	const process = scripted(`
with open(${JSON.stringify(file)}, "a") as log: log.write("started\\n")
def judge(request):
    if request["params"].get("die"): os._exit(1)
    speak.passed(request)
speak.serve(judge)`);
	expect(await process.call('after', { die: true }, LONG)).toMatchObject({ ok: false });
	expect((await Promise.all([after(process), after(process), after(process)])).every(({ ok }) => ok)).toBe(true);
	expect(readFileSync(file, 'utf8')).toBe('started\nstarted\n');
});

test('an answer that was written before the process died still counts', async () => {
	const process = scripted(`
def judge(request):
    speak.passed(request)
    os._exit(1)
speak.serve(judge)`);
	expect(await after(process)).toEqual({ ok: true, result: { kind: 'pass' } });
});

test('a process that reads nothing is late like any other, however much it is sent', async () => {
	const process = scripted(`
speak.initialized(json.loads(sys.stdin.readline()))
time.sleep(600)`);
	const moment = { text: 'x'.repeat(4 * 1024 * 1024) };
	expect(await process.call('after', moment, { ...LONG, timeoutMs: 300 })).toMatchObject({ code: 'OVERLAY_TIMEOUT' });
});

test('a process that closes its stdin is told apart from one that is slow', async () => {
	const process = scripted(`
request = json.loads(sys.stdin.readline())
os.close(0)
speak.initialized(request)
time.sleep(600)`);
	expect(await after(process)).toMatchObject({
		code: 'OVERLAY_PROTOCOL',
		reason: 'it closed its stdin, though it is still running',
	});
});

test('stderr, log and progress go to one file, which says who speaks', async () => {
	const stderrPath = join(tempFolder(), 'logs', 'overlay.txt');
	const process = scripted(
		`
def judge(request):
    print("plain", file=sys.stderr, flush=True)
    speak.send(method="log", params={"level": "warning", "text": "two\\nlines"})
    speak.send(method="$/progress", params={"id": request["id"], "text": "half"})
    speak.send(method="other", params=[1])
    speak.passed(request)
speak.serve(judge)`,
		{ stderrPath },
	);
	expect((await after(process)).ok).toBe(true);
	expect(readFileSync(stderrPath, 'utf8')).toBe(
		'plain\n[log warning] two\n  lines\n[$/progress 2] half\n[other] [1]\n',
	);
});

test('one that floods stderr is ended before it fills the disk', async () => {
	const stderrPath = join(tempFolder(), 'overlay.txt');
	const process = scripted(
		`
def judge(request):
    while True: sys.stderr.write("x" * 100000)
speak.serve(judge)`,
		{ stderrPath, maxStderrBytes: 1_000_000 },
	);
	expect(await after(process)).toMatchObject({
		code: 'OVERLAY_PROTOCOL',
		reason: expect.stringMatching(/^it wrote more than 1000000 bytes to stderr; /),
	});
});

test('what it started ends with it: at close, and when it is brought down', async () => {
	const text = (then: string): string => `
import subprocess
child = subprocess.Popen(["sleep", "600"])
def judge(request):
    speak.send(id=request["id"], result=[os.getpid(), child.pid])
    ${then}
speak.serve(judge)`;
	for (const then of ['pass', 'os._exit(1)', 'print("oops", flush=True)']) {
		const process = scripted(text(then));
		const called = await after(process);
		const [pgid, child] = (called as { readonly result: [number, number] }).result;
		if (then !== 'pass') await after(process);
		await process.close();
		expect(groupIsAlive(pgid)).toBe(false);
		expect(isRunning(child)).toBe(false);
	}
});

test('closing ends a process that takes no notice, and one that is still starting', async () => {
	const stubborn = processOf('stays_after_shutdown.py', { graceMs: 50 });
	await after(stubborn);
	await stubborn.close();
	expect(await after(stubborn)).toEqual({ ok: false, code: 'AGENT_CANCELLED', reason: 'the run has ended' });
	const starting = processOf('never-answers-initialize.sh', { graceMs: 50 });
	const call = after(starting);
	await starting.close();
	expect(await call).toMatchObject({
		ok: false,
		reason: expect.stringMatching(/^it could not be started: the run has ended/),
	});
});

test('a process that was never asked is never started', async () => {
	await processOf('exits-at-once.sh').close();
});

function isRunning(pid: number): boolean {
	try {
		return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
	} catch {
		return false;
	}
}
