/** What can be wrong with a Python overlay before it says anything, through the real command. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRig, type Rig, shell } from '../rig.ts';
import { hasPython } from './has-python.ts';

const OVERLAY = `
from sdd_overlay import Overlay, passed

overlay = Overlay("judge", summary="judges")

@overlay.after
def judge(moment):
    return passed("fine")

if __name__ == "__main__":
    overlay.serve()
`;

async function project(source: string | null = OVERLAY): Promise<Rig> {
	const rig = await makeRig();
	if (source !== null) rig.write('.ai-sdd/overlays/judge.py', source);
	rig.workflow({
		agents: { dev: shell('echo done') },
		tasks: {
			a: {
				agent: 'dev',
				description: 'do it',
				overlays: { judge: { enabled: true, use: './.ai-sdd/overlays/judge.py' } },
			},
		},
	});
	return rig;
}

/** A folder on the PATH with a \`python3\` that is a script: it notes each call, then becomes the real one. */
function shim(rig: Rig, folder: string): string {
	const real = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
	const path = join(rig.outer, folder);
	mkdirSync(path, { recursive: true });
	for (const name of ['python3', 'python']) {
		writeFileSync(join(path, name), `#!/bin/sh\necho "$@" >> '${rig.outer}/calls'\nexec '${real}' "$@"\n`);
		chmodSync(join(path, name), 0o755);
	}
	return path;
}

const calls = (rig: Rig): readonly string[] => readFileSync(join(rig.outer, 'calls'), 'utf8').trim().split('\n');

describe.runIf(hasPython)('a Python overlay', () => {
	it('that does not parse is told of at load, with what Python said', async () => {
		const rig = await project('def judge(:\n');
		for (const command of ['validate', 'run']) {
			const { code, stdout, stderr } = await rig.sdd(command, 'w.yaml');
			expect(code).toBe(2);
			expect(stdout + stderr).toMatch(/it could not be started with \/\S+: its process exited with code 1/);
			expect(stdout + stderr).toContain('judge.py", line 1');
			expect(stdout + stderr).toContain('SyntaxError');
			expect(stdout + stderr).toContain('remedy: ');
		}
		expect(rig.runs()).toEqual([]);
	});

	it('that is not there is told of at load', async () => {
		const rig = await project(null);
		const { code, stderr } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(2);
		expect(stderr).toContain('the module "./.ai-sdd/overlays/judge.py" of overlay "judge" does not exist');
	});

	it('that imports what is not installed is told of at load', async () => {
		const rig = await project('import no_such_package\n');
		const { code, stderr } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(2);
		expect(stderr).toContain("No module named 'no_such_package'");
	});

	it('that never serves is told of at load', async () => {
		const rig = await project(OVERLAY.replace('overlay.serve()', 'pass'));
		const { code, stderr } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(2);
		expect(stderr).toContain('its process exited with code 0');
	});

	it('prints what it likes', async () => {
		const rig = await project(
			`print("while loading")\n${OVERLAY.replace('return', 'print("while judging")\n    return')}`,
		);
		expect(await rig.sddWith({ env: { PYTHONUNBUFFERED: '1' } }, 'run', 'w.yaml')).toMatchObject({ code: 0 });
		const folder = `.ai-sdd/state/runs/${rig.runs()[0]}/overlays`;
		const said = rig.read(`${folder}/1-ai-sdd-overlays-judge-py.stderr.txt`);
		expect(said).toContain('while judging');
		expect(said).toContain('while loading');
	});

	it('that throws fails the task with its traceback', async () => {
		const rig = await project(OVERLAY.replace('return passed("fine")', 'raise KeyError("licence")'));
		const { code, stdout, stderr } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(1);
		expect(stdout + stderr).toContain("KeyError: 'licence'");
		// The line that people read first ends with their own file and line.
		const line = stdout.split('\n').find((one) => one.includes('[OVERLAY_BROKE_DOWN]')) ?? '';
		expect(line).toMatch(
			/failed: judge: it answered with an error: KeyError: 'licence'; .*judge\.py", line 8, in judge/,
		);
		expect(line).toMatch(/raise KeyError\("licence"\).* KeyError: 'licence' \[OVERLAY_BROKE_DOWN\]$/);
		const [failed] = rig.events().filter(({ kind }) => kind === 'task_failed');
		expect(failed).toMatchObject({ code: 'OVERLAY_BROKE_DOWN' });
		expect(rig.leftovers()).toEqual([]);
	});

	it('without a Python on the machine is told of at load, with what to install', async () => {
		const rig = await project();
		mkdirSync(join(rig.outer, 'nothing'));
		for (const command of ['validate', 'run']) {
			const { code, stdout, stderr } = await rig.sddWith(
				{ env: { PATH: join(rig.outer, 'nothing') } },
				command,
				'w.yaml',
			);
			expect(code).toBe(2);
			expect(stdout + stderr).toContain(
				'there is no Python on this machine: neither .venv in the project nor python3 on the PATH',
			);
			expect(stdout + stderr).toContain('remedy: install Python 3.9 or later');
		}
	});
});

describe.runIf(hasPython)('the interpreter', () => {
	it('is the one of the project, before all others', async () => {
		const rig = await project();
		rig.write('.ai-sdd/ai-sdd.yaml', 'version: "1"\npython: /no/such/python\n');
		shim(rig, 'project/.venv/bin');
		expect(await rig.sdd('run', 'w.yaml')).toMatchObject({ code: 0 });
		expect(calls(rig).every((call) => call.endsWith('/judge.py'))).toBe(true);
	});

	it('is the one that the settings name, before that of the machine', async () => {
		const rig = await project();
		shim(rig, 'project/tools');
		rig.write('.ai-sdd/ai-sdd.yaml', 'version: "1"\npython: tools/python3\n');
		mkdirSync(join(rig.outer, 'nothing'));
		const { code, stderr } = await rig.sddWith({ env: { PATH: '/bin:/usr/bin' } }, 'run', 'w.yaml');
		expect(stderr).toBe('');
		expect(code).toBe(0);
		expect(calls(rig)).toEqual([expect.stringMatching(/^-c import sys; print\(sys\.executable\)/)]);
	});

	it('that the settings name must be there', async () => {
		const rig = await project();
		rig.write('.ai-sdd/ai-sdd.yaml', 'version: "1"\npython: tools/python3\n');
		const { code, stderr } = await rig.sdd('run', 'w.yaml');
		expect(code).toBe(2);
		expect(stderr).toContain(
			'the interpreter "tools/python3" that .ai-sdd/ai-sdd.yaml names (python:) is not there or cannot be executed',
		);
		expect(stderr).toContain('correct `python:`, or remove it to use the python3 of the machine');
	});

	it('behind a shim is asked for once, and then started itself', async () => {
		const rig = await project();
		const folder = shim(rig, 'shims');
		expect(await rig.sddWith({ env: { PATH: `${folder}:/bin:/usr/bin` } }, 'run', 'w.yaml')).toMatchObject({ code: 0 });
		expect(calls(rig)).toEqual([expect.stringMatching(/^-c import sys; print\(sys\.executable\)/)]);
	});
});
