/** Kills writers at random moments: whatever they said was safe must be there afterwards. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JournalRecord } from '../../engine/events.ts';
import { openJournal } from '../../engine/store/journal.ts';
import { bundleChild } from './children/bundle.ts';

const KILLS = Number(process.env.SDD_CRASH_KILLS ?? 200);
/** Reading back costs more the longer a journal gets, so a new one is begun after this many kills. */
const KILLS_PER_JOURNAL = 5;
const AT_ONCE = 2;

let folder = '';
let program = '';

beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), 'sdd-'));
	program = await bundleChild('append', folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the parent was told: by number of the record, its hash and what it began with. */
type Ledger = Map<number, { readonly hash: string; readonly label: string }>;

/** Starts a writer, kills it at some random moment, and notes what it acknowledged. */
async function killedWriter(dir: string, name: string, ledger: Ledger): Promise<void> {
	const child = spawn(process.execPath, [program, dir, name], { stdio: ['ignore', 'pipe', 'inherit'] });
	const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('close', (_, signal) => resolve(signal)));
	const moment = randomMoment();
	const seen = { open: 0, writing: 0, ack: 0 };
	for await (const line of createInterface({ input: child.stdout })) {
		const [word = '', label = '', seq, hash = ''] = line.split(' ');
		if (word in seen) seen[word as keyof typeof seen]++;
		if (word === moment.word && seen[moment.word] === moment.count) {
			void delay(Math.random() * moment.within).then(() => child.kill('SIGKILL'));
		}
		if (word === 'ack' && hash.length === 64) ledger.set(Number(seq), { hash, label });
	}
	expect(await ended).toBe('SIGKILL');
}

/** Half the kills come at any time; the other half just when a record is about to be written, where they can tear it. */
function randomMoment(): { readonly word: 'open' | 'writing'; readonly count: number; readonly within: number } {
	if (Math.random() < 0.5) return { word: 'open', count: 1, within: 40 };
	return { word: 'writing', count: Math.random() < 0.5 ? 2 : 4, within: 6 };
}

interface Outcome {
	kills: number;
	acknowledged: number;
	torn: number;
}

/** Opening verifies the whole chain; then every acknowledged record must be where it was said to be. */
async function reopen(dir: string, ledger: Ledger, outcome: Outcome): Promise<void> {
	const found = new Map<number, { readonly hash: string; readonly label: string }>();
	const onRecord = (record: JournalRecord) => {
		const label = record.kind === 'warning' ? (record.message.split(' ')[0] ?? '') : '';
		found.set(record.seq, { hash: record.hash, label });
	};
	const { writer, notes } = openJournal(dir, { version: 'test', onRecord });
	await writer.close();
	for (const [seq, acknowledged] of ledger) expect(found.get(seq)).toEqual(acknowledged);
	outcome.torn += notes.filter((note) => note.kind === 'torn').length;
}

async function crashOneJournal(name: string, kills: number, outcome: Outcome): Promise<void> {
	const dir = join(folder, name);
	const ledger: Ledger = new Map();
	for (let i = 0; i < kills; i++) {
		await killedWriter(dir, `${name}-${i}`, ledger);
		await reopen(dir, ledger, outcome);
		outcome.kills++;
	}
	outcome.acknowledged += ledger.size;
	rmSync(dir, { recursive: true });
}

it(`${KILLS} kills lose no acknowledged record and break no chain`, { timeout: 60_000 + KILLS * 1000 }, async () => {
	const outcome: Outcome = { kills: 0, acknowledged: 0, torn: 0 };
	let next = 0;
	const journals = Math.ceil(KILLS / KILLS_PER_JOURNAL);
	const isEnough = () => next >= journals && (outcome.torn > 0 || next >= 3 * journals);
	const lane = async () => {
		while (!isEnough()) await crashOneJournal(`journal-${next++}`, KILLS_PER_JOURNAL, outcome);
	};
	await Promise.all(Array.from({ length: AT_ONCE }, lane));
	console.log(`${outcome.kills} kills, ${outcome.acknowledged} acknowledged, 0 lost, ${outcome.torn} torn tails`);
	expect(outcome.kills).toBeGreaterThanOrEqual(KILLS);
	expect(outcome.acknowledged).toBeGreaterThan(0);
	// Without any, the test would not have tested what it is for.
	expect(outcome.torn).toBeGreaterThanOrEqual(1);
});
