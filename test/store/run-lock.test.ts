import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holderFile, lockDir } from '../../engine/store/layout.ts';
import { isAlive, startOf } from '../../engine/store/process-alive.ts';
import { acquireRunLock } from '../../engine/store/run-lock.ts';
import { ensureState } from '../../engine/store/state-folder.ts';
import { bundleChild } from './children/bundle.ts';
import { rejectionOf, temporaryFolders } from './rig.ts';

const newFolder = temporaryFolders();
const NOW = new Date('2026-11-18T08:00:00Z');
const DEAD_PID = 2 ** 30;
let folder = '';
let program = '';

beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), 'sdd-'));
	program = await bundleChild('hold-lock', folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const take = (project: string) => acquireRunLock(project, { onLost: () => {}, run: 'run-2', now: NOW });

/** A process that holds the lock of the project. */
async function holder(project: string): Promise<ChildProcess> {
	const child = spawn(process.execPath, [program, project], { stdio: ['pipe', 'pipe', 'inherit'] });
	await once(child.stdout, 'data');
	return child;
}

describe('the lock of a run', () => {
	it('is taken, says who holds it, and can be taken again after its release', async () => {
		const project = newFolder();
		const lock = await take(project);
		expect(lock.holder).toEqual({
			pid: process.pid,
			host: hostname(),
			start: startOf(process.pid),
			run: 'run-2',
			since: NOW.toISOString(),
		});
		expect(JSON.parse(readFileSync(holderFile(project), 'utf8'))).toEqual(lock.holder);
		await lock.release();
		expect(existsSync(lockDir(project))).toBe(false);
		expect(existsSync(holderFile(project))).toBe(false);
		await (await take(project)).release();
	});

	it('is refused while another process holds it, naming that process', async () => {
		const project = newFolder();
		const child = await holder(project);
		const error = await rejectionOf(take(project));
		expect(error.code).toBe('RUN_LOCKED');
		expect(error.exit).toBe(1);
		expect(error.message).toMatch(
			new RegExp(
				`^another sdd run is at work in this project: process ${child.pid} on ${hostname()}, since .+Z \\(run run-1\\)$`,
			),
		);
		expect(error.remedy).toBe(`wait until it ends, or end it with \`kill ${child.pid}\` and run the command again`);
		child.stdin?.end();
		await once(child, 'exit');
		await (await take(project)).release();
	});

	it('is refused to the same process as well', async () => {
		const project = newFolder();
		const lock = await take(project);
		expect((await rejectionOf(take(project))).code).toBe('RUN_LOCKED');
		await lock.release();
	});

	it('is taken over at once from a process that was killed', async () => {
		const project = newFolder();
		const child = await holder(project);
		child.kill('SIGKILL');
		await once(child, 'exit');
		expect(existsSync(lockDir(project))).toBe(true);
		const lock = await take(project);
		expect(lock.holder.pid).toBe(process.pid);
		expect(lock.left).toBe('run-1');
		await lock.release();
		const next = await take(project);
		expect(next.left).toBeNull();
		await next.release();
	});

	it('goes to one only of several that find a dead holder', async () => {
		const project = newFolder();
		leaveBehind(project, { pid: DEAD_PID, start: null });
		const results = await Promise.allSettled([take(project), take(project), take(project)]);
		const won = results.filter((result) => result.status === 'fulfilled');
		expect(won).toHaveLength(1);
		for (const result of won) await result.value.release();
	});

	it('is not mistaken for held when its process id belongs to another process by now', async () => {
		const project = newFolder();
		leaveBehind(project, { pid: process.pid, start: '1' });
		await (await take(project)).release();
	});

	it('is honoured when its holder is on another host, or unknown, until it is stale', async () => {
		const project = newFolder();
		leaveBehind(project, { pid: DEAD_PID, start: null, host: 'elsewhere' });
		expect((await rejectionOf(take(project))).message).toContain(`process ${DEAD_PID} on elsewhere`);
		rmSync(holderFile(project));
		const error = await rejectionOf(take(project));
		expect(error.message).toBe('another sdd run is at work in this project: another process');
		expect(error.remedy).toBe('wait until it ends; if there is none, the lock frees itself within 10 seconds');
		utimesSync(lockDir(project), new Date(0), new Date(0));
		await (await take(project)).release();
	});

	it('is freed when its process ends without giving it back', async () => {
		const project = newFolder();
		const child = await holder(project);
		child.kill('SIGTERM');
		await once(child, 'exit');
		await (await take(project)).release();
	});

	it('says that it slipped away, and can still be released then', async () => {
		const project = newFolder();
		let tell: (reason: Error) => void = () => {};
		const lost = new Promise<Error>((resolve) => {
			tell = resolve;
		});
		const lock = await acquireRunLock(project, { onLost: (reason) => tell(reason) });
		rmSync(lockDir(project), { recursive: true });
		expect(await lost).toBeInstanceOf(Error);
		await lock.release();
		expect(existsSync(holderFile(project))).toBe(false);
	});

	function leaveBehind(project: string, holder: { pid: number; start: string | null; host?: string }): void {
		ensureState(project);
		mkdirSync(lockDir(project));
		const left = { host: hostname(), run: null, since: '2026-11-18T07:00:00.000Z', ...holder };
		writeFileSync(holderFile(project), JSON.stringify(left));
	}
});

describe('a process', () => {
	it('is alive, or it is not', () => {
		expect(isAlive(process.pid)).toBe(true);
		expect(isAlive(DEAD_PID)).toBe(false);
		expect(startOf(DEAD_PID)).toBeNull();
	});

	it.runIf(process.platform === 'linux')(
		'is not alive when it was killed and nobody has asked how it ended',
		async () => {
			// What the shell started is the child of a `sleep` then, which asks nothing.
			const parent = spawn('/bin/sh', ['-c', 'sleep 1000 & echo $!; exec sleep 1000'], {
				stdio: ['ignore', 'pipe', 'ignore'],
			});
			const [line] = (await once(parent.stdout, 'data')) as [Buffer];
			const pid = Number(line.toString());
			expect(isAlive(pid)).toBe(true);
			// Until then it is the shell's, which would ask.
			while (readFileSync(`/proc/${parent.pid}/comm`, 'utf8') !== 'sleep\n') await new Promise(setImmediate);
			process.kill(pid, 'SIGKILL');
			while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve));
			expect(existsSync(`/proc/${pid}`)).toBe(true);
			parent.kill('SIGKILL');
		},
	);

	it.runIf(process.platform === 'linux')('is told from a later one with its id by when it started', () => {
		expect(startOf(process.pid)).toMatch(/^\d+$/);
		expect(startOf(process.pid)).toBe(startOf(process.pid));
	});
});
