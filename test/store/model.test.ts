/** The store against a model of it, an array and a map, through random histories. */
import { mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SddError } from '../../engine/errors.ts';
import { listItems, publishItem, readItem, resolveItem } from '../../engine/store/hil-store.ts';
import { openJournal } from '../../engine/store/journal.ts';
import type { JournalWriter } from '../../engine/store/journal-writer.ts';
import { journalDir } from '../../engine/store/layout.ts';
import { listSegments, segmentPath } from '../../engine/store/segments.ts';
import { ensureState } from '../../engine/store/state-folder.ts';
import { verifyAll } from '../../engine/store/verify.ts';
import { decision, itemOf, readJournal, said, textsOf } from './rig.ts';

interface Model {
	texts: string[];
	readonly decided: Map<string, string>;
	readonly asked: Set<string>;
}

interface Real {
	readonly project: string;
	readonly dir: string;
	writer: JournalWriter;
}

type Step =
	| { readonly kind: 'append'; readonly texts: readonly string[] }
	| { readonly kind: 'crash'; readonly texts: readonly string[]; readonly keep: number }
	| { readonly kind: 'take_over'; readonly late: string }
	| { readonly kind: 'reopen' }
	| { readonly kind: 'ask'; readonly item: string }
	| { readonly kind: 'decide'; readonly item: string; readonly choice: 'approve' | 'reject' };

const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.constant('x'.repeat(3000)));
const item = fc.constantFrom('hil-a', 'hil-b', 'hil-c');
const step: fc.Arbitrary<Step> = fc.oneof(
	{
		weight: 4,
		arbitrary: fc.record({ kind: fc.constant('append' as const), texts: fc.array(text, { maxLength: 4 }) }),
	},
	{
		weight: 3,
		arbitrary: fc.record({
			kind: fc.constant('crash' as const),
			texts: fc.array(text, { minLength: 1, maxLength: 3 }),
			keep: fc.double({ min: 0, max: 1, noNaN: true }),
		}),
	},
	fc.record({ kind: fc.constant('take_over' as const), late: text }),
	fc.record({ kind: fc.constant('reopen' as const) }),
	fc.record({ kind: fc.constant('ask' as const), item }),
	fc.record({
		kind: fc.constant('decide' as const),
		item,
		choice: fc.constantFrom('approve' as const, 'reject' as const),
	}),
);

it('any history of appends, crashes, take-overs and decisions reads back as the model says', { timeout: 120_000 }, () =>
	fc.assert(
		fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
			const project = mkdtempSync(join(tmpdir(), 'sdd-'));
			try {
				await playAll(project, steps);
			} finally {
				rmSync(project, { recursive: true, force: true });
			}
		}),
		{ numRuns: Number(process.env.SDD_MODEL_RUNS ?? 150) },
	),
);

async function playAll(project: string, steps: readonly Step[]): Promise<void> {
	ensureState(project);
	const dir = journalDir(project, 'run-1');
	const real: Real = { project, dir, writer: openJournal(dir, { version: 'test' }).writer };
	const model: Model = { texts: [], decided: new Map(), asked: new Set() };
	for (const each of steps) await play(each, real, model);
	await real.writer.close();
	expect(textsOf((await readJournal(dir)).records)).toEqual(model.texts);
	expect(verifyAll(project).problems.filter((problem) => problem.kind !== 'hil')).toEqual([]);
	const states = new Map(listItems(project).items.map((each) => [each.id, each.resolution?.choice]));
	expect(states).toEqual(new Map([...model.asked].map((id) => [id, model.decided.get(id)])));
}

async function play(each: Step, real: Real, model: Model): Promise<void> {
	switch (each.kind) {
		case 'append':
			await real.writer.append(each.texts.map(said));
			model.texts.push(...each.texts);
			return;
		case 'crash':
			return crash(each.texts, each.keep, real, model);
		case 'take_over':
			return takeOver(each.late, real, model);
		case 'reopen':
			await real.writer.close();
			return reopen(real, model);
		case 'ask':
			publishItem(real.project, itemOf(each.item));
			model.asked.add(each.item);
			return;
		case 'decide':
			return decide(each.item, each.choice, real, model);
	}
}

/** The last batch reaches the disk only up to some byte, and nobody is told that it is safe. */
async function crash(texts: readonly string[], keep: number, real: Real, model: Model): Promise<void> {
	const path = segmentPath(real.dir, listSegments(real.dir).at(-1) ?? 0);
	const before = statSync(path).size;
	await real.writer.append(texts.map(said));
	await real.writer.close();
	truncateSync(path, before + Math.floor((statSync(path).size - before) * keep));
	const { records } = await readJournal(real.dir);
	const kept = textsOf(records).slice(model.texts.length);
	expect(kept).toEqual(texts.slice(0, kept.length));
	model.texts.push(...kept);
	reopen(real, model);
}

async function takeOver(late: string, real: Real, model: Model): Promise<void> {
	const old = real.writer;
	reopen(real, model);
	await expect(old.append([said(late)])).rejects.toMatchObject({ code: 'STORE_FENCED' });
	await old.close();
}

function reopen(real: Real, model: Model): void {
	const { records, writer } = openJournal(real.dir, { version: 'test' });
	expect(textsOf(records)).toEqual(model.texts);
	real.writer = writer;
}

function decide(id: string, choice: string, real: Real, model: Model): void {
	const code = !model.asked.has(id) ? 'HIL_NOT_FOUND' : model.decided.has(id) ? 'HIL_ALREADY_RESOLVED' : null;
	try {
		resolveItem(real.project, id, decision(choice));
		expect(code).toBeNull();
		model.decided.set(id, choice);
	} catch (error) {
		if (!(error instanceof SddError)) throw error;
		expect(error.code).toBe(code);
	}
	if (model.asked.has(id)) expect(readItem(real.project, id).resolution?.choice).toBe(model.decided.get(id));
}
