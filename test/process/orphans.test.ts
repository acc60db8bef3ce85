import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isGone, statOf } from '../../engine/process/groups.ts';
import { endOrphans } from '../../engine/process/orphans.ts';
import { runProcess } from '../../engine/process/spawn-group.ts';

let dir = '';
beforeEach(() => {
	dir = mkdtempSync(join(tmpdir(), 'sdd-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const modulePath = join(import.meta.dirname, '../../engine/process/orphans.ts');
const run = `run-${process.pid}-${Date.now()}`;

/** Leaves a daemon behind that has a session of its own; gives its pid. */
async function daemon(body: string, marker: string): Promise<number> {
	const pidFile = join(dir, 'pid');
	// Not by runProcess, which would end it at once.
	spawnSync('sh', ['-c', `setsid sh -c '${body}' & while ! test -s pid; do :; done`], {
		cwd: dir,
		env: { PATH: process.env['PATH'] ?? '', SDD_RUN_ID: marker },
		stdio: 'ignore',
		timeout: 20_000,
	});
	await isGone(() => statSync(pidFile).size === 0, 5000);
	return Number(readFileSync(pidFile, 'utf8'));
}

const isAlive = (pid: number) => !['Z', 'X', undefined].includes(statOf(pid)?.state);

describe.runIf(process.platform === 'linux')('endOrphans', () => {
	it('ends a daemon that left its group, by the run id in its environment', async () => {
		const pid = await daemon('echo $$ > pid; exec sleep 60', run);
		expect(isAlive(pid)).toBe(true);
		expect(await endOrphans({ SDD_RUN_ID: run }, 300)).toEqual([pid]);
		expect(isAlive(pid)).toBe(false);
	});

	it('kills a daemon that ignores SIGTERM', async () => {
		const pid = await daemon('trap "" TERM; echo $$ > pid; while :; do sleep 0.05; done', run);
		expect(await endOrphans({ SDD_RUN_ID: run }, 50)).toContain(pid);
		expect(isAlive(pid)).toBe(false);
	});

	it('leaves the processes of another run alone, also one whose id begins alike', async () => {
		const other = await daemon('echo $$ > pid; exec sleep 60', `${run}-b`);
		expect(await endOrphans({ SDD_RUN_ID: run }, 50)).toEqual([]);
		expect(isAlive(other)).toBe(true);
		process.kill(other, 'SIGKILL');
	});

	it('never ends the process that looks, nor its ancestors, though they carry the marker', async () => {
		const looker = `
			import { createJiti } from ${JSON.stringify(import.meta.resolve('jiti'))};
			const { endOrphans } = await createJiti(import.meta.url).import(${JSON.stringify(modulePath)});
			console.log(JSON.stringify(await endOrphans({ SDD_RUN_ID: ${JSON.stringify(run)} }, 50)));
		`;
		writeFileSync(join(dir, 'looker.mjs'), looker);
		const end = await runProcess({
			command: ['sh', '-c', `"${process.execPath}" looker.mjs; echo parent lives`],
			cwd: dir,
			env: { PATH: process.env['PATH'] ?? '', SDD_RUN_ID: run },
			stdin: null,
			stdoutPath: join(dir, 'out'),
			stderrPath: join(dir, 'err'),
			timeoutMs: 20_000,
		});
		expect(readFileSync(join(dir, 'err'), 'utf8')).toBe('');
		expect(end.exit).toBe(0);
		expect(readFileSync(join(dir, 'out'), 'utf8')).toBe('[]\nparent lives\n');
	});

	it('with an empty marker ends nobody', async () => {
		expect(await endOrphans({}, 50)).toEqual([]);
	});
});
