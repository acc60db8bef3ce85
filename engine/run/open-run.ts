/** Opens a run for work: a new one, or one to go on with. */
import { setMaxListeners } from 'node:events';
import { SddError } from '../errors.ts';
import type { JournalRecord, ReportedEvent, RunEvent } from '../events.ts';
import type { Plan } from '../plan/plan.ts';
import { mkdirDurable, replaceFile, sweepTemps } from '../store/durable.ts';
import { sha256 } from '../store/hash.ts';
import { appendHead, readHeads } from '../store/heads.ts';
import { openJournal } from '../store/journal.ts';
import type { JournalWriter } from '../store/journal-writer.ts';
import { hilDir, journalDir, planFile, runDir, stateDir } from '../store/layout.ts';
import { textOfFile } from '../store/read-file.ts';
import { walkJournal } from '../store/read-journal.ts';
import { putOtherLogsAside } from './other-logs.ts';
import { emptyState, reduce } from './reduce.ts';
import { type Session, taskState } from './session.ts';
import type { RunState } from './state.ts';
import { createViews, type Views } from './views.ts';
import type { World } from './world.ts';

/** What every opening needs. */
export interface OpenOptions {
	readonly project: string;
	readonly run: string;
	readonly plan: Plan;
	readonly world: World;
	readonly version: string;
	readonly by: string;
	readonly report: (event: ReportedEvent) => void;
	/** Stops the run from outside (a signal, a lost lock). */
	readonly stop: AbortController;
}

/** A run that this process may work on. */
export interface OpenRun {
	readonly session: Session;
	readonly writer: JournalWriter;
	readonly views: Views;
}

/** Makes the folder of a new run and freezes its plan there; returns the plan's digest. */
export function createRunFolder(project: string, run: string, planText: string): string {
	mkdirDurable(runDir(project, run));
	replaceFile(planFile(project, run), planText);
	return sha256(planText);
}

/** Whether the noted heads say that a run is over; false may only mean that nobody noted it. */
export function isKnownToBeOver(project: string, run: string): boolean {
	return readHeads(project).lines.some((line) => line.run === run && line.state === 'finished');
}

/** Notes the head of a run that is over. */
export function noteHead(project: string, run: string): void {
	const { head } = walkJournal(journalDir(project, run), { hasher: sha256, onRecord: () => {} });
	appendHead(project, { run, seq: head.seq, head: head.hash, at: head.at, state: 'finished' });
}

/** The plan a run froze, as text; refuses one that was changed. */
export function frozenPlan(project: string, run: string, digest: string): string {
	const path = planFile(project, run);
	const remedy = 'restore it from a backup, or begin anew with `sdd run --fresh`';
	let text: string;
	try {
		text = textOfFile(path);
	} catch (error) {
		throw new SddError('RUN_PLAN_DAMAGED', `the frozen plan ${path} cannot be read`, remedy, { cause: error });
	}
	if (sha256(text) === digest) return text;
	throw new SddError('RUN_PLAN_DAMAGED', `the frozen plan ${path} was changed since the run began`, remedy);
}

/** Opens the journal, folds what it holds, and brings everything that follows from it up to date. */
export function openRun(options: OpenOptions): OpenRun {
	const { project, run, world } = options;
	let state: RunState = emptyState();
	let views: Views | null = null;
	const unreported: JournalRecord[] = [];
	const onRecord = (record: JournalRecord): void => {
		state = reduce(state, record);
		views?.note(record);
		if (views !== null) unreported.push(record);
	};
	const journal = openJournal(journalDir(project, run), { version: options.version, now: world.now, onRecord });
	const source = { project, plan: options.plan, logOf: world.logOf, state: () => state };
	views = createViews(source);
	const session = createSession(options, journal.writer, views, { state: () => state, unreported });
	for (const note of journal.notes)
		session.record({ kind: 'warning', code: 'JOURNAL_TAIL_DROPPED', message: note.message });
	return { session, writer: journal.writer, views };
}

/** Begins a new run: the logs of the one before it are put aside. */
export function beginRun(
	open: OpenRun,
	options: OpenOptions,
	about: { readonly plan: string; readonly maxParallel: number; readonly only: readonly string[] | null },
): void {
	const { project, run, plan, by, version } = options;
	putOtherLogsAside(project, run, plan, options.world.logOf);
	const only = about.only === null ? {} : { only: about.only };
	open.session.record({
		kind: 'run_started',
		run,
		workflow: plan.workflow,
		file: plan.file,
		project,
		plan: about.plan,
		by,
		version,
		max_parallel: about.maxParallel,
		...only,
	});
}

/** Goes on with a run: items that may not have reached the queue are put there again. */
export function resumeRun(open: OpenRun, options: OpenOptions): void {
	const { session } = open;
	putOtherLogsAside(options.project, options.run, options.plan, options.world.logOf);
	session.record({ kind: 'run_resumed', by: options.by, version: options.version });
	reopen(session);
	for (const { item } of session.state().items.values()) if (item !== null) options.world.people.publish(item);
	sweepTemps(hilDir(options.project));
	sweepTemps(stateDir(options.project));
}

/** What an overlay's breakdown ended, and what was skipped for it, is tried again: the overlay may have been mended. */
function reopen(session: Session): void {
	const reopened = new Set<string>();
	for (const { id, dependsOn } of session.plan.tasks) {
		const { status, fault, omitted } = taskState(session, id);
		const wasSkipped = status === 'SKIPPED' && !omitted && dependsOn.some((upstream) => reopened.has(upstream));
		if (fault === null && !wasSkipped) continue;
		reopened.add(id);
		session.record({ kind: 'task_reopened', task: id });
	}
}

/** What the fold of the journal has come to, and the records that nobody was told of yet. */
interface Folded {
	readonly state: () => RunState;
	readonly unreported: JournalRecord[];
}

function createSession(
	options: OpenOptions,
	writer: JournalWriter,
	views: Views,
	{ state, unreported }: Folded,
): Session {
	const { world, plan, stop } = options;
	// Nobody is told of anything that a crash could still undo.
	const report = (count: number): void => {
		for (const record of unreported.splice(0, count)) options.report(record);
	};
	// All that is under way listens to it: with many tasks at once that is no leak.
	setMaxListeners(0, stop.signal);
	let last: Promise<void> = Promise.resolve();
	const complained = new Set<string>();
	const record = (...events: readonly RunEvent[]): void => {
		if (events.length === 0) return;
		last = writer.append(events.map((event) => (SEALED.has(event.kind) ? event : world.redact(event))));
		// Whoever needs to know asks by `durable()`; until then a failed write must not end the process unheard.
		last.then(
			() => report(events.length),
			() => {},
		);
	};
	return {
		plan,
		world,
		signal: stop.signal,
		stop: () => stop.abort(),
		state,
		record,
		async durable() {
			await last;
			for (const fault of views.write()) {
				if (complained.has(fault.message)) continue;
				complained.add(fault.message);
				record({
					kind: 'warning',
					code: 'VIEW_NOT_WRITTEN',
					message: `${fault.message}; the decision stands: it is in the journal`,
				});
			}
		},
	};
}

/** Redacted before they were sealed; doing it again could break their seal. */
const SEALED: ReadonlySet<string> = new Set(['verdict', 'hil_opened']);
