/** Kills a process at every single call that changes the disk, and has every single one of them fail. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readBrief } from '../../engine/store/blobs.ts';
import { sweepTemps } from '../../engine/store/durable.ts';
import { sha256 } from '../../engine/store/hash.ts';
import { readHeads } from '../../engine/store/heads.ts';
import { listItems } from '../../engine/store/hil-store.ts';
import { journalDir, runDir, sddDir, stateDir, workflowStateFile } from '../../engine/store/layout.ts';
import { verifyAll } from '../../engine/store/verify.ts';
import { bundleChild } from './children/bundle.ts';
import { BRIEF, ITEM, RUN, scenario, view } from './children/scenario.ts';
import { readJournal } from './rig.ts';

let folder = '';
let program = '';
let preload = '';

beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), 'sdd-'));
	program = await bundleChild('run-scenario', folder);
	preload = await bundleChild('kill-points', folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the scenario with a kill or a failure somewhere; returns what it said was safe. */
function run(project: string, trouble: NodeJS.ProcessEnv): Promise<{ said: readonly string[]; killed: boolean }> {
	const env = { ...process.env, ...trouble };
	return new Promise((resolve, reject) => {
		execFile(process.execPath, ['--import', preload, program, project], { env }, (error, stdout, stderr) => {
			const killed = error?.signal === 'SIGKILL';
			if (error !== null && !killed) reject(new Error(stderr));
			else resolve({ said: stdout.trim().split('\n'), killed });
		});
	});
}

/** Everything that was said to be safe must be there, and nothing may be half. */
async function check(project: string, said: readonly string[]): Promise<void> {
	const { records, head } = await readJournal(journalDir(project, RUN));
	const hashes = new Map(records.map((record) => [record.seq, record.hash]));
	for (const [word, seq, hash] of said.map((line) => line.split(' '))) {
		if (word === 'record') expect(hashes.get(Number(seq))).toBe(hash);
	}
	const { lines, damage } = readHeads(project);
	expect(damage).toBeNull();
	if (said.some((line) => line.startsWith('head')))
		expect(lines.at(-1)).toMatchObject({ seq: head.seq, head: head.hash });
	checkView(project, said);
	checkItem(project, said);
	if (said.includes('brief')) expect(readBrief(runDir(project, RUN), sha256(BRIEF))).toBe(BRIEF);
	const { problems } = verifyAll(project);
	expect(problems).toEqual([]);
}

function checkView(project: string, said: readonly string[]): void {
	const path = workflowStateFile(project);
	const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
	const least = said.includes('view 2') ? 2 : said.includes('view 1') ? 1 : 0;
	expect(['', view(1), view(2)].slice(least)).toContain(text);
}

function checkItem(project: string, said: readonly string[]): void {
	const { items, damaged } = listItems(project);
	expect(damaged).toEqual([]);
	const least = ['resolved', 'acked', 'published'].find((word) => said.includes(word));
	const allowed = { resolved: ['RESOLVED'], acked: ['ACKED', 'RESOLVED'], published: ['PENDING', 'ACKED', 'RESOLVED'] };
	if (least !== undefined) expect(allowed[least as keyof typeof allowed]).toContain(items[0]?.status);
	for (const item of items) expect(item.id).toBe(ITEM.id);
}

/** After a kill the same work can be done again, to the end. */
async function recover(project: string): Promise<void> {
	const said: string[] = [];
	await scenario(project, (what) => said.push(what));
	expect(said.at(-1)).toBe('done');
	await check(project, said);
	for (const dir of everyFolder(sddDir(project))) sweepTemps(dir);
	const temps = everyFolder(sddDir(project)).flatMap((dir) =>
		readdirSync(dir).filter((name) => name.startsWith('.tmp-')),
	);
	expect(temps).toEqual([]);
}

function everyFolder(root: string): readonly string[] {
	const entries = readdirSync(root, { recursive: true, withFileTypes: true });
	return [root, ...new Set(entries.map((entry) => entry.parentPath))];
}

/** How many points to kill at, and how many calls to fail, an undisturbed run has. */
async function countPoints(): Promise<{ readonly points: number; readonly calls: number }> {
	const { said, killed } = await run(join(mkdtempSync(join(folder, 'whole-')), 'project'), {});
	expect(killed).toBe(false);
	expect(said.at(-2)).toBe('done');
	const [, points, calls] = said.at(-1)?.split(' ').map(Number) ?? [];
	return { points: points ?? 0, calls: calls ?? 0 };
}

/** Two at a time, as there are two cores almost everywhere. */
async function forAll(count: number, act: (number: number) => Promise<void>): Promise<void> {
	let next = 1;
	const lane = async () => {
		for (let number = next++; number <= count; number = next++) await act(number);
	};
	await Promise.all([lane(), lane()]);
}

it('a kill at any write point loses nothing that was said to be safe, and leaves nothing half', async () => {
	const { points } = await countPoints();
	expect(points).toBeGreaterThan(100);
	await forAll(points, async (number) => {
		const project = join(folder, `kill-${number}`);
		const { said, killed } = await run(project, { KILL_AT: String(number) });
		expect(killed, `point ${number}`).toBe(true);
		if (existsSync(stateDir(project))) await check(project, said);
		await recover(project);
		rmSync(project, { recursive: true });
	});
	console.log(`killed at ${points} points`);
}, 120_000);

it('a call that fails is reported, and nothing is said to be safe that is not', async () => {
	const { calls } = await countPoints();
	expect(calls).toBeGreaterThan(50);
	let reported = 0;
	await forAll(calls, async (number) => {
		const project = join(folder, `fail-${number}`);
		const errno = number % 2 === 0 ? 'ENOSPC' : 'EIO';
		const { said } = await run(project, { FAIL_AT: String(number), FAIL_WITH: errno });
		expect(said.at(-1), `call ${number}`).toMatch(/^(?:done|failed STORE_(?:DISK_FULL|IO|SYNC_FAILED))$/);
		if (said.at(-1) !== 'done') reported++;
		if (existsSync(stateDir(project))) await check(project, said);
		await recover(project);
		rmSync(project, { recursive: true });
	});
	console.log(`${reported} of ${calls} failing calls reported`);
	// Only bringing the view of an item up to date may fail in silence, and that is done twice: 6 calls each.
	expect(calls - reported).toBeLessThanOrEqual(12);
}, 120_000);
