/** What an overlay's process writes to stderr: where it goes, who reads it, and how much of it there may be. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { after, LONG, scripted } from './open-processes.ts';
import { tempFolder } from './processes.ts';

test('a reason carries what was written to stderr since that call began, and nothing older', async () => {
	for (const stderrPath of [null, join(tempFolder(), 'overlay.txt')]) {
		const process = scripted(
			`
def say(text): print(text, file=sys.stderr, flush=True)
say("loading")
def judge(request):
    n = request["params"]["n"]
    say(f"call {n}")
    if n == 1: speak.passed(request)
    elif n == 2: speak.refused(request, "no")
    else: os._exit(1)
speak.serve(judge)`,
			{ stderrPath },
		);
		const call = (n: number) => process.call('after', { n }, LONG);
		const first = await call(1);
		if (!first.ok) throw new Error(first.reason);
		expect((await first.explain({ code: 'OVERLAY_BAD_VERDICT', reason: 'odd' })).reason).toBe(
			'odd; the last it wrote to stderr:\ncall 1',
		);
		expect(await call(2)).toMatchObject({
			reason: 'it answered with an error: no; the last it wrote to stderr:\ncall 2',
		});
		expect(await call(3)).toMatchObject({
			reason: 'its process exited with code 1; the last it wrote to stderr:\ncall 3',
		});
	}
});

test('a handshake that is wrong is told with what was written at the start', async () => {
	const process = scripted(`
print("loading", file=sys.stderr, flush=True)
speak.serve(initialize=lambda request: speak.initialized(request, protocol=99))`);
	expect(await after(process)).toMatchObject({
		code: 'OVERLAY_PROTOCOL',
		reason: expect.stringMatching(/it speaks protocol 99, .*; the last it wrote to stderr:\nloading$/),
	});
});

test('its log is masked when it is over, when it is opened again, and emptied if it cannot be', async () => {
	const stderrPath = join(tempFolder(), 'overlay.txt');
	const log = (): string => readFileSync(stderrPath, 'utf8');
	writeFileSync(stderrPath, 'old hunter2\n');
	const text = `
def judge(request):
    print("hunter2", file=sys.stderr, flush=True)
    speak.send(method="log", params={"text": "hunter2"})
    speak.passed(request)
speak.serve(judge)`;
	const mask = (path: string): void => writeFileSync(path, readFileSync(path, 'utf8').replaceAll('hunter2', '*******'));
	const process = scripted(text, { stderrPath, mask });
	expect((await after(process)).ok).toBe(true);
	expect(log()).toBe('old *******\nhunter2\n[log info] hunter2\n');
	await process.close();
	expect(log()).toBe('old *******\n*******\n[log info] *******\n');
	const cannot = scripted(text, {
		stderrPath,
		mask() {
			throw new Error('no');
		},
	});
	expect((await after(cannot)).ok).toBe(true);
	await cannot.close();
	expect(log()).toBe('');
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

test('how much it wrote to stderr is also looked at when it answers', async () => {
	const process = scripted(
		`
def judge(request):
    sys.stderr.write("x" * 20000)
    sys.stderr.flush()
    speak.passed(request)
speak.serve(judge)`,
		{ stderrPath: join(tempFolder(), 'overlay.txt'), maxStderrBytes: 10_000 },
	);
	expect(await after(process)).toMatchObject({
		code: 'OVERLAY_PROTOCOL',
		reason: expect.stringMatching(/^it wrote more than 10000 bytes to stderr; /),
	});
});
