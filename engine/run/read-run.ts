/** Reads a run for showing it: its frozen plan and the fold of its journal. Nothing is verified, nothing claimed. */
import { readFileSync } from 'node:fs';
import { SddError } from '../errors.ts';
import type { JournalRecord } from '../events.ts';
import type { Plan } from '../plan/plan.ts';
import { planFromDisk } from '../plan/plan-file.ts';
import { journalDir, planFile } from '../store/layout.ts';
import { walkJournal } from '../store/read-journal.ts';
import { emptyState, reduce } from './reduce.ts';
import type { RunState } from './state.ts';

export interface ReadRun {
	readonly run: string;
	readonly plan: Plan;
	readonly state: RunState;
}

/** The run as its journal tells it; `onRecord` sees every record on the way. */
export function readRun(project: string, run: string, onRecord?: (record: JournalRecord) => void): ReadRun {
	const state = foldRun(project, run, onRecord);
	if (state.run !== '') return { run, plan: readPlan(project, run), state };
	throw new SddError('RUN_NOT_FOUND', `run ${run} never began: it was killed before its first event`, 'see `sdd runs`');
}

/** Only the state: for lists of many runs. */
export function foldRun(project: string, run: string, onRecord?: (record: JournalRecord) => void): RunState {
	let state = emptyState();
	walkJournal(journalDir(project, run), {
		hasher: null,
		onRecord(record) {
			state = reduced(state, record, project, run);
			onRecord?.(record);
		},
	});
	return state;
}

/** Nothing is verified here, so a record may be anything that is JSON; what cannot be folded was not written by us. */
function reduced(state: RunState, record: JournalRecord, project: string, run: string): RunState {
	try {
		return reduce(state, record);
	} catch (error) {
		const what = `the journal ${journalDir(project, run)} was changed: record ${record.seq} makes no sense`;
		const remedy =
			'`sdd audit verify` names every change; restore the journal from a backup, or begin anew with `sdd run --fresh`';
		throw new SddError('STORE_JOURNAL_DAMAGED', what, remedy, { cause: error });
	}
}

/** Only the frozen plan. */
export function readPlan(project: string, run: string): Plan {
	const path = planFile(project, run);
	try {
		const plan = planFromDisk(readFileSync(path, 'utf8'));
		if (isPlan(plan)) return plan;
		throw new Error('it is not a plan');
	} catch (error) {
		const remedy = 'restore it from a backup, or begin anew with `sdd run --fresh`';
		throw new SddError('RUN_PLAN_DAMAGED', `the frozen plan ${path} cannot be read`, remedy, { cause: error });
	}
}

/** Enough to show a run by it, or to say that it was changed, without falling over what somebody wrote there. */
function isPlan(plan: Partial<Plan> | null): boolean {
	const isTask = (task: Partial<Plan['tasks'][number]> | null): boolean =>
		typeof task?.id === 'string' && Array.isArray(task.overlays);
	return Array.isArray(plan?.tasks) && Array.isArray(plan.agents) && plan.tasks.every(isTask);
}
