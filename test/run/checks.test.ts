import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CheckResult } from '../../engine/contract.ts';
import type { CheckPlan } from '../../engine/plan/plan.ts';
import { CHECK_CAP, type CheckPlace, runChecks } from '../../engine/run/checks.ts';
import { maskFile } from '../../engine/store/mask-file.ts';

let dir = '';
beforeEach(() => {
	dir = mkdtempSync(join(tmpdir(), 'sdd-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function aCheck(run: CheckPlan['run'], more: Partial<CheckPlan> = {}): CheckPlan {
	return { name: 'tests', run, required: true, kind: 'tests', timeoutMs: 30_000, ...more };
}

function check(checks: readonly CheckPlan[], more: Partial<CheckPlace> = {}): Promise<readonly CheckResult[]> {
	const place = {
		task: 'implement',
		attempt: 2,
		cwd: dir,
		runDir: join(dir, 'run'),
		env: { SDD_TASK_ID: 'implement' },
	};
	return runChecks(checks, { ...place, signal: new AbortController().signal, graceMs: 200, ...more });
}

const one = async (run: CheckPlan['run'], more: Partial<CheckPlan> = {}) => (await check([aCheck(run, more)]))[0];

describe('a check', () => {
	it('that exits with 0 is ok, with all it wrote in order', async () => {
		expect(await one('echo a; echo b >&2; echo c')).toEqual({
			name: 'tests',
			kind: 'tests',
			required: true,
			ok: true,
			exit: 0,
			output: 'a\nb\nc\n',
			ms: expect.any(Number),
		});
		expect(readFileSync(join(dir, 'run/checks/implement@2/1-tests.txt'), 'utf8')).toBe('a\nb\nc\n');
	});

	it('that exits with anything else is not', async () => {
		expect(await one(['sh', '-c', 'echo bad; exit 4'])).toMatchObject({ ok: false, exit: 4, output: 'bad\n' });
	});

	it('that writes much keeps its beginning and its end', async () => {
		const output = (await one('seq 1 100000'))?.output ?? '';
		expect(output).toMatch(/^1\n2\n3\n/);
		expect(output).toMatch(/\n99999\n100000\n$/);
		expect(output).toContain('\n[... the middle cut by sdd; 588,895 bytes in all]\n');
		expect(output.length).toBeLessThan(CHECK_CAP + 100);
	});

	it('that does not end in time has failed, and says so before what it wrote', async () => {
		expect(await one('echo begun; exec sleep 60', { timeoutMs: 200 })).toMatchObject({
			ok: false,
			exit: null,
			reason: 'did not end within 200ms',
			output: '[sdd: did not end within 200ms]\nbegun',
		});
	});

	it('that is not there has failed, with the reason', async () => {
		expect(await one(['no-such-check'])).toMatchObject({
			ok: false,
			exit: null,
			reason: 'could not be run: "no-such-check" was not found on the PATH',
			output: '[sdd: could not be run: "no-such-check" was not found on the PATH]',
		});
		expect(await one('no-such-check 2>/dev/null')).toMatchObject({
			ok: false,
			exit: 127,
			output: '[sdd: could not be run: the shell found no such command (exit 127)]',
		});
	});

	it('that is killed has failed', async () => {
		expect(await one('kill -9 $$')).toMatchObject({
			ok: false,
			exit: null,
			reason: 'was killed by SIGKILL',
			output: '[sdd: was killed by SIGKILL]',
		});
	});

	it('that floods its output has failed', async () => {
		const result = await one('yes | head -c 70000000');
		expect(result).toMatchObject({ ok: false });
		expect(result?.output).toMatch(/^\[sdd: was ended because it wrote too much\]\ny\n/);
	});

	it('that was cancelled has failed', async () => {
		const [result] = await check([aCheck('true')], { signal: AbortSignal.abort() });
		expect(result).toMatchObject({ ok: false, output: '[sdd: was cancelled]' });
	});

	it('has the whole environment, and cannot approve', async () => {
		process.env['SDD_TEST_PASSED_ON'] = 'yes';
		const result = await one('echo $SDD_TEST_PASSED_ON $SDD_TASK_ID $SDD_AGENT');
		delete process.env['SDD_TEST_PASSED_ON'];
		expect(result?.output).toBe('yes implement 1\n');
	});

	it('has its secrets masked, in its output and on disk', async () => {
		const mask = (path: string) => maskFile(path, ['s3cret-value']);
		const [result] = await check([aCheck('echo s3cret-value')], { mask });
		expect(result?.output).toBe('************\n');
		expect(readFileSync(join(dir, 'run/checks/implement@2/1-tests.txt'), 'utf8')).toBe('************\n');
	});
});

it('checks run one after another, and all of them, whatever one says', async () => {
	const results = await check([
		aCheck('echo 1 > state; exit 1', { name: 'first' }),
		aCheck('cat state', { name: 'a/b ../c', required: false, kind: 'lint' }),
	]);
	expect(results).toMatchObject([
		{ name: 'first', ok: false },
		{ name: 'a/b ../c', ok: true, output: '1\n', required: false, kind: 'lint' },
	]);
});

it('no checks: nothing is run and nothing is written', async () => {
	expect(await check([])).toEqual([]);
});

it('a folder that cannot be made is an error of the store', async () => {
	writeFileSync(join(dir, 'run'), '');
	await expect(check([aCheck('true')])).rejects.toMatchObject({
		code: 'STORE_NOT_A_FOLDER',
		message: `cannot make the folder ${dir}/run/checks/implement@2: a file is in the way of a folder (ENOTDIR)`,
	});
});

it('a check that removes its own output is an error of the store', async () => {
	await expect(check([aCheck('echo x; rm -r run')])).rejects.toMatchObject({
		code: 'STORE_IO',
		message: expect.stringMatching(
			/^cannot read what the check wrote to .*1-tests\.txt: there is no such file or folder/,
		),
	});
});
