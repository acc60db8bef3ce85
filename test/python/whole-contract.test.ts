/** All that an overlay can do, in Python and in about twenty lines, through the real command. */
import { expect, test } from 'vitest';
import { makeRig, openItems, type Rig, shell } from '../rig.ts';
import { hasPython } from './has-python.ts';

const OVERLAY = `from sdd_overlay import Overlay, Question, ask, fail, passed, rework

overlay = Overlay("lawyers", summary="Nothing is shipped that the lawyers have not seen.", order=20)

@overlay.before
def instruct(moment):
    return passed("told", brief="Name a licence in every file.")

@overlay.after
def judge(moment):
    missing = [file.path for file in moment.artifacts if "SPDX" not in (file.content or "")]
    if missing:
        return rework("no licence in " + ", ".join(missing))
    if "opinion" not in moment.answers:
        return ask(Question("opinion", "agent:lawyer", "Is this licence all right?"))
    if "ship" not in moment.answers:
        opinion = moment.answers["opinion"].value.strip()
        return ask(Question("ship", "human", f"The lawyer says: {opinion}. Ship it?", choices=["accept", "reject"]))
    ship = moment.answers["ship"]
    return passed(f"{ship.by} ships it") if ship.value == "accept" else fail(f"{ship.by} does not ship it")

if __name__ == "__main__":
    overlay.serve()
`;

async function project(): Promise<Rig> {
	const rig = await makeRig();
	rig.write('.ai-sdd/overlays/lawyers.py', OVERLAY);
	const overlays = { lawyers: { enabled: true, use: './.ai-sdd/overlays/lawyers.py' } };
	rig.workflow({
		agents: {
			dev: shell('if [ "$SDD_ATTEMPT" = 1 ]; then echo draft > a.txt; else echo "SPDX: MIT" > a.txt; fi'),
			lawyer: shell('echo "MIT is fine"'),
		},
		tasks: { a: { agent: 'dev', description: 'write a.txt', outputs: ['a.txt'], overlays } },
	});
	return rig;
}

test.runIf(hasPython).each([
	['accept', 0, 'lawyers: pass ann ships it'],
	['reject', 1, 'a failed: lawyers: ann does not ship it'],
] as const)(
	'it amends the brief, sends work back, asks an agent, asks a person and decides: %s',
	async (choice, exit, words) => {
		expect(OVERLAY.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(22);
		const rig = await project();
		const first = await rig.sdd('run', 'w.yaml');
		expect([first.code, first.stderr]).toEqual([3, '']);
		expect(first.stdout).toContain('lawyers: rework no licence in a.txt');
		expect(rig.seen('a.coder.1')).toContain('Name a licence in every file.');
		expect(rig.seen('a.coder.2')).toContain('no licence in a.txt');
		expect(rig.seen('a.reviewer.2')).toContain('Is this licence all right?');
		const [item = ''] = await openItems(rig);
		expect((await rig.sdd('hil', 'show', item)).stdout).toContain('The lawyer says: MIT is fine. Ship it?');
		await rig.sdd('hil', choice, item, '--by', 'ann');
		const second = await rig.sdd('run', 'w.yaml');
		expect(second.code).toBe(exit);
		expect(second.stdout).toContain(words);
		const verdicts = rig
			.events()
			.flatMap(({ kind, hook, attempt, verdict }) =>
				kind === 'verdict' ? [`${hook} ${attempt} ${(verdict as { readonly kind: string }).kind}`] : [],
			);
		expect(verdicts).toEqual([
			expect.stringMatching(/^before \d pass$/),
			'after 1 rework',
			'after 2 ask',
			'after 2 ask',
			`after 2 ${exit === 0 ? 'pass' : 'fail'}`,
		]);
		expect(rig.leftovers()).toEqual([]);
		expect((await rig.sdd('audit', 'verify')).code).toBe(0);
	},
);

/** Passes once three tasks are being judged at the same time; says which process judged. */
const TOGETHER = `import os, threading
from sdd_overlay import Overlay, passed

overlay = Overlay("together")
all_three = threading.Barrier(3, timeout=30)

@overlay.after
def judge(moment):
    all_three.wait()
    return passed(f"process {os.getpid()}")

if __name__ == "__main__":
    overlay.serve()
`;

test.runIf(hasPython)('one process judges all tasks of a run, several at once', async () => {
	const rig = await makeRig();
	rig.write('.ai-sdd/overlays/together.py', TOGETHER);
	const overlays = { together: { enabled: true, use: './.ai-sdd/overlays/together.py' } };
	const task = { agent: 'dev', description: 'x', overlays };
	rig.workflow({ max_parallel: 3, agents: { dev: shell('true') }, tasks: { a: task, b: task, c: task } });
	expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
	const notes = rig
		.events()
		.flatMap(({ kind, verdict }) => (kind === 'verdict' ? [(verdict as { readonly note: string }).note] : []));
	expect(notes).toEqual(Array(3).fill(expect.stringMatching(/^process \d+$/)));
	expect(new Set(notes).size).toBe(1);
});

test.runIf(hasPython)(
	'one that dies whenever it is asked is started again three times in a run, and then stays down',
	async () => {
		const rig = await makeRig();
		const dying = TOGETHER.replace(
			'all_three.wait()',
			'os.write(os.open("starts", os.O_WRONLY | os.O_CREAT | os.O_APPEND), b"x"); os._exit(9)',
		);
		rig.write('.ai-sdd/overlays/dying.py', dying);
		const overlays = { dying: { enabled: true, use: './.ai-sdd/overlays/dying.py', on_error: 'warn' } };
		const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
		const tasks = Object.fromEntries(ids.map((id) => [id, { agent: 'dev', description: 'x', overlays }]));
		rig.workflow({ max_parallel: 1, agents: { dev: shell('true') }, tasks });
		expect((await rig.sdd('run', 'w.yaml')).code).toBe(0);
		expect(rig.read('starts')).toBe('xxxx');
		const warnings = rig.events().flatMap(({ kind, message }) => (kind === 'warning' ? [String(message)] : []));
		expect(warnings).toHaveLength(6);
		expect(warnings[3]).toContain('its process exited with code 9');
		expect(warnings[4]).toContain('it went down 4 times and is not started again; the last time: its process exited');
		expect(rig.leftovers()).toEqual([]);
	},
);
