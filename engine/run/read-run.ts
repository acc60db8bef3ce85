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
	return { run, plan: readPlan(project, run), state: foldRun(project, run, onRecord) };
}

/** Only the state: for lists of many runs. */
export function foldRun(project: string, run: string, onRecord?: (record: JournalRecord) => void): RunState {
	let state = emptyState();
	walkJournal(journalDir(project, run), {
		hasher: null,
		onRecord(record) {
			state = reduce(state, record);
			onRecord?.(record);
		},
	});
	return state;
}

function readPlan(project: string, run: string): Plan {
	const path = planFile(project, run);
	try {
		return planFromDisk(readFileSync(path, 'utf8'));
	} catch (error) {
		const remedy = 'restore it from a backup, or begin anew with `sdd run --fresh`';
		throw new SddError('RUN_PLAN_DAMAGED', `the frozen plan ${path} cannot be read`, remedy, { cause: error });
	}
}
