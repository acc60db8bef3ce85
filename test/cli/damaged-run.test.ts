/** A run whose journal somebody changed: it is named, and neither hides nor blocks anything else. */
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { coder, makeRig, openItems, type Rig, reviewed, reviewerGoingAt } from '../rig.ts';

/** A run that waits for a person, with one key of its journal misspelt. */
async function damaged(): Promise<Rig> {
	const rig = await makeRig();
	rig.workflow({ agents: { dev: coder, rev: reviewerGoingAt(9) }, tasks: { a: reviewed('a') } });
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
	const path = `.ai-sdd/state/runs/${rig.runs()[0]}/journal/000001.ndjson`;
	rig.write(path, rig.read(path).replace('"questions"', '"questionz"'));
	return rig;
}

describe('a journal with one changed key', () => {
	test('is found and named by audit verify', async () => {
		const rig = await damaged();
		const { code, stdout } = await rig.sdd('audit', 'verify');
		expect(code).toBe(1);
		expect(stdout).toMatch(/journal\/000001\.ndjson, line \d+/);
	});

	test.each([['status'], ['run', 'w.yaml'], ['logs', 'a']])(
		'%s says that it was changed, and what to do',
		async (...args) => {
			const rig = await damaged();
			const { code, stderr } = await rig.sdd(...args);
			expect(code).toBe(1);
			expect(stderr).toContain('[STORE_JOURNAL_DAMAGED]');
			expect(stderr).toContain('sdd audit verify');
			expect(stderr).not.toContain('    at ');
		},
	);

	test('does not hide other runs, and --fresh begins anew', async () => {
		const rig = await damaged();
		const fresh = await rig.sdd('run', 'w.yaml', '--fresh');
		expect(fresh.code).toBe(3);
		expect(fresh.stderr).toContain('is left as it is');
		const { code, stdout } = await rig.sdd('runs');
		expect(code).toBe(0);
		expect(stdout).toContain('damaged: STORE_JOURNAL_DAMAGED');
		expect(stdout).toContain('paused (waiting)');
		expect((await rig.sdd('audit', 'list')).code).toBe(0);
		expect((await rig.sdd('audit', 'verify', rig.runs()[1] ?? '')).code).toBe(0);
	});
});

describe('a journal whose end is not the one that was noted', () => {
	/** Cuts off the last records of the journal of a run that waits for a person; returns how it was and is. */
	async function cut(): Promise<{ rig: Rig; path: string; whole: string; left: string }> {
		const rig = await makeRig();
		rig.workflow({ agents: { dev: coder, rev: reviewerGoingAt(9) }, tasks: { a: reviewed('a') } });
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
		const path = `.ai-sdd/state/runs/${rig.runs()[0]}/journal/000001.ndjson`;
		const whole = rig.read(path);
		const left = `${whole.trimEnd().split('\n').slice(0, -3).join('\n')}\n`;
		rig.write(path, left);
		return { rig, path, whole, left };
	}

	test('is not gone on with, so that a backup can still be restored', async () => {
		const { rig, path, whole } = await cut();
		const { code, stderr } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(1);
		expect(stderr).toMatch(/record \d+, noted at .*Z, is not there: the tail was cut off, or written anew/);
		expect(stderr).toContain('[STORE_JOURNAL_DAMAGED]');
		rig.write(path, whole);
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
		expect((await rig.sdd('audit', 'verify')).code).toBe(0);
	});

	test('is left as it is by --fresh', async () => {
		const { rig, path, left } = await cut();
		const { code, stderr } = await rig.sdd('run', 'w.yaml', '--fresh');
		expect(code).toBe(3);
		expect(stderr).toContain('could not be cancelled: the journal is damaged');
		expect(rig.read(path)).toBe(left);
		expect(rig.runs()).toHaveLength(2);
	});
});

