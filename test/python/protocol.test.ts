/** The schema of the protocol against real traffic, the documentation's examples, and the host's own checks. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { ALLOWED_VERDICTS, HOOKS, type Hook, type VerdictKind } from '../../engine/contract.ts';
import { checkedVerdict } from '../../engine/hosts/checked-verdict.ts';
import { MAX_LINE_BYTES } from '../../engine/hosts/json-lines.ts';
import { RESTARTS, START_TIMEOUT_MS } from '../../engine/hosts/overlay-process.ts';
import { PROTOCOL, problemWithHandshake } from '../../engine/hosts/protocol.ts';
import { verdictFromWire } from '../../engine/hosts/wire.ts';
import { GRACE_MS } from '../../engine/process/groups.ts';
import { MAX_OUTPUT_BYTES } from '../../engine/process/spawn-group.ts';
import { type Data, makeRig, ndjson, shell } from '../rig.ts';
import { hasPython } from './has-python.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const schema = JSON.parse(readFileSync(join(root, 'schema/overlay-protocol.schema.json'), 'utf8')) as Data;
const ajv = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true }).addSchema(schema, 'protocol');

/** What is wrong with a value, by a definition of the schema; null if nothing is. */
function wrong(definition: string, value: unknown): unknown {
	return ajv.validate(`protocol#/definitions/${definition}`, value) ? null : ajv.errors;
}

/** Does everything that an overlay can do. */
const TALKATIVE = `
from sdd_overlay import *

overlay = Overlay("talkative", summary="says everything", order=40, log=Log("talks", "talk", ["iteration"]))

@overlay.before
def before(moment):
    return passed("go on", brief="Be kind.")

@overlay.failed
def failed(moment):
    return rework("it crashed: " + moment.failure.reason)

@overlay.after
def after(moment, options, call):
    call.log("judging " + moment.task.id)
    call.progress("half")
    if options.get("sleep"):
        call.sleep(1000)
    if options.get("throw"):
        raise ValueError("no good")
    if moment.attempt == 2:
        return rework("not yet", findings=[Finding("high", "too short", file="a.txt", line=1)], record={"iteration": moment.iteration})
    if "opinion" not in moment.answers:
        return ask(Question("opinion", "agent:rev", "Is it good?", review_id="r1"), Question("other", "agent:broken", "And you?"))
    if "may" not in moment.answers:
        return ask(Question("may", "human", "May it go?", choices=["accept", "reject"], trigger="legal", context={"n": 1}))
    return fail("it may not", code="NOT_ALLOWED")

if __name__ == "__main__":
    overlay.serve()
`;

