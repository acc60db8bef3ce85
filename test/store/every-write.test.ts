/** Kills a process before, in the middle of and after every single call that changes the disk. */
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
import { readJournal } from '../../engine/store/read-journal.ts';
import { verifyAll } from '../../engine/store/verify.ts';
import { bundleChild } from './children/bundle.ts';
import { BRIEF, ITEM, RUN, scenario, view } from './children/scenario.ts';

let folder = '';
let program = '';
let preload = '';

beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), 'sdd-'));
	program = await bundleChild('run-scenario', folder);
	preload = await bundleChild('kill-points', folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the scenario until the given point; returns what it said was safe. */
function runUntil(project: string, killAt: number): Promise<{ said: readonly string[]; killed: boolean }> {
	const env = { ...process.env, KILL_AT: String(killAt) };
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

it('a kill at any write point loses nothing that was said to be safe, and leaves nothing half', async () => {
	const { said, killed } = await runUntil(join(folder, 'whole'), 0);
	expect(killed).toBe(false);
	const points = Number(said.at(-1)?.split(' ')[1]);
	expect(points).toBeGreaterThan(100);
	let next = 1;
	const lane = async () => {
		for (let at = next++; at <= points; at = next++) await killAt(at);
	};
	await Promise.all([lane(), lane()]);
	console.log(`${points} write points`);
}, 120_000);

async function killAt(at: number): Promise<void> {
	const project = join(folder, `at-${at}`);
	const { said, killed } = await runUntil(project, at);
	expect(killed, `point ${at}`).toBe(true);
	if (existsSync(stateDir(project))) await check(project, said);
	await recover(project);
	rmSync(project, { recursive: true });
}
