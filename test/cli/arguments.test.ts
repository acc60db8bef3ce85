/** The command line itself: help, wrong calls, exit codes; every command of the table. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../cli/command-table.ts';
import { coder, makeRig, type Rig, reviewed, reviewerGoingAt } from '../rig.ts';

const { version } = JSON.parse(readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8')) as {
	version: string;
};

describe('help and version', () => {
	test('--version, -V', async () => {
		const rig = await makeRig();
		for (const option of ['--version', '-V'])
			expect(await rig.sdd(option)).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
	});

	test('--help, -h, help and nothing at all list every command', async () => {
		const rig = await makeRig();
		for (const args of [['--help'], ['-h'], ['help'], []]) {
			const { code, stdout, stderr } = await rig.sdd(...args);
			expect([code, stderr]).toEqual([0, '']);
			for (const { name, summary } of COMMANDS) {
				expect(stdout).toContain(`  ${name}`);
				expect(stdout).toContain(summary);
			}
		}
	});

	test('every command has its own help, with every argument and option, and touches nothing', async () => {
		const rig = await makeRig();
		const before = rig.tree();
		const texts = await Promise.all(COMMANDS.map(({ name }) => rig.sdd(...name.split(' '), '--help')));
		for (const [index, { name, arguments: positionals, options }] of COMMANDS.entries()) {
			const { code, stdout } = texts[index] ?? { code: null, stdout: '' };
			expect(code).toBe(0);
			expect(stdout).toContain(`Usage: sdd ${[name, ...positionals].join(' ')}`);
			for (const option of options)
				expect(stdout).toContain(`--${option.name}${option.value === undefined ? '' : ` <${option.value}>`}`);
		}
		expect(rig.tree()).toEqual(before);
	});

	test('a group has help too; sdd help takes a command', async () => {
		const rig = await makeRig();
		expect((await rig.sdd('hil', '--help')).stdout).toContain('hil takeover <id>');
		expect((await rig.sdd('help', 'audit', 'verify')).stdout).toContain('--anchor <hash>');
	});
});

describe('a wrong call ends with exit code 2 and says what was meant', () => {
	test.each([
		[['rnu', 'w.yaml'], 'unknown command "rnu" [CLI_UNKNOWN_COMMAND]', 'did you mean "sdd run"?'],
		[['frobnicate'], 'unknown command "frobnicate"', 'there are: run, plan'],
		[['hil'], '"sdd hil" needs a command', 'hil list'],
		[['hil', '--all'], '"sdd hil" needs a command', 'hil list'],
		[['hil', 'acept', 'x'], 'unknown command "hil acept"', 'did you mean "sdd hil accept"?'],
		[['audit', 'verfy'], 'unknown command "audit verfy"', 'did you mean "sdd audit verify"?'],
		[['run'], 'sdd run: <workflow.yaml> is missing [CLI_USAGE]', 'usage: sdd run <workflow.yaml> [options]'],
		[['run', 'a', 'b'], 'unexpected argument "b"', 'usage'],
		[['run', 'a', '--frsh'], 'unknown option "--frsh"; did you mean --fresh?', 'see sdd run --help'],
		[['run', 'a', '-x'], 'unknown option "-x"', 'usage'],
		[['run', 'a', '--task'], '--task needs a value: --task <id>', 'usage'],
		[['run', 'a', '--task='], '--task needs a value', 'usage'],
		[['run', 'a', '--fresh=yes'], '--fresh takes no value', 'usage'],
		[['run', 'a', '--quiet', '--quiet'], '--quiet is given twice', 'usage'],
		[['run', 'w.yaml', '--max-parallel', '0'], '--max-parallel needs a whole number from 1 to 256, not "0"', 'usage'],
		[['run', 'w.yaml', '--max-parallel', '257'], 'from 1 to 256, not "257"', 'usage'],
		[['run', 'w.yaml', '--max-parallel', 'many'], 'not "many"', 'usage'],
		[
			['run', 'w.yaml', '--review-max-fix-attempts', '-1'],
			'--review-max-fix-attempts needs a whole number from 0 to 999',
			'usage',
		],
		[['hil', 'show'], 'sdd hil show: <id> is missing', 'usage'],
		[['hil', 'decide', 'x'], 'sdd hil decide: <choice> is missing', 'usage'],
		[['logs'], 'sdd logs: <task> is missing', 'usage'],
		[['schema', '--plain'], 'unknown option "--plain"', 'usage'],
		[['validate'], 'there is no workflow in workflows/', 'name the files'],
		[['status'], 'there is no run in', 'sdd run <workflow.yaml>'],
		[['status', 'nope'], 'there is no run "nope"', 'sdd runs'],
		[['logs', 'x'], 'there is no run in', 'sdd run'],
		[['constitution', '--task', 'x'], '--task needs a workflow, and there is no run yet', '--workflow'],
	])('%j', async (args, what, remedy) => {
		const rig = await makeRig();
		rig.workflow({ agents: { dev: coder }, tasks: { a: { agent: 'dev', description: 'x' } } });
		const { code, stdout, stderr } = await rig.sdd(...args);
		expect(stderr).toContain(what);
		expect(stderr).toContain(remedy);
		expect(stderr).not.toContain('    at ');
		expect([code, stdout]).toEqual([2, '']);
	});

	test('what stands after -- is no option', async () => {
		const rig = await makeRig();
		const { code, stderr } = await rig.sdd('run', '--', '--help');
		expect(code).toBe(2);
		expect(stderr).toContain('--help');
		expect(stderr).toContain('WORKFLOW_NOT_FOUND');
	});
});

describe('--json', () => {
	async function project(): Promise<Rig> {
		const rig = await makeRig();
		rig.workflow({
			agents: { dev: coder, rev: reviewerGoingAt(9) },
			tasks: { a: reviewed('a', { max_iterations: 1 }) },
		});
		await rig.sdd('run', 'w.yaml');
		return rig;
	}

	test('prints one document on stdout, for every command that has it', async () => {
		const rig = await project();
		const { items } = JSON.parse((await rig.sdd('hil', 'list', '--json')).stdout) as { items: { id: string }[] };
		const id = items[0]?.id ?? '';
		const words: { [argument: string]: string } = {
			'<workflow.yaml>': 'w.yaml',
			'<task>': 'a',
			'<id>': id,
			'<choice>': 'accept',
			'[paths…]': 'w.yaml',
		};
		const called: string[] = [];
		for (const { name, arguments: positionals, options } of COMMANDS) {
			if (name === 'run' || !options.some((option) => option.name === 'json')) continue;
			const args = positionals.flatMap((argument) => words[argument] ?? []);
			const { stdout } = await rig.sdd(...name.split(' '), ...args, '--json');
			// Only the first decision about the item is taken; the others say so on stderr.
			if (stdout === '') expect(['hil rework', 'hil takeover', 'hil reject', 'hil decide']).toContain(name);
			else expect(typeof JSON.parse(stdout)).toBe('object');
			called.push(name);
		}
		expect(called.length).toBeGreaterThan(12);
	});
});

test('a reader that goes away is no reason to complain', async () => {
	const rig = await makeRig();
	const pipe = ['bash', '-c', '"$@" | head -c 1; exit $PIPESTATUS', 'bash'];
	const { code, stderr } = await rig.sddWith({ wrap: pipe }, 'schema');
	expect([0, 141]).toContain(code);
	expect(stderr).toBe('');
});

test('the command works from a folder below the project', async () => {
	const rig = await makeRig();
	rig.workflow({ agents: { dev: coder }, tasks: { a: { agent: 'dev', description: 'x' } } }, 'sub/w.yaml');
	expect((await rig.sddWith({ cwd: `${rig.dir}/sub` }, 'run', 'w.yaml')).code).toBe(0);
	expect(rig.has('a.txt')).toBe(true);
	expect(rig.has('sub/.ai-sdd')).toBe(false);
	expect((await rig.sddWith({ cwd: `${rig.dir}/sub` }, 'status')).stdout).toContain('COMPLETED');
});

test('a folder that was removed under the shell is named as what is wrong', async () => {
	const rig = await makeRig();
	const wrap = ['sh', '-c', 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', 'sh'];
	for (const args of [['status'], ['run', 'w.yaml'], ['hil', 'list']]) {
		const { code, stderr } = await rig.sddWith({ wrap }, ...args);
		expect(code).toBe(2);
		expect(stderr).toContain('the folder you are in cannot be read (ENOENT): it may have been removed [CLI_USAGE]');
	}
});
