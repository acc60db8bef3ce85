/** Code of the project runs in this process: whatever it does, nothing may look like success that is none. */
import { describe, expect, test } from 'vitest';
import { coder, makeRig, type Rig } from '../rig.ts';

const OVERLAY = (body: string): string => `export default {
	name: 'mine', summary: 'Misbehaves.', hooks: ['after'], options: {},
	create: () => ({ after() { ${body} } }),
};`;

async function judgedBy(body: string): Promise<Rig> {
	const rig = await makeRig();
	rig.write('mine.mjs', OVERLAY(body));
	const overlays = { mine: { enabled: true, use: './mine.mjs' } };
	rig.workflow({ agents: { dev: coder }, tasks: { a: { agent: 'dev', description: 'x', overlays } } });
	return rig;
}

describe('an overlay that ends the process', () => {
	test('while it judges: the command fails, and the run goes on once it is mended', async () => {
		const rig = await judgedBy('process.exit(0)');
		const ended = await rig.sdd('run', 'w.yaml');
		expect(ended.code).toBe(1);
		expect(ended.stderr).toContain('sdd was ended before it was done, perhaps by an overlay that called process.exit');
		rig.write('mine.mjs', OVERLAY(`return { kind: 'pass' }`));
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
	});

	test('while it is loaded: validate fails', async () => {
		const rig = await judgedBy('');
		rig.write('mine.mjs', 'process.exit(0)');
		expect((await rig.sdd('validate', 'w.yaml')).code).toBe(1);
	});

	test('with a code that means something else: the command just fails', async () => {
		const rig = await judgedBy('process.exit(3)');
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(1);
	});

	test('by waiting for what will never come: the command fails', async () => {
		const rig = await judgedBy('');
		rig.write('mine.mjs', 'await new Promise(() => {});');
		const { code, stderr } = await rig.sdd('validate', 'w.yaml');
		expect([code, stderr]).toEqual([1, expect.stringContaining('sdd was ended before it was done')]);
	});
});

describe('an overlay that has failed the task, and', () => {
	const REFUSAL = `return { kind: 'fail', reason: 'no' };`;

	test.each([
		['ends the process a little later', `setTimeout(() => process.exit(0), 30);`],
		['ends it when nothing is left to do', `process.on('beforeExit', () => process.exit(0));`],
		['sets the exit code at the end', `process.on('exit', () => { process.exitCode = 0; });`],
		['ends it again at the end', `process.on('exit', () => process.exit(0));`],
		['throws at the end', `process.on('exit', () => { throw new Error('late'); });`],
		['has put its own exit in the place of ours', `process.exit = process.reallyExit = () => {};`],
		['keeps a timer', 'setInterval(() => {}, 1000);'],
		['keeps a server', `import('node:net').then(({ createServer }) => createServer().listen(0));`],
	])('%s: the command ends with the code of a failed task', async (_, body) => {
		const rig = await judgedBy(`${body} ${REFUSAL}`);
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(1);
	});

	test('fails the suite: its exit code stays that of a failed check', async () => {
		const rig = await makeRig();
		rig.write('speaker.mjs', `process.stdin.on('end', () => process.exit(0)).resume();\nexport default {};\n`);
		const { code, stdout } = await rig.sdd('overlays', 'test', './speaker.mjs');
		expect([code, stdout]).toEqual([1, expect.stringContaining('FAILED')]);
	});
});

test('an overlay that throws while it is looked at is named, whatever it does to the exit code', async () => {
	const rig = await makeRig();
	rig.write(
		'mine.mjs',
		`process.on('exit', () => { process.exitCode = 0; });
Promise.reject(new Error('forgotten'));
await new Promise((resolve) => setTimeout(resolve, 5));
${OVERLAY(`return { kind: 'pass' };`)}`,
	);
	const { code, stderr } = await rig.sdd('overlays', 'describe', './mine.mjs');
	expect([code, stderr]).toEqual([
		1,
		expect.stringContaining('code of an overlay threw outside of a verdict: forgotten'),
	]);
});

