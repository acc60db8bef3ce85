import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Verdict } from '../../engine/contract.ts';
import { createProcessHost, describeProcess, type ProcessHost } from '../../engine/hosts/process-host.ts';
import type { OverlayUse } from '../../engine/overlay-use.ts';
import { overlayPlan } from '../builders.ts';
import { chose, momentOf, replied } from '../overlays/moment.ts';
import { BROKEN, commandFor, commandOf, ENV, PYTHON, tempFolder } from './processes.ts';

const never = new AbortController().signal;
const hosts: ProcessHost[] = [];

afterEach(async () => {
	for (const host of hosts.splice(0)) await host.close();
});

function optionsOf(logDir: string | null = null) {
	return { project: BROKEN, version: '0.0.0', logDir, env: { ...ENV, PYTHONPATH: BROKEN }, commandOf, graceMs: 200 };
}

function hostOf(logDir: string | null = null): ProcessHost {
	const host = createProcessHost(optionsOf(logDir));
	hosts.push(host);
	return host;
}

/** An overlay of its own that does this when it is asked. */
function overlay(judge: string): string {
	const file = join(tempFolder(), 'overlay.py');
	writeFileSync(
		file,
		`import json, os, sys\nimport speak\ndef judge(request):\n${judge.replaceAll(/^/gm, '    ')}\nspeak.serve(judge)\n`,
	);
	return file;
}

function consult(
	host: ProcessHost,
	use: OverlayUse,
	parts: { readonly options?: object; readonly moment?: object } = {},
) {
	const plan = overlayPlan('gate', { use, options: (parts.options ?? {}) as never });
	return host.consult(plan, 'after', momentOf(parts.moment ?? {}), never);
}

test('the moment and the options go out in snake case, and a verdict comes back in the words of the contract', async () => {
	const use = overlay(`
params = request["params"]
moment = params["moment"]
seen = [params["options"], moment["task"]["acceptance_criteria"], moment["answers"], sorted(moment)]
question = {"id": "q", "to": "agent:rev", "brief": {"prompt": "?"}, "review_id": "r1"}
speak.send(id=request["id"], result={"kind": "ask", "questions": [question], "record": {"seen": seen}})`);
	const usage = { inputTokens: 1, outputTokens: 2, costUsd: null };
	const failed = { code: 'AGENT_EXIT', reason: 'exit 1' };
	const answers = { a: replied('GO', { usage }), b: chose('accept', 'fine'), c: replied('', { failed }) };
	const consulted = await consult(hostOf(), use, { options: { allow: ['MIT'] }, moment: { answers } });
	expect(consulted).toMatchObject({ ok: true, verdict: { kind: 'ask' } });
	const verdict = (consulted as { readonly verdict: Extract<Verdict, { kind: 'ask' }> }).verdict;
	expect(verdict.questions).toEqual([{ id: 'q', to: 'agent:rev', brief: { prompt: '?' }, reviewId: 'r1' }]);
	const [options, criteria, wireAnswers, members] = verdict.record!['seen'] as [
		object,
		object,
		{ [id: string]: object },
		string[],
	];
	expect(options).toEqual({ allow: ['MIT'] });
	expect(criteria).toEqual(['invalid passwords are refused']);
	expect(wireAnswers['a']).toMatchObject({
		by: 'reviewer',
		value: 'GO',
		prompt_sha256: 'p1',
		usage: { input_tokens: 1, output_tokens: 2, cost_usd: null },
	});
	expect(wireAnswers['b']).toMatchObject({ by: 'ann', value: 'accept', via: 'cli', item: 'hil-1', notes: 'fine' });
	expect(wireAnswers['c']).toMatchObject({ failed });
	expect(members.filter((name) => /[A-Z]/.test(name))).toEqual([]);
});

test('a verdict with a typo fails, whatever on_error says', async () => {
	expect(await consult(hostOf(), { command: commandFor('typo_in_verdict.py') })).toEqual({
		ok: false,
		code: 'OVERLAY_BAD_VERDICT',
		reason: 'its answer at after is not a verdict: it has the unknown member "aproved"',
		transport: false,
	});
});

test('what it wrote to stderr goes with a verdict that is none', async () => {
	for (const [result, wrong] of [
		['None', 'it must be an object, not null'],
		['{"kind": "maybe"}', '"kind" is "maybe", but must be one of pass, rework, ask, fail'],
	] as const) {
		const use = overlay(
			`print("thinking", file=sys.stderr, flush=True)\nspeak.send(id=request["id"], result=${result})`,
		);
		expect(await consult(hostOf(), use)).toEqual({
			ok: false,
			code: 'OVERLAY_BAD_VERDICT',
			reason: `its answer at after is not a verdict: ${wrong}; the last it wrote to stderr:\nthinking`,
			transport: false,
		});
	}
});

test('code that changed since the run began fails, whatever on_error says', async () => {
	const host = createProcessHost({ ...optionsOf(), changed: (use) => `${String(use)} changed` });
	const use = overlay('speak.passed(request)');
	expect(await consult(host, use)).toEqual({
		ok: false,
		code: 'OVERLAY_CHANGED',
		reason: `${use} changed`,
		transport: false,
	});
	await host.close();
});

