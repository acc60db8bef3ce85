/** `sdd audit`: whatever is changed afterwards is found, named, and ends with exit code 1. */
import {
	appendFileSync,
	cpSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { canonical } from '../../engine/store/canonical.ts';
import { sha256 } from '../../engine/store/hash.ts';
import { coder, type Data, type Ended, makeRig, openItems, type Rig, reviewed, reviewerGoingAt } from '../rig.ts';

let kept = '';
afterAll(() => rmSync(kept, { recursive: true, force: true }));

/** A finished run: two reviews, a person's guidance, and a GO. It is made once and copied. */
async function finished(): Promise<Rig> {
	const rig = await makeRig();
	if (kept === '') {
		await finish(rig);
		kept = mkdtempSync(join(tmpdir(), 'sdd-'));
		cpSync(rig.dir, kept, { recursive: true });
	} else cpSync(kept, rig.dir, { recursive: true });
	return rig;
}

async function finish(rig: Rig): Promise<void> {
	rig.workflow({
		agents: { dev: coder, rev: reviewerGoingAt(3) },
		tasks: { build: reviewed('build', { max_iterations: 2 }) },
	});
	await rig.sdd('run', 'w.yaml');
	await rig.sdd('hil', 'rework', (await openItems(rig))[0] ?? '', '--by', 'ann', '--notes', 'once more');
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
}

const verify = (rig: Rig, ...more: readonly string[]): Promise<Ended> => rig.sdd('audit', 'verify', ...more);
const inState = (rig: Rig, path: string): string => join(rig.dir, '.ai-sdd/state', path);
const runFolder = (rig: Rig): string => `runs/${rig.runs()[0]}`;
const journals = (rig: Rig): readonly string[] =>
	readdirSync(inState(rig, `${runFolder(rig)}/journal`)).map((name) => `${runFolder(rig)}/journal/${name}`);

/** Changes the middle letter of the first place where this text stands. */
function flip(path: string, text: string): void {
	const bytes = readFileSync(path);
	const at = bytes.indexOf(text) + (text.length >> 1);
	expect(at).toBeGreaterThan(text.length >> 1);
	bytes[at] = (bytes[at] ?? 0) ^ 1;
	writeFileSync(path, bytes);
}

describe('looking', () => {
	test('list and show tell who judged what, when, on which content', async () => {
		const rig = await finished();
		const list = JSON.parse((await rig.sdd('audit', 'list', '--json')).stdout) as { judged: Data[] };
		expect(list.judged).toMatchObject([
			{ run: rig.runs()[0], task: 'build', overlay: 'agentic_review', status: 'COMPLETED', last: 'GO' },
		]);
		expect((await rig.sdd('audit', 'list')).stdout).toContain('agentic_review');
		const { stdout } = await rig.sdd('audit', 'show', 'build');
		for (const words of [
			'iteration 1: NO_GO, coder dev, reviewer rev at',
			'iteration 3: GO, coder dev, reviewer rev at',
			'on build.txt sha256',
			'decision: rework, by ann (cli)',
			'once more',
			'final decision: GO',
		]) {
			expect(stdout).toContain(words);
		}
		const shown = JSON.parse(
			(await rig.sdd('audit', 'show', 'build', '--run', rig.runs()[0] ?? '', '--json')).stdout,
		) as Data;
		expect(shown).toMatchObject({ task: 'build', status: 'COMPLETED' });
	});

	test('show of an unknown task or run says so', async () => {
		const rig = await finished();
		expect((await rig.sdd('audit', 'show', 'biuld')).stderr).toContain('did you mean "build"?');
		const { code, stderr } = await rig.sdd('audit', 'show', 'build', '--run', 'nope');
		expect(code).toBe(2);
		expect(stderr).toContain('there is no run "nope" [RUN_NOT_FOUND]');
	});

	test('nothing judged yet', async () => {
		const rig = await makeRig();
		expect((await rig.sdd('audit', 'list')).stdout).toBe('nothing was judged yet\n');
		expect((await verify(rig)).code).toBe(0);
	});
});

describe('verifying', () => {
	test('an untouched run is ok, and its head is printed', async () => {
		const rig = await finished();
		const { code, stdout } = await verify(rig);
		expect(code).toBe(0);
		const head = String(rig.events().at(-1)?.['hash']);
		expect(stdout).toContain(`head ${head}`);
		expect((await verify(rig, '--anchor', head)).code).toBe(0);
		expect((await verify(rig, rig.runs()[0] ?? '')).code).toBe(0);
		expect(JSON.parse((await verify(rig, '--json')).stdout)).toMatchObject({ ok: true, problems: [], repaired: [] });
	});

	test('a wrong anchor is a problem, half an anchor a wrong call', async () => {
		const rig = await finished();
		const wrong = await verify(rig, '--anchor', 'a'.repeat(64));
		expect(wrong.code).toBe(1);
		expect(wrong.stdout).toContain('the journal was cut off or written anew since it was noted');
		expect((await verify(rig, '--anchor', 'abc')).code).toBe(2);
	});

	const IN_LOG: readonly (readonly [string, Parameters<typeof inLog>[0]])[] = [
		['a record removed from the review log', (all) => all.slice(1)],
		['records of the review log in another order', (all) => all.toReversed()],
		['the tail of the review log cut off', (all) => all.slice(0, -1)],
	];
	const TAMPERINGS: readonly (readonly [string, (rig: Rig) => string])[] = [
		['a byte of the review log', (rig) => damage(rig, 'review-logs/build.json', (path) => flip(path, 'fix 1'))],
		['a byte of the journal', (rig) => damage(rig, journals(rig)[0] ?? '', (path) => flip(path, '"attempt_started"'))],
		[
			'a hash of the journal',
			(rig) => damage(rig, journals(rig)[1] ?? '', (path) => flip(path, String(rig.events().at(-1)?.['hash']))),
		],
		[
			'a record removed from the journal',
			(rig) =>
				damage(
					rig,
					journals(rig)[0] ?? '',
					lines((all) => all.filter((_, i) => i !== 4)),
				),
		],
		[
			'records put in another order',
			(rig) =>
				damage(
					rig,
					journals(rig)[0] ?? '',
					lines(([a = '', b = '', c = '', d = '', ...rest]) => [a, b, d, c, ...rest]),
				),
		],
		[
			'a head noted twice',
			(rig) =>
				damage(
					rig,
					'heads.ndjson',
					lines((all) => [...all, all.at(-1) ?? '']),
				),
		],
		[
			'a record said twice',
			(rig) =>
				damage(
					rig,
					journals(rig)[0] ?? '',
					lines((all) => [...all.slice(0, 4), all[3] ?? '', ...all.slice(4)]),
				),
		],
		[
			'the last record cut off',
			(rig) =>
				damage(
					rig,
					journals(rig)[1] ?? '',
					lines((all) => all.slice(0, -1)),
					'the tail of the journal was cut off',
				),
		],
		[
			'half of the last record cut off',
			(rig) => damage(rig, journals(rig)[1] ?? '', (path) => truncateSync(path, readFileSync(path).length - 40)),
		],
		[
			'a whole segment removed',
			(rig) => damage(rig, journals(rig)[1] ?? '', (path) => rmSync(path), 'the tail of the journal was cut off'),
		],
		[
			'something written behind the end',
			(rig) => damage(rig, journals(rig)[1] ?? '', (path) => appendFileSync(path, '{"kind":"task_completed"}\n')),
		],
		['the frozen plan', (rig) => damage(rig, `${runFolder(rig)}/plan.json`, (path) => flip(path, 'write build.txt'))],
		['a brief', (rig) => damage(rig, aBrief(rig), (path) => flip(path, 'reviewer'))],
		['a brief removed', (rig) => damage(rig, aBrief(rig), (path) => rmSync(path))],
		['a resolution', (rig) => damage(rig, aResolution(rig), (path) => flip(path, '"ann"'))],
		['the heads', (rig) => damage(rig, 'heads.ndjson', (path) => flip(path, '"finished"'))],
		['the state view', (rig) => damage(rig, 'workflow-state.json', (path) => flip(path, 'COMPLETED'))],
		...IN_LOG.map(([name, change]) => [name, (rig: Rig) => damage(rig, LOG, inLog(change))] as const),
		['the review log removed', (rig) => damage(rig, 'review-logs/build.json', (path) => rmSync(path))],
	];

	test.each(TAMPERINGS)('%s is found and named', async (_name, tamper) => {
		const rig = await finished();
		const named = tamper(rig);
		const { code, stdout, stderr } = await verify(rig);
		expect(stdout).toContain(named);
		expect(stdout).toMatch(/\d+ problems?: /);
		expect(stdout).toContain('remedy: ');
		expect(code).toBe(1);
		expect(stderr).not.toContain('    at ');
	});

	test('--json names the place of a problem', async () => {
		const rig = await finished();
		flip(inState(rig, journals(rig)[0] ?? ''), '"attempt_started"');
		const { ok, problems } = JSON.parse((await verify(rig, '--json')).stdout) as {
			ok: boolean;
			problems: readonly Data[];
		};
		expect(ok).toBe(false);
		expect(problems[0]).toMatchObject({ kind: 'journal', file: `.ai-sdd/state/${journals(rig)[0]}` });
		expect(problems[0]?.['where']).toMatch(/line 4/);
	});

	test('a resolution that was removed is noted: the journal has the decision', async () => {
		const rig = await finished();
		rmSync(inState(rig, aResolution(rig)));
		const { code, stdout } = await verify(rig);
		expect(code).toBe(0);
		expect(stdout).toContain('.resolution.json: the decision is in the journal only');
	});

	test('--repair leaves views alone that may be all that is left of a cut tail', async () => {
		const rig = await finished();
		lines((all) => all.slice(0, -1))(inState(rig, journals(rig)[1] ?? ''));
		const before = rig.read('.ai-sdd/state/workflow-state.json');
		expect((await verify(rig, '--repair')).code).toBe(1);
		expect(rig.read('.ai-sdd/state/workflow-state.json')).toBe(before);
	});

	test('--repair notes no head of a journal that was written anew', async () => {
		const rig = await finished();
		lines((all) => {
			const { hash: _, ...last } = JSON.parse(all.at(-1) ?? '') as { hash: string; at: string };
			const body = canonical({ ...last, at: '2030-01-01T00:00:00.000Z' });
			return [...all.slice(0, -1), `${body.slice(0, -1)},"hash":"${sha256(body)}"}`];
		})(inState(rig, journals(rig)[1] ?? ''));
		const heads = rig.read('.ai-sdd/state/heads.ndjson');
		const { code, stdout } = await verify(rig, '--repair');
		expect(code).toBe(1);
		expect(stdout).toContain('is not the one that was noted: the journal was written anew');
		expect(stdout).not.toContain('repaired');
		expect(rig.read('.ai-sdd/state/heads.ndjson')).toBe(heads);
	});

	test('a journal whose tail was cut and whose heads were cut with it is found by a kept anchor', async () => {
		const rig = await finished();
		const head = String(rig.events().at(-1)?.['hash']);
		lines((all) => all.slice(0, -1))(inState(rig, journals(rig)[1] ?? ''));
		lines((all) => all.slice(0, -1))(inState(rig, 'heads.ndjson'));
		expect((await verify(rig, '--anchor', head)).code).toBe(1);
	});

	test('a removed run is missed', async () => {
		const rig = await finished();
		const [run] = rig.runs();
		rmSync(inState(rig, runFolder(rig)), { recursive: true });
		const { code, stdout } = await verify(rig);
		expect(code).toBe(1);
		expect(stdout).toContain(`run ${run} is missing, though a head of its journal was noted`);
	});

	test('--repair writes views anew from a sound journal, and nothing else', async () => {
		const rig = await finished();
		const good = rig.read('.ai-sdd/state/review-logs/build.json');
		flip(inState(rig, 'review-logs/build.json'), 'fix 2');
		const { code, stdout } = await verify(rig, '--repair');
		expect(code).toBe(0);
		expect(stdout).toContain('repaired: .ai-sdd/state/review-logs/build.json');
		expect(rig.read('.ai-sdd/state/review-logs/build.json')).toBe(good);
		flip(inState(rig, journals(rig)[0] ?? ''), '"attempt_started"');
		const before = readFileSync(inState(rig, journals(rig)[0] ?? ''));
		expect((await verify(rig, '--repair')).code).toBe(1);
		expect(readFileSync(inState(rig, journals(rig)[0] ?? ''))).toEqual(before);
	});

	test('a damaged journal is not built upon', async () => {
		const rig = await makeRig();
		rig.workflow({
			agents: { dev: coder, rev: reviewerGoingAt(9) },
			tasks: { build: reviewed('build', { max_iterations: 1 }) },
		});
		await rig.sdd('run', 'w.yaml');
		flip(inState(rig, journals(rig)[0] ?? ''), '"attempt_started"');
		const { code, stderr } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(1);
		expect(stderr).toContain('[STORE_JOURNAL_DAMAGED]');
		expect(stderr).not.toContain('    at ');
	});

	test('a frozen plan that was changed is not run', async () => {
		const rig = await makeRig();
		rig.workflow({
			agents: { dev: coder, rev: reviewerGoingAt(9) },
			tasks: { build: reviewed('build', { max_iterations: 1 }) },
		});
		await rig.sdd('run', 'w.yaml');
		flip(inState(rig, `${runFolder(rig)}/plan.json`), 'write build.txt');
		const { code, stderr } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(1);
		expect(stderr).toContain('was changed since the run began [RUN_PLAN_DAMAGED]');
	});

	test('a decision that was edited before the run took it up decides nothing', async () => {
		const rig = await makeRig();
		rig.workflow({
			agents: { dev: coder, rev: reviewerGoingAt(9) },
			tasks: { build: reviewed('build', { max_iterations: 1 }) },
		});
		await rig.sdd('run', 'w.yaml');
		const id = (await openItems(rig))[0] ?? '';
		await rig.sdd('hil', 'reject', id);
		const path = `.ai-sdd/state/hil/${id}.resolution.json`;
		rig.write(path, rig.read(path).replace('"reject"', '"accept"'));
		const { code, stderr } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(1);
		expect(stderr).toContain('its hash does not fit its content [STORE_HIL_DAMAGED]');
		expect(rig.events().some(({ kind }) => kind === 'task_completed')).toBe(false);
		const audit = await verify(rig);
		expect(audit.code).toBe(1);
		expect(audit.stdout).toContain(path);
	});

	test('a forged resolution decides nothing', async () => {
		const rig = await makeRig();
		rig.workflow({
			agents: { dev: coder, rev: reviewerGoingAt(9) },
			tasks: { build: reviewed('build', { max_iterations: 1 }) },
		});
		await rig.sdd('run', 'w.yaml');
		const id = (await openItems(rig))[0] ?? '';
		const forged = {
			item: id,
			item_sha256: '0'.repeat(64),
			choice: 'accept',
			by: 'x',
			via: 'cli',
			notes: null,
			at: '2026-01-01T00:00:00.000Z',
		};
		const hash = sha256(canonical(forged));
		rig.write(`.ai-sdd/state/hil/${id}.resolution.json`, JSON.stringify({ ...forged, hash }));
		const { code, stderr } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(1);
		expect(stderr).toContain('it was made for another question than this item asks [STORE_HIL_DAMAGED]');
		expect(rig.events().some(({ kind }) => kind === 'task_completed')).toBe(false);
	});
});

/** Does the damage and gives back what must be named: the file, or for a cut tail what became of it. */
function damage(rig: Rig, path: string, how: (path: string) => void, named: string = path): string {
	how(inState(rig, path));
	return named;
}

/** Rewrites a file line by line. */
function lines(change: (all: readonly string[]) => readonly string[]): (path: string) => void {
	return (path) => {
		const all = readFileSync(path, 'utf8').trimEnd().split('\n');
		writeFileSync(
			path,
			change(all)
				.map((line) => `${line}\n`)
				.join(''),
		);
	};
}

const LOG = 'review-logs/build.json';

/** Rewrites the iterations of the review log, one a line, and leaves all else of it as it is. */
function inLog(change: (all: readonly string[]) => readonly string[]): (path: string) => void {
	const isOne = (line: string): boolean => line.startsWith('    {"iteration":');
	return lines((all) => {
		const kept = change(all.filter(isOne).map((line) => line.replace(/,$/, '')));
		const from = all.findIndex(isOne);
		return [...all.slice(0, from), kept.join(',\n'), ...all.slice(all.findLastIndex(isOne) + 1)];
	});
}

function aBrief(rig: Rig): string {
	const folder = `${runFolder(rig)}/briefs`;
	const names = readdirSync(inState(rig, folder));
	const name = names.find((one) =>
		readFileSync(inState(rig, `${folder}/${one}`), 'utf8').includes('You are the reviewer'),
	);
	return `${folder}/${name}`;
}

function aResolution(rig: Rig): string {
	return `hil/${readdirSync(inState(rig, 'hil')).find((name) => name.endsWith('.resolution.json'))}`;
}
