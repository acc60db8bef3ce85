/**
 * Keeps the views on the disk in step with the journal: append first, views after.
 *
 * A view is a fold of the journal and replaced whole, so a lost or broken one heals on the next open, and failing to
 * write one never changes what was decided.
 */
import { dirname } from 'node:path';
import type { OverlayLog } from '../contract.ts';
import { SddError } from '../errors.ts';
import type { JournalRecord } from '../events.ts';
import type { JsonObject } from '../json.ts';
import type { Plan } from '../plan/plan.ts';
import { mkdirDurable, replaceFile } from '../store/durable.ts';
import { logFile, workflowStateFile } from '../store/layout.ts';
import { textOfFile } from '../store/read-file.ts';
import { endOf, logDocument, logText, recordText } from './log-view.ts';
import { PENDING_TASK, type RunState, recordsOf } from './state.ts';
import { stateDocument, stateText } from './state-view.ts';

/** A view as it should lie on the disk. */
export interface View {
	readonly path: string;
	readonly text: string;
}

/** What views are made from. */
export interface ViewSource {
	readonly project: string;
	readonly plan: Plan;
	logOf(overlay: string): OverlayLog | null;
	state(): RunState;
}

/** Writes views as the journal grows. */
export interface Views {
	/** Notes which views a record touches. */
	note(record: JournalRecord): void;
	/** Writes what was touched; returns what could not be written. */
	write(): readonly SddError[];
	/** Writes everything that differs from what lies there: on open, pause and finish. */
	heal(): readonly SddError[];
	/** The tasks that this process saw being judged. */
	judged(): ReadonlySet<string>;
}

type LineOf = (record: JsonObject, first?: readonly string[]) => string;

/** Every log view of a run, as it should be; a task that was never judged has none. */
export function logViews(source: ViewSource, lineOf: LineOf = recordText): readonly View[] {
	return source.plan.tasks.flatMap((task) =>
		task.overlays.flatMap(({ name }) => logView(source, task.id, name, lineOf) ?? []),
	);
}

/** `workflow-state.json` as it should be. */
export function stateView(source: ViewSource): View {
	return { path: workflowStateFile(source.project), text: stateText(stateDocument(source.state(), source.plan)) };
}

/** Views of one run. */
export function createViews(source: ViewSource): Views {
	const lines = new WeakMap<JsonObject, string>();
	const lineOf: LineOf = (record, first) => {
		const known = lines.get(record) ?? recordText(record, first);
		lines.set(record, known);
		return known;
	};
	const overlaysOf = new Map(
		source.plan.tasks.filter((task) => task.overlays.length > 0).map((task) => [task.id, task.overlays]),
	);
	const touched = new Set<string>();
	const judged = new Set<string>();
	const pace = { isStale: false, next: Date.now() + STATE_PAUSE_MS };
	return {
		judged: () => judged,
		note(record) {
			pace.isStale = true;
			if ('task' in record && record.task !== undefined && TOUCHES.has(record.kind) && overlaysOf.has(record.task)) {
				touched.add(record.task);
				judged.add(record.task);
			}
		},
		write() {
			const faults: SddError[] = [];
			for (const task of touched) {
				for (const { name } of overlaysOf.get(task) ?? []) replace(logView(source, task, name, lineOf), faults);
			}
			touched.clear();
			if (pace.isStale && Date.now() >= pace.next) writeState(source, pace, faults);
			return faults;
		},
		heal() {
			const faults: SddError[] = [];
			for (const view of [...logViews(source, lineOf), stateView(source)]) if (!isCurrent(view)) replace(view, faults);
			touched.clear();
			return faults;
		},
	};
}

/** How long the view of the state may lie behind while a run goes on: it is written whole, and a run has many events. */
const STATE_PAUSE_MS = 2000;

/** Writing it may take at most a twentieth of the time, however many tasks there are. */
function writeState(source: ViewSource, pace: { isStale: boolean; next: number }, faults: SddError[]): void {
	const begun = Date.now();
	replace(stateView(source), faults);
	const ended = Date.now();
	pace.isStale = false;
	pace.next = ended + Math.max(STATE_PAUSE_MS, 20 * (ended - begun));
}

/** The events that change a log. */
const TOUCHES: ReadonlySet<string> = new Set([
	'verdict',
	'task_completed',
	'task_failed',
	'task_reopened',
	'task_cancelled',
	'approval_voided',
]);

function logView(source: ViewSource, task: string, overlay: string, lineOf: LineOf = recordText): View | null {
	const log = source.logOf(overlay);
	if (log === null) return null;
	const state = source.state();
	const taskState = state.tasks.get(task) ?? PENDING_TASK;
	const records = recordsOf(taskState, overlay);
	if (records.length === 0) return null;
	const document = logDocument(log, overlay, records, { task, run: state.run, ended: endOf(taskState) });
	return {
		path: logFile(source.project, log.folder, task),
		text: logText(document, (record) => lineOf(record, log.members)),
	};
}

function replace(view: View | null, faults: SddError[]): void {
	if (view === null) return;
	try {
		mkdirDurable(dirname(view.path));
		replaceFile(view.path, view.text);
	} catch (error) {
		if (!(error instanceof SddError)) throw error;
		faults.push(error);
	}
}

function isCurrent(view: View): boolean {
	try {
		return textOfFile(view.path) === view.text;
	} catch {
		return false;
	}
}
