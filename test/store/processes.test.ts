/** Several processes at once: one decision per item, and a process that was asleep cannot come back. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listItems, publishItem, readItem } from '../../engine/store/hil-store.ts';
import { openJournal } from '../../engine/store/journal.ts';
import { ensureState } from '../../engine/store/state-folder.ts';
import { bundleChild } from './children/bundle.ts';
import { itemOf, readJournal, said } from './rig.ts';

let folder = '';
let resolve = '';
let append = '';

beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), 'sdd-'));
	resolve = await bundleChild('resolve', folder);
	append = await bundleChild('append', folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Child = ChildProcessByStdio<Writable, Readable, null>;

function start(...args: string[]): Child {
	return spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
}

const PROCESSES = 12;
const ITEMS = 40;

it('12 processes deciding the same items: every item has exactly one winner, and all others are told who', async () => {
	const project = join(folder, 'queue');
	ensureState(project);
	for (let i = 0; i < ITEMS; i++) publishItem(project, itemOf(`hil-${i}`));
	const lines = await decideAll(project);
	const winners = lines.filter((line) => line.startsWith('won '));
	const losers = lines.filter((line) => line.startsWith('HIL_ALREADY_RESOLVED '));
	expect(new Set(winners).size).toBe(ITEMS);
	expect(winners).toHaveLength(ITEMS);
	expect(losers).toHaveLength(ITEMS * (PROCESSES - 1));
	const { items, damaged } = listItems(project);
	expect(damaged).toEqual([]);
	for (const line of losers) {
		const { choice, by, at } = readItem(project, line.split(' ')[1] ?? '').resolution ?? {};
		expect(line).toContain(`is already decided: "${choice}" by ${by} (cli) at ${at}`);
	}
	for (const item of items) expect(item.status).toBe(item.resolution?.choice === 'reject' ? 'REJECTED' : 'RESOLVED');
});

/** Starts all, lets them go at the same moment, and collects what they say. */
async function decideAll(project: string): Promise<readonly string[]> {
	const children = Array.from({ length: PROCESSES }, (_, i) => start(resolve, project, `p${i}`, String(ITEMS)));
	const lines: string[] = [];
	let ready = 0;
	const ended = children.map(async (child) => {
		for await (const line of createInterface({ input: child.stdout })) {
			lines.push(line);
			if (line === 'ready' && ++ready === PROCESSES) for (const each of children) each.stdin.end();
		}
	});
	await Promise.all(ended);
	return lines;
}

it('a process that was stopped while another took over acknowledges nothing when it wakes up', async () => {
	const dir = join(folder, 'journal');
	const child = start(append, dir, 'sleeper', '20000', '500');
	const acknowledged: string[] = [];
	let error = '';
	try {
		for await (const line of createInterface({ input: child.stdout })) {
			const [word, , , hash = ''] = line.split(' ');
			if (word === 'error') error = line;
			if (word === 'ack') acknowledged.push(hash);
			if (acknowledged.length === 20) await whileStopped(child, () => takeOver(dir));
		}
	} finally {
		child.kill('SIGKILL');
	}
	expect(error).toBe('error STORE_FENCED');
	const hashes = new Set((await readJournal(dir)).records.map((record) => record.hash));
	// Also what it had acknowledged before it was stopped and we heard of only later.
	for (const hash of acknowledged) expect(hashes.has(hash)).toBe(true);
});

async function whileStopped(child: Child, act: () => Promise<void>): Promise<void> {
	child.kill('SIGSTOP');
	await act();
	child.kill('SIGCONT');
}

async function takeOver(dir: string): Promise<void> {
	const { writer } = openJournal(dir, { version: 'test' });
	await writer.append([said('taken over')]);
	await writer.close();
}
