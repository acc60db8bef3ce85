/** `sdd hil`: the questions that wait for a person, and their answers. */
import { secretsOf } from '../../agents/environment.ts';
import { EXIT, SddError } from '../../engine/errors.ts';
import type { HilItem, HilResolution } from '../../engine/events.ts';
import type { Json, JsonObject } from '../../engine/json.ts';
import { printable, printableLine } from '../../engine/printable.ts';
import { foldRun, readPlan } from '../../engine/run/read-run.ts';
import { ackItem, itemDigest, listItems, readItem, resolveItem } from '../../engine/store/hil-store.ts';
import { redactor } from '../../engine/store/redact.ts';
import type { Arguments } from '../arguments.ts';
import { errorText } from '../explain.ts';
import { isLog, logText } from '../log-text.ts';
import type { Command } from '../main.ts';
import { asJson, type Terminal, table } from '../terminal.ts';
import { userName } from '../user.ts';

export function hilList(terminal: Terminal, args: Arguments): number {
	const project = terminal.project();
	const { items, damaged } = listItems(project);
	const isOver = runOver(project);
	const shown = args.has('all') ? items : items.filter((item) => item.resolution === null && !isOver(item.run_id));
	if (args.has('json')) terminal.out(asJson({ items: shown }));
	else if (shown.length === 0) terminal.out('nothing waits for a person\n');
	else {
		const rows = shown.map((item) => [
			item.id,
			item.status,
			item.task_id,
			printableLine(item.trigger, 40),
			item.created_at.slice(0, 19),
			printableLine(item.question, 60),
		]);
		terminal.out(table([['id', 'status', 'task', 'trigger', 'since', 'question'], ...rows]));
	}
	for (const { error } of damaged) terminal.err(errorText(error));
	return damaged.length > 0 ? EXIT.failed : EXIT.done;
}

export function hilShow(terminal: Terminal, args: Arguments): number {
	const item = askedItem(terminal.project(), args.positionals[0] ?? '');
	terminal.out(args.has('json') ? asJson(item) : itemText(item));
	return EXIT.done;
}

export function hilAck(terminal: Terminal, args: Arguments): number {
	refuseAgents(terminal);
	const project = terminal.project();
	const id = args.positionals[0] ?? '';
	const { text } = redactor(secretsOfRun(terminal, readItem(project, id).run_id));
	const item = ackItem(project, id, { by: text(args.value('by') ?? userName()), at: new Date().toISOString() });
	terminal.out(args.has('json') ? asJson(item) : `${item.id}: ${item.status}\n`);
	return EXIT.done;
}

/** The command for one choice; without one it is the second argument, for overlays that offer choices of their own. */
export function decide(named?: string): Command {
	return (terminal, args) => {
		const choice = named ?? args.positionals[1] ?? '';
		refuseAgents(terminal);
		const project = terminal.project();
		const id = args.positionals[0] ?? '';
		const asked = askedItem(project, id);
		if (asked.resolution === null && runOver(project)(asked.run_id)) throw runIsOver(asked);
		const item = resolveItem(project, id, resolutionBy(terminal, args, { choice, run: asked.run_id }));
		if (args.has('json')) terminal.out(asJson(item));
		else terminal.out(`${id}: ${choice} by ${printableLine(item.resolution?.by ?? '')}. ${nextStep(choice, item)}\n`);
		return EXIT.done;
	};
}

function resolutionBy(
	terminal: Terminal,
	args: Arguments,
	{ choice, run }: { readonly choice: string; readonly run: string },
): HilResolution {
	const notes = args.value('notes');
	const { text } = redactor(secretsOfRun(terminal, run));
	return {
		choice,
		by: text(args.value('by') ?? userName()),
		via: (terminal.env['CI'] ?? '') !== '' ? 'ci' : terminal.isAttended ? 'tty' : 'cli',
		notes: notes === null ? null : text(notes),
		at: new Date().toISOString(),
	};
}

/** What the run's agents get through `env`. A plan that cannot be read keeps nobody from deciding. */
function secretsOfRun(terminal: Terminal, run: string): readonly string[] {
	try {
		return secretsOf(readPlan(terminal.project(), run).agents, terminal.env);
	} catch (error) {
		if (error instanceof SddError) return [];
		throw error;
	}
}