test('closing tells what an overlay did wrong when nobody was left to hear it', async () => {
	const host = hostOf();
	const use = join(tempFolder(), 'overlay.py');
	writeFileSync(use, 'import speak\nspeak.serve()\nprint("bye", flush=True)\n');
	expect((await consult(host, use)).ok).toBe(true);
	expect(await host.close()).toEqual([
		`the overlay ${use}, after its last verdict had counted: it wrote something that is no JSON to stdout: "bye"`,
	]);
});

test.each([
	['answers_unknown_id.py', 'OVERLAY_PROTOCOL', false],
	['prints_at_start.py', 'OVERLAY_PROTOCOL', false],
	['speaks_protocol_99.py', 'OVERLAY_PROTOCOL', false],
	['exits-at-once.sh', 'OVERLAY_START', true],
	['dies_while_judging.py', 'OVERLAY_CRASHED', true],
	['throws.mjs', 'OVERLAY_BROKE_DOWN', false],
])('%s is %s; that on_error decides about it: %s', async (file, code, transport) => {
	expect(await consult(hostOf(), { command: commandFor(file) })).toMatchObject({ ok: false, code, transport });
});

test('one process serves one use; two commands with the same words are two', async () => {
	const host = hostOf();
	const use = overlay('speak.send(id=request["id"], result={"kind": "pass", "note": str(os.getpid())})');
	const noteOf = async (command: readonly string[]) => {
		const consulted = await consult(host, { command });
		return consulted.ok ? (consulted.verdict as { note?: string }).note : consulted.reason;
	};
	const first = await noteOf([PYTHON, use, 'a b']);
	expect(await noteOf([PYTHON, use, 'a b'])).toBe(first);
	expect(await noteOf([PYTHON, use, 'a', 'b'])).not.toBe(first);
});

test('each process has a log of its own, named after it, and what is warmed up is ready', async () => {
	const logDir = tempFolder();
	const host = hostOf(logDir);
	const uses = ['one', 'two'].map((word) =>
		overlay(`print("${word}", file=sys.stderr, flush=True)\nspeak.passed(request)`),
	);
	host.warmUp(uses);
	for (const use of uses) expect((await consult(host, use)).ok).toBe(true);
	const names = readdirSync(logDir).sort();
	expect(names.map((name) => name.replace(/-tmp-.*-overlay/, '-…-overlay'))).toEqual([
		expect.stringMatching(/^1-.*overlay-py\.stderr\.txt$/),
		expect.stringMatching(/^2-.*overlay-py\.stderr\.txt$/),
	]);
	expect(names.map((name) => readFileSync(join(logDir, name), 'utf8'))).toEqual(['one\n', 'two\n']);
});

test('what cannot be started says so when it is warmed up, asked or described, and nothing is thrown', async () => {
	const commandOf = () => ({ ok: false as const, error: 'there is no Python', remedy: 'install it' });
	const host = createProcessHost({ ...optionsOf(), commandOf });
	host.warmUp(['x.py']);
	expect(await consult(host, 'x.py')).toEqual({
		ok: false,
		code: 'OVERLAY_START',
		reason: 'there is no Python',
		transport: true,
	});
	expect(await describeProcess({ ...optionsOf(), commandOf }, 'x.py')).toEqual({
		error: 'there is no Python',
		remedy: 'install it',
	});
	await host.close();
});

test('an overlay is described by what it says of itself', async () => {
	const said = {
		protocol: 1,
		name: 'gate',
		version: '1.2',
		summary: 'A gate.',
		hooks: ['failed', 'before'],
		options: { type: 'object' },
		order: 20,
		conflicts_with: ['hil'],
		agents: ['rev'],
		watches: ['infra'],
	};
	const file = join(tempFolder(), 'overlay.py');
	const parts = `**json.loads(${JSON.stringify(JSON.stringify(said))})`;
	writeFileSync(
		file,
		`import json, speak\nspeak.serve(initialize=lambda request: speak.initialized(request, ${parts}))\n`,
	);
	const described = await describeProcess(optionsOf(), file);
	expect(described).toMatchObject({
		name: 'gate',
		version: '1.2',
		summary: 'A gate.',
		hooks: ['before', 'failed'],
		options: { type: 'object' },
		order: 20,
		conflictsWith: ['hil'],
	});
	if ('error' in described) throw new Error(described.error);
	expect(described.agents?.({ options: {}, task: { id: 't', agent: 'dev', outputs: [], checks: [] } })).toEqual([
		'rev',
	]);
	expect(() => described.create({}, { render: () => '' })).toThrow('the overlay "gate" lives in a process of its own');
	expect(await describeProcess(optionsOf(), { command: commandFor('wrong_hooks.py') })).toMatchObject({
		error: expect.stringContaining('"afterwards" is not a hook'),
		remedy: 'try it with `sdd overlays test`; docs/protocol.md says what an overlay must answer',
	});
});

test('what some readers take for the end of a line goes over the wire escaped, and arrives whole', async () => {
	const file = join(tempFolder(), 'lines.py');
	writeFileSync(
		file,
		`import json, sys, speak
for bytes in sys.stdin.buffer:
    [line] = bytes.decode().splitlines()
    request = json.loads(line)
    if request["method"] == "initialize":
        speak.initialized(request)
    elif request["method"] == "after":
        speak.send(id=request["id"], result={"kind": "pass", "note": request["params"]["moment"]["output"]["text"]})
`,
	);
	const text = 'a\u0085b\u2028c\u2029d';
	expect(await consult(hostOf(), file, { moment: { output: { text } } })).toEqual({
		ok: true,
		verdict: { kind: 'pass', note: text },
	});
});
