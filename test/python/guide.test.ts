/** What docs/python.md shows works as it stands there. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { blocksOf, ROOT } from '../docs/read-docs.ts';
import { makeRig, openItems } from '../rig.ts';
import { hasPython } from './has-python.ts';

const blocks = blocksOf('docs/python.md').flatMap(({ file, text }) => (file === null ? [] : [{ file, text }]));

it('docs/python.md shows the example of the package, and its test', () => {
	for (const name of ['licences.py', 'test_licences.py']) {
		const shown = blocks.find(({ file }) => file === `.ai-sdd/overlays/${name}`);
		expect(shown?.text).toBe(readFileSync(join(ROOT, 'python/examples', name), 'utf8'));
	}
});

it.runIf(hasPython)(
	'the overlay of docs/python.md sends work back, asks a person, and passes when the person waives',
	async () => {
		const rig = await makeRig();
		for (const { file, text } of blocks) rig.write(file, text);
		const first = await rig.sdd('run', 'licences.yaml');
		expect(first.stdout).toContain('licences: rework a.py mentions GPL');
		expect(first.code).toBe(3);
		const [item = ''] = await openItems(rig);
		await rig.sdd('hil', 'accept', item, '--by', 'ann');
		const second = await rig.sdd('run', 'licences.yaml');
		expect(second.stdout).toContain('licences: pass waived by ann');
		expect(second.code).toBe(0);
		const tests = spawnSync('python3', ['-m', 'unittest', 'discover', '-s', '.ai-sdd/overlays'], {
			cwd: rig.dir,
			env: { ...process.env, PYTHONPATH: join(ROOT, 'python') },
			encoding: 'utf8',
		});
		expect(tests.stderr).toMatch(/\nOK\n$/);
	},
);

it.runIf(hasPython)(
	'the overlay at failed of docs/python.md gives another attempt after a timeout, and only one',
	async () => {
		const rig = await makeRig();
		for (const { file, text } of blocks) rig.write(file, text);
		const overlays = { second_wind: { enabled: true, use: './.ai-sdd/overlays/second_wind.py' } };
		const task = { agent: 'dev', description: 'x', timeout: '200ms', max_attempts: 3, overlays };
		rig.workflow({ agents: { dev: { run: ['sleep', '60'] } }, tasks: { a: task } });
		const { code, stdout } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(1);
		expect(stdout).toContain('second_wind: rework You were stopped');
		expect(rig.events().filter(({ kind }) => kind === 'attempt_started')).toHaveLength(2);
	},
);

it.runIf(hasPython)('an unknown option is a diagnostic, located in the workflow', async () => {
	const rig = await makeRig();
	for (const { file, text } of blocks) rig.write(file, text.replace('forbid: [GPL, AGPL]', 'forbit: [GPL]'));
	const { code, stderr, stdout } = await rig.sdd('validate', 'licences.yaml');
	expect(code).toBe(2);
	expect(stderr + stdout).toMatch(/licences\.yaml:\d+:\d+ error: .*forbit/);
});
