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
});

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

test('--fresh and --frozen together are refused', async () => {
	const rig = await judgedBy('');
	const { code, stderr } = await rig.sdd('run', 'w.yaml', '--fresh', '--frozen');
	expect(code).toBe(2);
	expect(stderr).toContain('--fresh and --frozen contradict each other [CLI_USAGE]');
});
