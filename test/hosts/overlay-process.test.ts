import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ProcessOptions } from '../../engine/hosts/overlay-process.ts';
import { groupIsAlive } from '../../engine/process/groups.ts';
import { after, LONG, processOf, scripted } from './open-processes.ts';
import { tempFolder } from './processes.ts';

test('a process is started by the first call, says what it is, and answers', async () => {
	const process = processOf('works.py');
	expect(await after(process)).toMatchObject({ ok: true, result: { kind: 'pass' } });
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

test('an answer that says two things is none', async () => {
	const process = scripted(`
def judge(request):
    sys.stdout.write('{"jsonrpc":"2.0","id":%d,"result":{"kind":"fail","reason":"no"},"result":{"kind":"pass"}}\\n' % request["id"])
    sys.stdout.flush()
speak.serve(judge)`);
	expect(await after(process)).toMatchObject({
		ok: false,
		code: 'OVERLAY_PROTOCOL',
		reason: expect.stringContaining('it wrote an object that has a member twice to stdout: "{\\"jsonrpc'),
	});
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
	expect(await after(process)).toMatchObject({ ok: true, result: (first as { readonly result: number }).result });
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

test.each([
	['another one', `json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"kind": "fail", "reason": "no"}})`],
	['an error', `json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": {"code": 1, "message": "no"}})`],
	['garbage', `"garbage here"`],
	['an answer to nobody', `json.dumps({"jsonrpc": "2.0", "id": 99, "result": None})`],
])('an answer that comes together with %s does not count, however long it is', async (_what, more) => {
	for (const length of [1, 500_000]) {
		const process = scripted(`
def judge(request):
    answer = {"kind": "pass", "note": "x" * ${length}}
    one = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer})
    sys.stdout.write(one + "\\n" + ${more} + "\\n")
    sys.stdout.flush()
speak.serve(judge)`);
		expect(await after(process)).toMatchObject({ ok: false, code: 'OVERLAY_PROTOCOL' });
		expect(await process.close()).toBe(null);
	}
});

test('what comes later cannot undo an answer, but the next call hears of it, or whoever closes', async () => {
	const text = `
def judge(request):
    speak.passed(request)
    threading.Timer(0.05, lambda: speak.passed(request)).start()
speak.serve(judge)`;
	const twice = { code: 'OVERLAY_PROTOCOL', reason: 'it answered the request 2 twice' };
	const stderrPath = join(tempFolder(), 'overlay.txt');
	const log = (): string => readFileSync(stderrPath, 'utf8');
	const closed = scripted(text, { stderrPath });
	expect((await after(closed)).ok).toBe(true);
	await expect.poll(log, { timeout: 10_000 }).toBe('[sdd] it answered the request 2 twice\n');
	expect(await closed.close()).toMatchObject(twice);
	const asked = scripted(text, { stderrPath: `${stderrPath}.2` });
	expect((await after(asked)).ok).toBe(true);
	await expect.poll(() => readFileSync(`${stderrPath}.2`, 'utf8'), { timeout: 10_000 }).toContain('[sdd]');
	expect(await after(asked)).toMatchObject(twice);
	expect(await asked.close()).toBe(null);
});

test('what it says too much while it is ended is told as well, and that it answers late is not', async () => {
	const process = (last: string) =>
		scripted(`
waiting = []
def judge(request):
    if request["params"].get("wait"): waiting.append(request)
    else: speak.passed(request)
def serve():
    for line in sys.stdin:
        request = json.loads(line)
        if request["method"] == "initialize": speak.initialized(request)
        elif request["method"] == "after": judge(request)
        elif request["method"] == "shutdown": return ${last}
serve()`);
	const talks = process('print("bye", flush=True)');
	await after(talks);
	expect(await talks.close()).toMatchObject({ reason: 'it wrote something that is no JSON to stdout: "bye"' });
	const late = process('[speak.passed(one) for one in waiting]');
	await after(late);
	const call = late.call('after', { wait: true }, LONG);
	expect(await late.close()).toBe(null);
	expect(await call).toMatchObject({ code: 'AGENT_CANCELLED' });
});

test('an idle process that dies leaves a line in its log, and is started again', async () => {
	const stderrPath = join(tempFolder(), 'overlay.txt');
	const overlay = scripted('speak.serve(lambda request: speak.send(id=request["id"], result=os.getpid()))', {
		stderrPath,
	});
	const first = await after(overlay);
	process.kill((first as { readonly result: number }).result, 'SIGKILL');
	await expect
		.poll(() => readFileSync(stderrPath, 'utf8'), { timeout: 10_000 })
		.toBe('[sdd] its process was killed by SIGKILL\n');
	expect((await after(overlay)).ok).toBe(true);
	expect(await overlay.close()).toBe(null);
});

test('code that changed is not started, nor listened to if it changed while it started', async () => {
	let looks = 0;
	const marks = join(tempFolder(), 'starts');
	const text = `open(${JSON.stringify(marks)}, "a").write("started\\n")\nspeak.serve()`;
	const changed = { code: 'OVERLAY_CHANGED', reason: 'it changed' };
	const never = scripted(text, { changed: () => 'it changed' });
	expect(await after(never)).toMatchObject(changed);
	expect(existsSync(marks)).toBe(false);
	const meanwhile = scripted(text, { changed: () => (looks++ <= 0 ? null : 'it changed') });
	expect(await after(meanwhile)).toMatchObject(changed);
	expect(await after(meanwhile)).toMatchObject(changed);
	expect(readFileSync(marks, 'utf8')).toBe('started\n');
	looks = -1000;
	expect((await after(meanwhile)).ok).toBe(true);
});

test('an answer, once and whole, counts, though the process exits right behind it', async () => {
	const process = scripted(`
def judge(request):
    speak.passed(request)
    os._exit(1)
speak.serve(judge)`);
	expect(await after(process)).toMatchObject({ ok: true, result: { kind: 'pass' } });
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

test('what it started ends with it: at close, and when it is brought down', async () => {
	const file = join(tempFolder(), 'pids');
	const text = (then: string): string => `
import subprocess
child = subprocess.Popen(["sleep", "600"])
open(${JSON.stringify(file)}, "w").write(json.dumps([os.getpid(), child.pid]))
def judge(request):
    speak.passed(request)
    ${then}
speak.serve(judge)`;
	for (const then of ['pass', 'os._exit(1)', 'print("oops", flush=True)']) {
		const process = scripted(text(then));
		await after(process);
		const [pgid, child] = JSON.parse(readFileSync(file, 'utf8')) as [number, number];
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

test.each([
	['stays', 'time.sleep(600)'],
	['exits', 'os._exit(0)'],
])('half a line behind an answer, which may be another one: it does not count; the process %s', async (_what, then) => {
	const process = scripted(`
def judge(request):
    line = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"kind": "pass"}})
    os.write(1, (line + "\\n" + line[:30]).encode())
    ${then}
speak.serve(judge)`);
	expect(await after(process, { ...LONG, timeoutMs: 1500 })).toMatchObject({
		ok: false,
		code: 'OVERLAY_PROTOCOL',
		reason: 'it wrote half a line behind its answer',
	});
});

test('half a line that comes to its end as a message spoils nothing', async () => {
	const process = scripted(`
def judge(request):
    note = json.dumps({"jsonrpc": "2.0", "method": "log", "params": {"message": "fine"}}) + "\\n"
    line = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"kind": "pass"}}) + "\\n"
    os.write(1, (line + note[:20]).encode())
    time.sleep(0.2)
    os.write(1, note[20:].encode())
speak.serve(judge)`);
	expect(await after(process)).toMatchObject({ ok: true, result: { kind: 'pass' } });
});
