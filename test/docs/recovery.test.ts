import { expect, it } from 'vitest';
import { commanded, makeRig, type Rig } from '../rig.ts';
import { read } from './read-docs.ts';

it('a file that may not grow ends the command with STORE_DISK_FULL, and the same command goes on later', async () => {
	const rig = await threeTasks();
	const limited = ['sh', '-c', 'ulimit -f 40; exec "$@"', 'sh'];
	const full = await rig.sddWith({ wrap: limited }, 'run', 'w.yaml');
	expect(full.signal).toBeNull();
	expect(full.stderr).toContain('(EFBIG) [STORE_DISK_FULL]');
	expect(full.stderr).toContain(
		'free some space (or raise the limit), then run the same command again: nothing acknowledged is lost',
	);
	expect(full.code).toBe(1);
	const resumed = await rig.sdd('run', 'w.yaml');
	expect(resumed.stdout).toContain('going on where the run was');
	expect(resumed.code).toBe(0);
	expect((await rig.sdd('audit', 'verify')).code).toBe(0);
});

it('a damaged journal is refused by sdd run, found by sdd audit verify, and left behind by --fresh', async () => {
	const rig = await threeTasks();
	rig.write('stop.yaml', 'a: ok\nb: ok\nc: ok\n');
	expect((await rig.sdd('run', 'w.yaml', '--step', '--stubs', 'stop.yaml')).code).toBe(4);
	const [run = ''] = rig.runs();
	const segment = `.ai-sdd/state/runs/${run}/journal/000001.ndjson`;
	rig.write(segment, rig.read(segment).replace('"kind":"task_completed"', '"kind":"task_conpleted"'));
	const refused = await rig.sdd('run', 'w.yaml', '--stubs', 'stop.yaml');
	expect(refused.code).toBe(1);
	expect(refused.stderr).toContain('its hash does not fit its content [STORE_JOURNAL_DAMAGED]');
	expect((await rig.sdd('audit', 'verify')).code).toBe(1);
	const fresh = await rig.sdd('run', 'w.yaml', '--fresh', '--stubs', 'stop.yaml');
	expect(fresh.code).toBe(0);
	expect(fresh.stderr).toContain(`the unfinished run ${run} could not be cancelled`);
	expect(rig.runs()).toHaveLength(2);
});

it('sdd status says of a killed run what docs/recovery.md shows', async () => {
	const rig = await makeRig();
	rig.workflow({ agents: { dev: commanded() }, tasks: { a: { agent: 'dev', description: 'x' } } });
	const run = rig.start(['run', 'w.yaml']);
	await rig.call('a/coder', run);
	run.child.kill('SIGKILL');
	await run.ended;
	const [, said = ''] = /^w, run \S+: (.+)$/m.exec((await rig.sdd('status')).stdout) ?? [];
	expect(said).toContain('sdd run goes on');
	expect(read('docs/recovery.md')).toContain(`: ${said}\n`);
});

/** Three tasks, one after another; what they print makes the journal larger than 20 KB (`ulimit` counts in 512 bytes). */
async function threeTasks(): Promise<Rig> {
	const rig = await makeRig();
	const task = (...depends_on: string[]) => ({ agent: 'dev', description: 'Say much.', depends_on });
	rig.workflow({
		agents: { dev: { run: 'head -c 20000 /dev/zero | tr "\\0" x' } },
		tasks: { a: task(), b: task('a'), c: task('b') },
	});
	return rig;
}
