/**
 * The parity proof: `agentic_review` in Python (python/examples/review_overlay.py) leaves the same journal as the built-in
 * one, on the golden cases of this project and on some of its own.
 *
 * Compared are all events, the review logs and the prompts, without what differs from run to run (times, ids, hashes of
 * prompts and of the chain, random marks). A process declares its log as data, so its log has no closing members.
 */
import {
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { afterAll, expect, test } from 'vitest';
import { normalise } from '../normalise.ts';
import { performStep, type Step } from '../perform-step.ts';
import { ndjson } from '../rig.ts';
import { hasPython } from './has-python.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const examples = join(here, '../../python/examples');
const home = mkdtempSync(join(realpathSync(tmpdir()), 'sdd-'));

afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Cases in which a review takes part, the shared ones and those beside this file. */
const folders = [join(here, '../cases'), join(here, 'cases')]
	.flatMap((parent) => readdirSync(parent).map((name) => ({ name, folder: join(parent, name) })))
	.filter(({ folder }) => existsSync(join(folder, 'workflow.yaml')))
	.filter(({ folder }) => isOnlyReviewed(readFileSync(join(folder, 'workflow.yaml'), 'utf8')));

/** Combinations with other overlays have tests of their own. */
function isOnlyReviewed(workflow: string): boolean {
	return workflow.includes('agentic_review') && !/policy_gate|paired_workflow|confidence/.test(workflow);
}

test.runIf(hasPython).each(folders)('$name: Python and TypeScript leave the same journal', ({ name, folder }) => {
	const typescript = play(`${name}-ts`, folder, false);
	const python = play(`${name}-py`, folder, true);
	expect(python.said).toBe(typescript.said);
	expect(python.prompts).toEqual(typescript.prompts);
	expect(python.events).toEqual(typescript.events);
	expect(python.logs).toEqual(typescript.logs);
	expect(python.processes).toBe(true);
	expect(typescript.processes).toBe(false);
	expect(typescript.events.some((event) => event['kind'] === 'verdict')).toBe(true);
});

type Data = { readonly [key: string]: unknown };

interface Played {
	/** Whether an overlay's process was started. */
	readonly processes: boolean;
	readonly said: string;
	readonly events: readonly Data[];
	readonly logs: readonly Data[];
	readonly prompts: readonly string[];
}

function play(name: string, folder: string, inPython: boolean): Played {
	const project = join(home, name);
	cpSync(folder, project, { recursive: true });
	mkdirSync(join(project, '.ai-sdd/overlays'), { recursive: true });
	if (inPython) moveToPython(project);
	const steps = existsSync(join(project, 'steps.yaml'))
		? (load(readFileSync(join(project, 'steps.yaml'), 'utf8')) as readonly Step[])
		: ['run workflow.yaml'];
	const said = steps.map((step) => performStep(project, home, step));
	const state = join(project, '.ai-sdd/state');
	const runs = namesIn(join(state, 'runs'));
	return {
		processes: runs.some((run) => existsSync(join(state, 'runs', run, 'overlays'))),
		said: bare(normalise(said.join('\n'), project))
			.replaceAll('python_review', 'agentic_review')
			.replaceAll('  final decision: open\n\n', ''),
		events: runs.flatMap((run) => eventsOf(join(state, 'runs', run, 'journal')).map((event) => plain(event, project))),
		logs: textsIn(join(state, 'review-logs')).map((text) => plain(withoutClosing(JSON.parse(text)), project)),
		prompts: runs.flatMap((run) => textsIn(join(state, 'runs', run, 'briefs')).map(bare)).sort(),
	};
}

/** The same workflow with the overlay in Python. */
function moveToPython(project: string): void {
	for (const file of readdirSync(examples).filter((one) => /^review_\w+\.py$/.test(one)))
		cpSync(join(examples, file), join(project, '.ai-sdd/overlays', file));
	const path = join(project, 'workflow.yaml');
	const workflow = load(readFileSync(path, 'utf8')) as {
		readonly defaults?: HasOverlays;
		readonly tasks: { readonly [id: string]: HasOverlays };
	};
	for (const one of [workflow.defaults, ...Object.values(workflow.tasks)]) {
		const review = one?.overlays?.['agentic_review'];
		if (one?.overlays === undefined || review === undefined) continue;
		const { enabled = false, timeout, on_error, ...options } = review;
		const general = {
			enabled,
			...(timeout === undefined ? {} : { timeout }),
			...(on_error === undefined ? {} : { on_error }),
		};
		delete one.overlays['agentic_review'];
		one.overlays['python_review'] = { ...general, use: './.ai-sdd/overlays/review_overlay.py', options };
	}
	writeFileSync(path, JSON.stringify(workflow, null, 2));
}

interface HasOverlays {
	readonly overlays?: { [name: string]: Data };
}

function eventsOf(folder: string): readonly Data[] {
	return ndjson(textsIn(folder).join(''));
}

function textsIn(folder: string): readonly string[] {
	return namesIn(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
}

function namesIn(folder: string): readonly string[] {
	return existsSync(folder) ? readdirSync(folder).sort() : [];
}

/** What is different in any two runs, whoever judges. */
const VOLATILE = new Set([
	'continues',
	'pid',
	'seq',
	'prev',
	'hash',
	'prev_hash',
	'plan',
	'ms',
	'promptSha256',
	'prompt_sha256',
]);

function plain(value: unknown, project: string): Data {
	const items = new Map<string, string>();
	const walk = (one: unknown, key: string): unknown => {
		if (VOLATILE.has(key)) return '<volatile>';
		if (typeof one === 'string') return plainText(one, key);
		if (Array.isArray(one)) return one.map((item) => walk(item, ''));
		if (typeof one !== 'object' || one === null) return one;
		const members = Object.entries(key === 'review_log' ? withoutClosing(one as Data) : one);
		return Object.fromEntries(members.map(([name, member]) => [name, walk(member, name)]));
	};
	const plainText = (text: string, key: string): string =>
		(key === 'brief' ? text.replace(/^[0-9a-f]{64}$/, '<sha256>') : text)
			.replaceAll(project, '<project>')
			.replaceAll('python_review', 'agentic_review')
			.replaceAll(/sha256:[0-9a-f]{64}/g, 'sha256:<prompt>')
			.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, '<time>')
			.replaceAll(/\b\d{8}-\d{6}-[a-z0-9]+\b/g, '<run>')
			.replaceAll(/\bhil-[0-9a-f]{12}\b/g, (id) => {
				items.set(id, items.get(id) ?? `<item-${items.size + 1}>`);
				return items.get(id) ?? '';
			});
	return walk(value, '') as Data;
}

/** Closing members come from code in the built-in's definition; a process declares its log as data. */
function withoutClosing(log: Data): Data {
	const { final_decision, completed_at, hil_item, decided_by, ...rest } = log;
	return rest;
}

function bare(prompt: string): string {
	return prompt.replaceAll(/data-[0-9a-z]{21}/g, 'data-<mark>').replaceAll(/\b\d{8}-\d{6}-[a-z0-9]+\b/g, '<run>');
}