test('a reader who takes time gets all of a long output, and the exit code is right', async () => {
	const rig = await judgedBy(`setInterval(() => {}, 1000); return { kind: 'fail', reason: 'x'.repeat(400_000) };`);
	rig.write('slow.mjs', SLOW_READER);
	const wrap = ['sh', '-c', '{ "$@"; echo "$?" > code; } | node slow.mjs', 'sh'];
	const { stdout } = await rig.sddWith({ wrap }, 'run', 'w.yaml', '--json');
	const lines = stdout.trimEnd().split('\n');
	expect(stdout.length).toBeGreaterThan(400_000);
	expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ kind: 'result', exit: 1 });
	expect(rig.read('code')).toBe('1\n');
});

/** Takes a little at a time, and writes it down at the end. */
const SLOW_READER = `import { readSync, writeFileSync } from 'node:fs';
const chunks = [];
for (;;) {
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
	const chunk = Buffer.alloc(4096);
	const size = readSync(0, chunk);
	if (size === 0) break;
	chunks.push(chunk.subarray(0, size));
}
writeFileSync(1, Buffer.concat(chunks));
`;

test('an overlay that throws when nobody listens stops the run in order, and is named', async () => {
	const rig = await judgedBy(`Promise.reject(new Error('forgotten')); return new Promise(() => {});`);
	const { code, stderr } = await rig.sdd('run', 'w.yaml');
	expect(code).toBe(1);
	expect(stderr).toContain('code of an overlay threw outside of a verdict: forgotten [OVERLAY_BROKE_DOWN]');
	expect(rig.events().at(-1)).toMatchObject({ kind: 'run_paused', reason: 'interrupted' });
});

test('what an overlay prints goes to stderr: --json stays a stream of documents', async () => {
	const rig = await judgedBy(`console.log('hello from mine'); return { kind: 'pass' };`);
	const { code, stdout, stderr } = await rig.sdd('run', 'w.yaml', '--json');
	expect(code).toBe(0);
	expect(stderr).toContain('hello from mine');
	for (const line of stdout.trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
});

test('with --json an error is a document on stdout too', async () => {
	const rig = await makeRig();
	const { code, stdout } = await rig.sdd('status', '--json');
	expect(code).toBe(2);
	expect(JSON.parse(stdout)).toMatchObject({ kind: 'error', code: 'RUN_NOT_FOUND', exit: 2 });
});

test.each([
	['run', 'w.yaml'],
	['run', 'w.yaml', '--dry-run'],
	['plan', 'w.yaml'],
	['constitution', '--task', 'a', '--workflow', 'w.yaml'],
])('with --json what is wrong with a file is a document, too: %s %s %s', async (...words) => {
	const rig = await makeRig();
	rig.write('w.yaml', 'version: "1"\ntasks: { a: { agent: dev, description: x } }\n');
	const { code, stdout, stderr } = await rig.sdd(...words, '--json');
	expect(code).toBe(2);
	expect(JSON.parse(stdout)).toMatchObject({
		kind: 'error',
		exit: 2,
		diagnostics: [{ code: 'AGENT_UNKNOWN', line: 2 }],
	});
	expect(stderr).toContain('w.yaml:2:22 error: ');
});

test('--fresh and --frozen together are refused, as are --json and --mermaid', async () => {
	const rig = await judgedBy('');
	const { code, stderr } = await rig.sdd('run', 'w.yaml', '--fresh', '--frozen');
	expect(code).toBe(2);
	expect(stderr).toContain('--fresh and --frozen contradict each other [CLI_USAGE]');
	const plan = await rig.sdd('plan', 'w.yaml', '--json', '--mermaid');
	expect([plan.code, plan.stderr]).toEqual([2, expect.stringContaining('--json and --mermaid contradict each other')]);
});

test('output that cannot be written is told of, and is no success; the work is done all the same', async () => {
	const rig = await judgedBy(`return { kind: 'pass' };`);
	const wrap = ['sh', '-c', '"$@" > /dev/full', 'sh'];
	const { code, stderr } = await rig.sddWith({ wrap }, 'run', 'w.yaml');
	expect([code, stderr]).toEqual([1, 'error: stdout cannot be written (ENOSPC): make room there\n']);
	expect(rig.events().at(-1)).toMatchObject({ kind: 'run_finished', outcome: 'completed' });
	expect((await rig.sddWith({ wrap }, '--help')).code).toBe(1);
});