describe.runIf(hasPython)('the schema of the protocol', () => {
	it('fits all that is said in a real run', async () => {
		const rig = await makeRig();
		rig.write('.ai-sdd/overlays/talkative.py', TALKATIVE);
		const tapped = 'tee -a ../to.ndjson | python3 .ai-sdd/overlays/talkative.py | tee -a ../from.ndjson';
		const overlay = (more: Data): Data => ({
			talkative: { enabled: true, use: { command: ['sh', '-c', tapped] }, ...more },
		});
		const task = {
			agent: 'dev',
			description: 'write a.txt',
			outputs: ['a.txt'],
			checks: [{ name: 'there', run: 'cat a.txt' }],
		};
		rig.workflow({
			agents: {
				dev: shell('[ "$SDD_TASK_ID.$SDD_ATTEMPT" = a.1 ] && exit 1', 'echo "$SDD_ATTEMPT" > a.txt'),
				rev: shell('echo yes'),
				broken: shell('exit 1'),
			},
			tasks: {
				a: { ...task, overlays: overlay({}) },
				b: {
					agent: 'dev',
					description: 'b',
					overlays: overlay({ timeout: '300ms', on_error: 'warn', options: { sleep: true } }),
				},
				c: { agent: 'dev', description: 'c', overlays: overlay({ options: { throw: true } }) },
			},
		});
		await rig.sdd('run', 'w.yaml', '--max-parallel', '1');
		const items = JSON.parse((await rig.sdd('hil', 'list', '--json')).stdout) as { items: readonly { id: string }[] };
		await rig.sdd('hil', 'accept', items.items[0]?.id ?? '', '--by', 'ann', '--notes', 'why not');
		await rig.sdd('run', 'w.yaml');
		// The log that it declares is kept, shown to the person, and audited without starting the overlay.
		expect(rig.json('.ai-sdd/state/talks/a.json')).toMatchObject({ iterations: [{ iteration: 1 }] });
		expect(rig.json(`.ai-sdd/state/hil/${items.items[0]?.id}.json`)).toMatchObject({
			context: { n: 1, talk: { overlay: 'talkative', iterations: [{ iteration: 1 }] } },
		});
		rig.write('.ai-sdd/overlays/talkative.py', 'import sys; sys.exit(1)');
		expect((await rig.sdd('audit', 'verify')).code).toBe(0);
		const to = ndjson(readFileSync(join(rig.outer, 'to.ndjson'), 'utf8'));
		const from = ndjson(readFileSync(join(rig.outer, 'from.ndjson'), 'utf8'));
		for (const message of to) expect(wrong('fromHost', message), JSON.stringify(message)).toBeNull();
		for (const message of from) expect(wrong('fromOverlay', message), JSON.stringify(message)).toBeNull();
		const methods = new Set(to.map(({ method }) => method));
		expect([...methods].sort()).toEqual(['$/cancel', 'after', 'before', 'failed', 'initialize', 'shutdown']);
		const kinds = new Set(from.map((one) => one['method'] ?? (one['result'] as Data | undefined)?.['kind']));
		for (const kind of ['$/progress', 'log', 'pass', 'rework', 'ask', 'fail']) expect(kinds).toContain(kind);
		const codes = from.flatMap(({ error }) => (error === undefined ? [] : [(error as Data)['code']]));
		expect(new Set(codes)).toEqual(new Set([-32800, -32000]));
		const answers = to.flatMap(({ params }) => Object.values(((params as Data)['moment'] as Data)?.['answers'] ?? {}));
		expect(answers.some((answer) => answer.failed !== undefined)).toBe(true);
		expect(answers.some((answer) => answer.notes === 'why not' && answer.item !== undefined)).toBe(true);
	});
});

