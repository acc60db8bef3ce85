/** One task, judged by overlays in TypeScript and in Python; killed in the middle of a Python judgement. */
import { execFileSync } from 'node:child_process';
import { createReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Data, makeRig, type Rig, shell } from '../rig.ts';
import { hasPython } from './has-python.ts';

/** Judges in TypeScript, and keeps count of how often it was asked. */
const counting = (name: string, order: number): string => `
import { appendFileSync } from 'node:fs';
import { defineOverlay } from 'ai-sdd';
export default defineOverlay({
	name: '${name}',
	summary: 'counts',
	hooks: ['after'],
	order: ${order},
	options: {},
	create: () => ({
		after(moment) {
			appendFileSync('../asked', '${name} ' + moment.attempt + '\\n');
			return { kind: 'pass', note: '${name}', record: { iteration: moment.iteration } };
		},
	}),
});
`;

/** Judges in Python: sends the first attempt back, and thinks about the second until the test says go. */
const THINKING = `
from sdd_overlay import Overlay, Question, ask, passed, rework

overlay = Overlay("thinking", summary="thinks", order=50)

@overlay.after
def judge(moment):
    with open("../asked", "a") as asked:
        asked.write(f"thinking {moment.attempt}\\n")
    if moment.attempt == 1:
        return rework("say please", record={"iteration": moment.iteration})
    if "opinion" not in moment.answers:
        return ask(Question("opinion", "agent:rev", "Is it good?"))
    here = open("../here", "w")  # Stays open for as long as this process lives.
    here.write("here\\n")
    here.flush()
    with open("../go") as go:
        said = go.read().strip()
    return passed(said, record={"iteration": moment.iteration, "opinion": moment.answers["opinion"].value})

if __name__ == "__main__":
    overlay.serve()
`;

async function project(): Promise<Rig> {
	const rig = await makeRig();
	execFileSync('mkfifo', [join(rig.outer, 'here'), join(rig.outer, 'go')]);
	rig.write('.ai-sdd/overlays/first.ts', counting('first', 20));
	rig.write('.ai-sdd/overlays/thinking.py', THINKING);
	rig.write('.ai-sdd/overlays/last.ts', counting('last', 60));
	const overlay = (file: string): Data => ({ enabled: true, use: `./.ai-sdd/overlays/${file}` });
	rig.workflow({
		agents: { dev: shell('echo "attempt $SDD_ATTEMPT" > a.txt'), rev: shell('echo yes') },
		tasks: {
			a: {
				agent: 'dev',
				description: 'write a.txt',
				outputs: ['a.txt'],
				overlays: { first: overlay('first.ts'), thinking: overlay('thinking.py'), last: overlay('last.ts') },
			},
		},
	});
	return rig;
}

/** Resolves when the overlay thinks; `gone` resolves when its process has ended. */
async function thinking(rig: Rig): Promise<{ readonly gone: Promise<void> }> {
	const stream = createReadStream(join(rig.outer, 'here'), 'utf8');
	const gone = new Promise<void>((resolve) => stream.once('end', () => resolve()));
	await new Promise((resolve) => stream.once('data', resolve));
	return { gone };
}

const verdicts = (rig: Rig): readonly unknown[] =>
	rig
		.events()
		.filter(({ kind }) => kind === 'verdict')
		.map(({ attempt, hook, overlay, round, verdict }) => ({ attempt, hook, overlay, round, verdict: bare(verdict) }));

/** Records are sealed into the chain of their run. */
const bare = (verdict: unknown): unknown =>
	JSON.parse(JSON.stringify(verdict).replaceAll(/"(prev_hash|hash)":"[0-9a-f]{64}"/g, '"$1":""'));

test.runIf(hasPython)(
	'kill -9 in the middle of a Python judgement, and the run goes on to the same verdicts',
	async () => {
		const calm = await project();
		const whole = calm.start(['run', 'w.yaml']);
		await thinking(calm);
		writeFileSync(join(calm.outer, 'go'), 'fine\n');
		expect(await whole.ended).toMatchObject({ code: 0 });

		const rig = await project();
		const killed = rig.start(['run', 'w.yaml']);
		const first = await thinking(rig);
		killed.child.kill('SIGKILL');
		expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' });
		// The end of its stdin ends the overlay, although it waits for something that never comes.
		await first.gone;
		expect(rig.leftovers()).toEqual([]);
		expect(verdicts(rig)).toEqual(verdicts(calm).slice(0, -2));

		const resumed = rig.start(['run', 'w.yaml']);
		await thinking(rig);
		writeFileSync(join(rig.outer, 'go'), 'fine\n');
		expect(await resumed.ended).toMatchObject({ code: 0 });

		expect(verdicts(rig)).toEqual(verdicts(calm));
		expect(verdicts(rig)).toMatchObject([
			{ attempt: 1, overlay: 'first', verdict: { kind: 'pass' } },
			{ attempt: 1, overlay: 'thinking', verdict: { kind: 'rework', feedback: 'say please' } },
			{ attempt: 2, overlay: 'first', verdict: { kind: 'pass' } },
			{ attempt: 2, overlay: 'thinking', round: 1, verdict: { kind: 'ask' } },
			{
				attempt: 2,
				overlay: 'thinking',
				round: 2,
				verdict: { kind: 'pass', note: 'fine', record: { opinion: 'yes\n' } },
			},
			{ attempt: 2, overlay: 'last', verdict: { kind: 'pass' } },
		]);
		// Nobody was asked again about what was already on the journal; only the judgement that was cut off was made anew.
		const asked = ['first 1', 'thinking 1', 'first 2', 'thinking 2', 'thinking 2'];
		expect(execFileSync('cat', [join(calm.outer, 'asked')], { encoding: 'utf8' })).toBe(
			`${[...asked, 'last 2'].join('\n')}\n`,
		);
		expect(execFileSync('cat', [join(rig.outer, 'asked')], { encoding: 'utf8' })).toBe(
			`${[...asked, 'thinking 2', 'last 2'].join('\n')}\n`,
		);
		expect(rig.leftovers()).toEqual([]);
		expect((await rig.sdd('audit', 'verify')).code).toBe(0);
	},
);
