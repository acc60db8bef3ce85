/** Every view that follows from a run's records: what an audit compares the files with. */
import { basename, dirname, join } from 'node:path';
import type { OverlayLog } from '../contract.ts';
import type { JournalRecord } from '../events.ts';
import type { Plan } from '../plan/plan.ts';
import type { ExpectedView } from '../store/verify-views.ts';
import { emptyState, reduce } from './reduce.ts';
import { logViews, stateView, type ViewSource } from './views.ts';

export interface RunViewOptions {
	readonly project: string;
	readonly plan: Plan;
	logOf(overlay: string): OverlayLog | null;
	/** Whether the view of the state is of this run: it is of the one that was worked on last. */
	readonly ownsState: boolean;
	/** Whether a log lies in its first place, or was put aside for another run. */
	isInPlace(path: string, archived: string): boolean;
}

/** The views of a run whose journal holds these records. */
export function viewsOfRun(records: readonly JournalRecord[], options: RunViewOptions): readonly ExpectedView[] {
	let state = emptyState();
	for (const record of records) state = reduce(state, record);
	const { project, plan, logOf } = options;
	const source: ViewSource = { project, plan, logOf, state: () => state };
	const logs = logViews(source).map(({ path, text }) => {
		const archived = join(dirname(path), 'archive', state.run, basename(path));
		return { path: options.isInPlace(path, archived) ? path : archived, expected: text };
	});
	if (!options.ownsState) return logs;
	const { path, text } = stateView(source);
	return [...logs, { path, expected: text }];
}
