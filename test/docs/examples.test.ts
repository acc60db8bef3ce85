import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRig, type Rig } from '../rig.ts';
import { type Block, blocksOf, guides, ROOT, read } from './read-docs.ts';

const isWorkflow = ({ language, text, file }: Block): boolean =>
	language === 'yaml' && /^(?:#.*\n|\n)*version: "1"/.test(text) && !(file ?? '').startsWith('.ai-sdd/');

const workflows = guides().flatMap((guide) =>
	blocksOf(guide)
		.filter((block) => isWorkflow(block) && !block.isWrong)
		.map((block) => ({ guide, place: block.place, block })),
);

it('the guides show workflows', () => {
	expect(workflows.length).toBeGreaterThan(5);
});

it.each(workflows)('the workflow in $place is valid', async ({ guide, block }) => {
	const rig = await withFilesOf(guide);
	rig.write('shown.yaml', block.text);
	const { code, stderr } = await rig.sdd('validate', 'shown.yaml');
	expect(stderr.replaceAll(/^.* warning: [\s\S]*?\n\n/gm, '')).toBe('');
	expect(code).toBe(0);
});

/** Commands whose output depends on nothing but the files. */
const REPEATABLE = /^(?:validate|constitution|plan)\b/;

const consoles = guides().flatMap((guide) =>
	blocksOf(guide)
		.filter(({ language }) => language === 'console')
		.flatMap(({ text, place }) => commandsIn(text).map((shown) => ({ guide, place, ...shown })))
		.filter(({ call }) => REPEATABLE.test(call)),
);

it.each(consoles)('sdd $call prints what $place shows', async ({ guide, call, output }) => {
	const rig = await withFilesOf(guide);
	const { stdout, stderr } = await rig.sdd(...call.split(' '));
	expect(`${stderr}${stdout}`.trimEnd()).toBe(output.trimEnd());
});

describe('the overlay of docs/overlays.md', () => {
	it('sends the work back, asks a person, and passes when the person waives', async () => {
		const rig = await withFilesOf('docs/overlays.md');
		const first = await rig.sdd('run', 'licences.yaml');
		expect(first.code).toBe(3);
		expect(first.stdout).toContain('licences: rework no licence (MIT or Apache-2.0) in src/a.ts');
		const { items } = JSON.parse((await rig.sdd('hil', 'list', '--json')).stdout) as {
			items: { id: string; context: { licence_log: object } }[];
		};
		expect(items).toHaveLength(1);
		expect(items[0]?.context.licence_log).toMatchObject({ iterations: [{ decision: 'rework' }, { decision: 'ask' }] });
		await rig.sdd('hil', 'accept', items[0]?.id ?? '', '--by', 'ada');
		expect((await rig.sdd('run', 'licences.yaml')).code).toBe(0);
		expect(rig.json('.ai-sdd/state/licence-logs/write.json')).toMatchObject({
			iterations: [{ iteration: 1 }, { iteration: 2 }],
			decisions: [{ choice: 'accept', decided_by: 'ada' }],
			entries: 3,
			passed: true,
		});
		expect((await rig.sdd('audit', 'verify')).code).toBe(0);
	});

	it('fails the task when the person does not waive', async () => {
		const rig = await withFilesOf('docs/overlays.md');
		await rig.sdd('run', 'licences.yaml');
		const { items } = JSON.parse((await rig.sdd('hil', 'list', '--json')).stdout) as { items: { id: string }[] };
		await rig.sdd('hil', 'reject', items[0]?.id ?? '', '--by', 'ada');
		const { code, stdout } = await rig.sdd('run', 'licences.yaml');
		expect(code).toBe(1);
		expect(stdout).toContain('write failed: licences: ada did not waive the licence');
	});

	it('passes at once when the file names its licence', async () => {
		const rig = await withFilesOf('docs/overlays.md');
		rig.write('replies.yaml', 'write: { files: { src/a.ts: "// SPDX-License-Identifier: MIT\\n" } }\n');
		expect((await rig.sdd('run', 'licences.yaml')).code).toBe(0);
	});

	it('has its options checked by their schema before anything runs', async () => {
		const rig = await withFilesOf('docs/overlays.md');
		rig.write('licences.yaml', rig.read('licences.yaml').replace('allow:', 'alow:'));
		const { code, stderr } = await rig.sdd('run', 'licences.yaml');
		expect(code).toBe(2);
		expect(stderr).toContain('[OVERLAY_OPTION]');
		expect(rig.has('.ai-sdd/state')).toBe(false);
	});
});

it('the scripted demo of docs/agents.md runs as it is shown', async () => {
	const rig = await withFilesOf('docs/agents.md');
	const { code, stdout } = await rig.sdd('run', 'demo.yaml');
	expect(code).toBe(0);
	const shown = blocksOf('docs/agents.md').find(({ text }) => text.startsWith('$ sdd run demo.yaml'))?.text ?? '';
	expect(eventsIn(stdout)).toEqual(eventsIn(shown));
	expect(rig.json('.ai-sdd/state/review-logs/greet.json')['iterations']).toMatchObject([
		{ usage: { cost_usd: null } },
		{ usage: { input_tokens: 1200, output_tokens: 40, cost_usd: 0.004 } },
	]);
});

describe('the scripts of docs/audit.md', () => {
	const canRun = (program: string): boolean => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;

	it.skipIf(!canRun('python3'))('find a sound run sound, and name the record that was changed', async () => {
		const rig = await judgedRun();
		const run = `.ai-sdd/state/runs/${rig.runs()[0]}`;
		const { heads } = JSON.parse((await rig.sdd('audit', 'verify', '--json')).stdout) as { heads: { hash: string }[] };
		const sound = script(rig, 'python3', 'check.py', run);
		expect(sound.stderr).toBe('');
		expect(sound.stdout).toMatch(new RegExp(`^\\d+ records, head ${heads[0]?.hash}\n$`));
		expect(script(rig, 'python3', 'check-log.py', LOG).stdout).toBe('every entry is as it was sealed\n');
		rig.write(LOG, rig.read(LOG).replace('say whom it greets', 'it is fine'));
		expect(script(rig, 'python3', 'check-log.py', LOG).stderr).toContain('AssertionError: changed:');
		const segment = `${run}/journal/000001.ndjson`;
		rig.write(segment, rig.read(segment).replace('wrote a first version', 'wrote a final version'));
		expect(script(rig, 'python3', 'check.py', run).stderr).toMatch(/AssertionError: .*record \d+ was changed/);
	});

	it.skipIf(!canRun('python3'))('find a record that was taken out', async () => {
		const rig = await judgedRun();
		const run = `.ai-sdd/state/runs/${rig.runs()[0]}`;
		const lines = rig.read(`${run}/journal/000001.ndjson`).split('\n');
		rig.write(`${run}/journal/000001.ndjson`, lines.toSpliced(5, 1).join('\n'));
		expect(script(rig, 'python3', 'check.py', run).stderr).toContain('record 6 was moved or removed');
	});

	it.skipIf(!canRun('jq'))('in a shell tell the record that was changed', async () => {
		const rig = await judgedRun();
		const segment = `.ai-sdd/state/runs/${rig.runs()[0]}/journal/000001.ndjson`;
		expect(script(rig, 'sh', 'check.sh', segment).stdout).toBe('every hash fits\n');
		rig.write(segment, rig.read(segment).replace('wrote a first version', 'wrote a final version'));
		expect(script(rig, 'sh', 'check.sh', segment)).toMatchObject({
			status: 1,
			stdout: expect.stringMatching(/^changed: record \d+\n$/),
		});
	});
});

const LOG = '.ai-sdd/state/review-logs/greet.json';

const shipped = readdirSync(join(ROOT, 'workflows')).filter((name) => /\.ya?ml$/.test(name));

it.each(shipped)('workflows/%s tells editors its schema', (name) => {
	const schema = /^# yaml-language-server: \$schema=(\S+)\n/.exec(read(`workflows/${name}`))?.[1];
	expect(schema).toBe('../dist/workflow.schema.json');
});

it.each(shipped)('workflows/%s is valid, without a warning', async (name) => {
	const rig = await makeRig();
	const { code, stderr } = await rig.sddWith({ cwd: ROOT }, 'validate', '--strict', `workflows/${name}`);
	expect(stderr).toBe('');
	expect(code).toBe(0);
});

/** A project with every file that a guide shows. */
async function withFilesOf(guide: string): Promise<Rig> {
	const rig = await makeRig();
	for (const { file, text } of blocksOf(guide)) if (file !== null) rig.write(file, text);
	return rig;
}

async function judgedRun(): Promise<Rig> {
	const rig = await withFilesOf('docs/agents.md');
	for (const { file, text } of blocksOf('docs/audit.md')) if (file !== null) rig.write(file, text);
	await rig.sdd('run', 'demo.yaml');
	return rig;
}

function script(rig: Rig, ...argv: readonly [string, ...string[]]) {
	const [program, ...args] = argv;
	return spawnSync(program, args, { cwd: rig.dir, encoding: 'utf8' });
}

function commandsIn(text: string): readonly { readonly call: string; readonly output: string }[] {
	return text
		.split(/^\$ sdd /m)
		.slice(1)
		.map((part) => ({ call: part.slice(0, part.indexOf('\n')), output: part.slice(part.indexOf('\n') + 1) }));
}

/** The lines that report events, without times and durations. */
function eventsIn(text: string): readonly string[] {
	return [...text.matchAll(/^\d\d:\d\d:\d\d (\S+: .*)$/gm)].map(([, line = '']) =>
		line.replace(/\d+(?:\.\d+)? m?s$/, '…'),
	);
}