function nextStep(choice: string, item: HilItem): string {
	if (choice === 'takeover')
		return `Edit the files of "${item.task_id}", then go on with sdd run: they will be reviewed.`;
	return 'Go on with sdd run.';
}

/** The item, if it is still the one that the journal of its run asked: nobody is to decide on a forged question. */
function askedItem(project: string, id: string): HilItem {
	const item = readItem(project, id);
	const known = questionIn(project, item);
	if (known === null || itemDigest(known) === itemDigest(item)) return item;
	throw new SddError(
		'STORE_HIL_DAMAGED',
		`the item ${id} was changed: it is not the question that run ${item.run_id} asked`,
		'see `sdd audit verify`; going on with `sdd run` puts the right question there again',
	);
}

function questionIn(project: string, item: HilItem): HilItem | null {
	try {
		return foldRun(project, item.run_id).items.get(item.id)?.item ?? null;
	} catch (error) {
		if (error instanceof SddError) return null;
		throw error;
	}
}

/** An agent may see the queue, but never decide. */
function refuseAgents(terminal: Terminal): void {
	if ((terminal.env['SDD_AGENT'] ?? '') === '') return;
	throw new SddError(
		'HIL_BY_AGENT',
		'this was called by an agent (SDD_AGENT is set), and agents cannot decide what waits for a person',
		'a person must decide, in a shell of their own',
	);
}

function runIsOver(item: HilItem): SddError {
	return new SddError(
		'HIL_RUN_OVER',
		`the run ${item.run_id} of the item ${item.id} is over: nothing would come of a decision`,
		'see what waits now with `sdd hil list`',
	);
}

/** Whether a run is over; each journal is read once. */
function runOver(project: string): (run: string) => boolean {
	const known = new Map<string, boolean>();
	return (run) => {
		const over = known.get(run) ?? isFinished(project, run);
		known.set(run, over);
		return over;
	};
}

function isFinished(project: string, run: string): boolean {
	try {
		return foldRun(project, run).status === 'finished';
	} catch (error) {
		if (error instanceof SddError) return false;
		throw error;
	}
}

function itemText(item: HilItem): string {
	const head = [
		`${item.id}: ${item.status}`,
		`task ${item.task_id} of ${item.workflow}, run ${item.run_id}; asked by ${item.overlay} (${printableLine(item.trigger)}) at ${item.created_at}`,
		'',
		printable(item.question),
	];
	return `${[...head, ...contextLines(item.context), '', ...decisionLines(item)].join('\n')}\n`;
}

function contextLines(context: JsonObject): readonly string[] {
	return Object.entries(context).flatMap(([name, value]) => {
		if (isLog(value)) return ['', ...logText(value).trimEnd().split('\n')];
		return ['', `${name}:`, ...valueLines(value)];
	});
}

function valueLines(value: Json | undefined): readonly string[] {
	const text = typeof value === 'string' ? value : JSON.stringify(value ?? null, null, 2);
	return printable(text)
		.split('\n')
		.map((line) => `  ${line}`);
}

function decisionLines(item: HilItem): readonly string[] {
	if (item.resolution === null)
		return ['Decide with one of:', ...item.choices.map((choice) => `  sdd hil ${commandFor(choice, item.id)}`)];
	const { choice, by, via, at, notes } = item.resolution;
	return [
		`decided: ${choice} by ${printableLine(by)} (${via}) at ${at}${notes === null ? '' : `: ${printable(notes)}`}`,
	];
}

const NAMED_CHOICES: readonly string[] = ['accept', 'rework', 'takeover', 'reject'];

function commandFor(choice: string, id: string): string {
	return NAMED_CHOICES.includes(choice) ? `${choice} ${id}` : `decide ${id} ${typed(printableLine(choice))}`;
}

/** As it has to be typed in a shell: a choice may be several words, and whoever copies the line must not run a part of it. */
function typed(choice: string): string {
	const word = /^[\p{L}\p{N}_./:=@%+-]+$/u.test(choice) ? choice : `'${choice.replaceAll("'", "'\\''")}'`;
	return choice.startsWith('-') ? `-- ${word}` : word;
}