test('no agent is started where the end of its run could not be noted', async () => {
	const rig = await makeRig();
	rig.workflow({ agents: { dev: coder }, tasks: { a: { agent: 'dev', description: 'x' } } });
	await rig.sdd('run', 'w.yaml', '--quiet');
	const heads = '.ai-sdd/state/heads.ndjson';
	rig.write(heads, rig.read(heads).replace('finished', 'finishes'));
	const { code, stderr } = await rig.sdd('run', 'w.yaml', '--fresh');
	expect(code).toBe(1);
	expect(stderr).toContain('heads.ndjson, line 1: its hash does not fit its content [STORE_HEADS_DAMAGED]');
	expect(stderr).toContain('without one, move it away');
	expect(rig.runs()).toHaveLength(1);
	rmSync(`${rig.dir}/${heads}`);
	expect((await rig.sdd('audit', 'verify', '--repair')).code).toBe(0);
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
});

test('nobody decides on a forged question', async () => {
	const rig = await makeRig();
	rig.workflow({ agents: { dev: coder, rev: reviewerGoingAt(9) }, tasks: { a: reviewed('a') } });
	await rig.sdd('run', 'w.yaml');
	const id = (await openItems(rig))[0] ?? '';
	const path = `.ai-sdd/state/hil/${id}.json`;
	rig.write(path, rig.read(path).replace('without a GO', 'with a clear GO'));
	for (const args of [
		['show', id],
		['accept', id],
	]) {
		const { code, stderr } = await rig.sdd('hil', ...args);
		expect(code).toBe(1);
		expect(stderr).toContain('it is not the question that run');
		expect(stderr).toContain('[STORE_HIL_DAMAGED]');
	}
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
	expect((await rig.sdd('hil', 'show', id)).code).toBe(0);
});

test('a paused run whose log was removed is told of by audit verify', async () => {
	const rig = await makeRig();
	rig.workflow({ agents: { dev: coder, rev: reviewerGoingAt(9) }, tasks: { a: reviewed('a') } });
	await rig.sdd('run', 'w.yaml');
	rmSync(`${rig.dir}/.ai-sdd/state/review-logs/a.json`);
	const { code, stdout } = await rig.sdd('audit', 'verify');
	expect(code).toBe(1);
	expect(stdout).toContain('review-logs/a.json');
	expect((await rig.sdd('audit', 'verify', '--repair')).code).toBe(0);
	expect(rig.has('.ai-sdd/state/review-logs/a.json')).toBe(true);
});

test('a round that a person orders is not held to max_attempts', async () => {
	const rig = await makeRig();
	const task = { ...reviewed('a'), max_attempts: 2 };
	rig.workflow({ agents: { dev: coder, rev: reviewerGoingAt(3) }, tasks: { a: task } });
	expect((await rig.sdd('run', 'w.yaml', '--review-max-fix-attempts', '1')).code).toBe(3);
	const id = (await openItems(rig))[0] ?? '';
	await rig.sdd('hil', 'rework', id, '--notes', 'GUIDE ME');
	expect((await rig.sdd('run', 'w.yaml', '--review-max-fix-attempts', '1')).code).toBe(0);
	expect(rig.seen('a.coder.3')).toContain('GUIDE ME');
});

test.each([
	'review-logs/a.json',
	'review-logs/planted.json',
	'workflow-state.json',
	'heads.ndjson',
	'hil/<item>.json',
	'runs/<run>/journal/000001.ndjson',
	'run.holder.json',
])('a pipe in place of %s is waited for by no command', async (name) => {
	const rig = await makeRig();
	rig.workflow({ agents: { dev: coder, rev: reviewerGoingAt(9) }, tasks: { a: reviewed('a') } });
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(3);
	const state = join(rig.dir, '.ai-sdd/state');
	const item = readdirSync(join(state, 'hil')).find((file) => /^hil-[0-9a-f]+\.json$/.test(file)) ?? '';
	const path = join(state, name.replace('<item>.json', item).replace('<run>', rig.runs()[0] ?? ''));
	rmSync(path, { force: true });
	execFileSync('mkfifo', [path]);
	for (const args of [['status'], ['hil', 'list'], ['audit', 'list'], ['audit', 'verify'], ['run', 'w.yaml']]) {
		const { code, stderr } = await rig.sdd(...args);
		expect([0, 1, 3]).toContain(code);
		expect(stderr).not.toContain('    at ');
	}
});
