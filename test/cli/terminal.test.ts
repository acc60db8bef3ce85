/** On a terminal (a real one, made by script(1)): the live view, and questions to the one who sits there. */
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../engine/store/hash.ts';
import {
	type CallOptions,
	coder,
	commanded,
	type Data,
	makeRig,
	openItems,
	type Rig,
	type Started,
	shell,
} from '../rig.ts';

const hasScript = spawnSync('script', ['--version']).status === 0;
const plain = (more: Data = {}): Data => ({ agent: 'dev', description: 'x', ...more });

/** Starts the command on a terminal of its own. */
function onTerminal(rig: Rig, args: readonly string[], env: CallOptions['env'] = {}): Started {
	const wrap = ['bash', '-c', 'exec script -qec "$(printf "%q " "$@")" /dev/null', 'bash'];
	return rig.start(args, { wrap, typed: true, env: { TERM: 'xterm', ...env } });
}

describe.skipIf(!hasScript)('on a terminal', () => {
	test('the live view says who is at work, and is gone at the end', async () => {
		const rig = await makeRig();
		rig.workflow({ agents: { dev: commanded() }, tasks: { a: plain(), b: plain({ depends_on: ['a'] }) } });
		const run = onTerminal(rig, ['run', 'w.yaml']);
		const work = await rig.call('a/coder', run);
		await run.printed('0/2 done · a (dev');
		work.answer();
		const next = await rig.call('b/coder', run);
		await run.printed('1/2 done · b (dev');
		next.answer();
		const { code, stdout } = await run.ended;
		expect(code).toBe(0);
		expect(stdout.slice(stdout.lastIndexOf('2 done') - 20)).not.toContain('\u001b[2K');
		expect(stdout).toMatch(/w: 2 done\r\nrun \S+, journal head [0-9a-f]{64}\r\n$/);
	});

	test('a run that goes on counts what was done before', async () => {
		const rig = await makeRig();
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain(), b: plain({ depends_on: ['a'] }) } });
		await rig.sdd('run', 'w.yaml', '--step');
		const { stdout } = await onTerminal(rig, ['run', 'w.yaml']).ended;
		expect(stdout).toContain('1/2 done · b (dev');
		expect(stdout).not.toContain('0/2 done');
	});

	test('NO_COLOR takes the colours away, --plain and TERM=dumb the live view as well', async () => {
		const rig = await makeRig();
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain() } });
		const colour = /\u001b\[[0-9;]*m/;
		expect((await onTerminal(rig, ['run', 'w.yaml']).ended).stdout).toMatch(colour);
		expect((await onTerminal(rig, ['run', 'w.yaml'], { NO_COLOR: '1' }).ended).stdout).not.toMatch(colour);
		expect((await onTerminal(rig, ['run', 'w.yaml'], { TERM: 'dumb' }).ended).stdout).not.toContain('\u001b');
		expect((await onTerminal(rig, ['run', 'w.yaml', '--plain']).ended).stdout).not.toContain('\u001b');
	});

	test('diagnostics have colours where they are read, not where they are kept', async () => {
		const rig = await makeRig();
		rig.write('bad.yaml', 'version: "2"\n');
		const wrap = ['bash', '-c', 'exec script -qec "sh to.sh $(printf "%q " "$@")" /dev/null', 'bash'];
		const to = (where: string): Started => {
			rig.write('to.sh', `"$@" ${where}`);
			return rig.start(['validate', 'bad.yaml'], { wrap, typed: true, env: { TERM: 'xterm' } });
		};
		await to('2> kept').ended;
		expect(rig.read('kept')).toContain('bad.yaml:1:11 error: unknown version');
		expect((await to('> kept').ended).stdout).toContain('bad.yaml:1:11 \u001b[31merror\u001b[0m: unknown version');
	});

	test('--step asks before each task but the first, after all that happened before was said', async () => {
		const rig = await makeRig();
		rig.workflow({
			agents: { dev: coder },
			tasks: { a: plain(), b: plain({ depends_on: ['a'] }), c: plain({ depends_on: ['b'] }) },
		});
		const run = onTerminal(rig, ['run', 'w.yaml', '--step']);
		await run.printed('next: b. Go on? [Y/n]');
		run.child.stdin?.write('y\n');
		await run.printed('next: c. Go on? [Y/n]');
		run.child.stdin?.write('n\n');
		const { code, stdout } = await run.ended;
		expect(code).toBe(4);
		expect(stdout.indexOf('done')).toBeLessThan(stdout.indexOf('next: b'));
		expect([rig.has('b.txt'), rig.has('c.txt')]).toEqual([true, false]);
	});

	test('a changed workflow is asked about: go on, begin anew, or stop', async () => {
		const rig = await makeRig();
		const overlays = { hil: { enabled: true } };
		const tasks = { a: plain({ overlays }) };
		rig.workflow({ agents: { dev: coder }, tasks });
		await rig.sdd('run', 'w.yaml');
		for (const [typed, code, runs] of [
			['s', 2, 1],
			['g', 3, 1],
			['a', 3, 2],
		] as const) {
			rig.workflow({ agents: { dev: shell(`true ${typed}`) }, tasks });
			const run = onTerminal(rig, ['run', 'w.yaml']);
			await run.printed('Go on with the plan it began with [g], begin anew [a], or stop [s]?');
			run.child.stdin?.write(`${typed}\n`);
			expect((await run.ended).code).toBe(code);
			expect(rig.runs()).toHaveLength(runs);
		}
	});

	test('an overlay that was never run here is asked about once: it starts only after a yes', async () => {
		const rig = await makeRig();
		const use = './.ai-sdd/overlays/mine.mjs';
		const define =
			"name: 'mine', summary: '', hooks: ['after'], options: {}, create: () => ({ after: () => ({ kind: 'pass' }) })";
		rig.write(
			use,
			`import { writeFileSync } from 'node:fs';\nwriteFileSync('started', '');\nexport default { ${define} };\n`,
		);
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain({ overlays: { mine: { enabled: true, use } } }) } });
		for (const [typed, code] of [
			['n', 2],
			['', 2],
			['y', 0],
		] as const) {
			const run = onTerminal(rig, ['run', 'w.yaml'], { SDD_TRUST_OVERLAYS: '' });
			await run.printed('Start it? [y/N]');
			expect(rig.has('started')).toBe(false);
			run.child.stdin?.write(`${typed}\n`);
			const { code: exit, stdout } = await run.ended;
			expect(exit).toBe(code);
			expect(stdout).toContain(`the overlay ${use} was never run on this machine`);
			expect(stdout).toContain(`has the sha256 ${sha256(rig.read(use))}`);
			expect([rig.has('started'), rig.runs().length]).toEqual(code === 0 ? [true, 1] : [false, 0]);
		}
		const again = await onTerminal(rig, ['run', 'w.yaml'], { SDD_TRUST_OVERLAYS: '' }).ended;
		expect(again.code).toBe(0);
		expect(again.stdout).not.toContain('Start it?');
	});

	test.each([
		['validate', 'w.yaml'],
		['overlays', 'list'],
		['overlays', 'describe', '.ai-sdd/overlays/mine.mjs'],
	])('with --json nobody is asked by %s %s', async (...args) => {
		const rig = await makeRig();
		rig.write('.ai-sdd/overlays/mine.mjs', 'export default {};\n');
		const overlays = { mine: { enabled: true, use: './.ai-sdd/overlays/mine.mjs' } };
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain({ overlays }) } });
		const { code, stdout } = await onTerminal(rig, [...args, '--json'], { SDD_TRUST_OVERLAYS: '' }).ended;
		expect(code).toBe(args[1] === 'list' ? 1 : 2);
		expect(stdout).toMatch(/^\{[\s\S]*was never run on this machine/);
		expect(stdout).not.toContain('Start it?');
	});

	test('a decision made there says so', async () => {
		const rig = await makeRig();
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain({ overlays: { hil: { enabled: true } } }) } });
		await rig.sdd('run', 'w.yaml');
		const id = (await openItems(rig))[0] ?? '';
		expect((await onTerminal(rig, ['hil', 'accept', id]).ended).code).toBe(0);
		expect(rig.json(`.ai-sdd/state/hil/${id}.resolution.json`)).toMatchObject({ via: 'tty' });
	});

	test('Ctrl-C at a question ends the run as it does elsewhere', async () => {
		const rig = await makeRig();
		rig.workflow({ agents: { dev: coder }, tasks: { a: plain(), b: plain({ depends_on: ['a'] }) } });
		const run = onTerminal(rig, ['run', 'w.yaml', '--step']);
		await run.printed('Go on? [Y/n]');
		run.child.stdin?.write('\u0003');
		expect((await run.ended).code).toBe(130);
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
	});
});