describe('the schema of the protocol', () => {
	it('says what the host says of verdicts', async () => {
		const cases = JSON.parse(readFileSync(join(root, 'python/tests/verdicts.json'), 'utf8')) as readonly {
			readonly why: string;
			readonly ok: boolean;
			readonly hook?: Hook;
			readonly verdict: Data | null;
		}[];
		for (const { why, ok, hook = 'after', verdict } of cases) {
			expect(wrong(`verdict${hook.charAt(0).toUpperCase()}${hook.slice(1)}`, verdict) === null, why).toBe(ok);
			const consulted = await checkedVerdict(hook, verdictFromWire(verdict));
			const isAllowed = ALLOWED_VERDICTS[hook].includes(verdict?.['kind'] as VerdictKind);
			expect(consulted.ok && isAllowed, why).toBe(ok);
		}
	});

	it('says what the host says of handshakes', () => {
		const good = { protocol: PROTOCOL.max, name: 'n', hooks: ['after'] };
		const cases: readonly (readonly [boolean, unknown])[] = [
			[true, good],
			[
				true,
				{
					...good,
					version: '1',
					summary: '',
					options: {},
					order: 1.5,
					conflicts_with: ['a'],
					agents: ['rev'],
					watches: [],
				},
			],
			[true, { ...good, log: { folder: 'my-logs', name: 'my_log', members: ['iteration'] } }],
			[true, { ...good, later: 'more' }],
			[false, null],
			[false, []],
			[false, { ...good, protocol: '1' }],
			[false, { ...good, name: '' }],
			[false, { ...good, hooks: [] }],
			[false, { ...good, hooks: ['during'] }],
			[false, { ...good, version: 1 }],
			[false, { ...good, options: true }],
			[false, { ...good, order: 'first' }],
			[false, { ...good, conflicts_with: 'a' }],
			[false, { ...good, agents: [1] }],
			[false, { ...good, log: { folder: '../x', name: 'n' } }],
			[false, { ...good, log: { folder: 'runs', name: 'n' } }],
			[false, { ...good, log: { folder: 'x', name: '' } }],
			[false, { ...good, log: { folder: 'x', name: 'n', members: [1] } }],
			[false, { ...good, log: 'x' }],
		];
		for (const [ok, handshake] of cases) {
			expect(wrong('handshake', handshake) === null, JSON.stringify(handshake)).toBe(ok);
			expect(problemWithHandshake(handshake) === null, JSON.stringify(handshake)).toBe(ok);
		}
	});

	it('and the host says in words what is wrong with a log', () => {
		const problem = (log: unknown): string | null =>
			problemWithHandshake({ protocol: PROTOCOL.max, name: 'n', hooks: ['after'], log });
		expect(problem('x')).toBe('"log" must be an object');
		expect(problem({ folder: 'runs', name: 'n' })).toBe('its log cannot lie in the folder "runs"');
		expect(problem({ folder: 'x' })).toBe('"log.name" must be a text');
		expect(problem({ folder: 'x', name: 'n', members: 'm' })).toBe('"log.members" must be a list of names');
	});

	it('names the hooks of the contract', () => {
		const { consult, handshake } = schema['definitions'] as { readonly [name: string]: { readonly properties: Data } };
		expect(consult?.properties['method']).toEqual({ enum: HOOKS });
		expect(handshake?.properties['hooks']).toMatchObject({ items: { enum: HOOKS } });
	});
});

describe('docs/protocol.md', () => {
	const text = readFileSync(join(root, 'docs/protocol.md'), 'utf8');

	it('shows only messages that fit the schema', () => {
		const lines = text.split('\n').filter((line) => /^(→|←) \{/.test(line));
		expect(lines.length).toBeGreaterThan(10);
		for (const line of lines)
			expect(wrong(line.startsWith('→') ? 'fromHost' : 'fromOverlay', JSON.parse(line.slice(2))), line).toBeNull();
	});

	it('names every message', () => {
		for (const name of ['initialize', ...HOOKS, '$/cancel', '$/progress', 'log', 'shutdown'])
			expect(text).toContain(`### \`${name}\``);
	});

	it('gives the limits of the host, which are those of the Python side too', () => {
		const mib = (bytes: number): string => `${bytes / 1024 / 1024} MiB`;
		expect(text).toContain(`| answer to \`initialize\` | ${START_TIMEOUT_MS / 1000} s after the start |`);
		expect(text).toContain(`| answer after \`$/cancel\` | ${GRACE_MS / 1000} s |`);
		expect(text).toContain(`| exit after \`shutdown\` or the end of stdin | ${GRACE_MS / 1000} s |`);
		expect(text).toContain(`| a line | ${mib(MAX_LINE_BYTES)} |`);
		expect(text).toContain(`(${MAX_LINE_BYTES.toLocaleString('en')} bytes)`);
		expect(text).toContain(`| stderr | ${mib(MAX_OUTPUT_BYTES)} |`);
		expect(text).toContain(`| a crash, or an exit | ${RESTARTS} more starts in a run |`);
		const python = readFileSync(join(root, 'python/sdd_overlay/_serve.py'), 'utf8');
		expect(python).toContain(`MAX_LINE_BYTES = ${MAX_LINE_BYTES / 1024 / 1024} * 1024 * 1024\n`);
	});
});
