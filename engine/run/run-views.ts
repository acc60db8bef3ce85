/** Every view that follows from a run's records: what an audit compares the files with. */
import type { OverlayLog } from '../contract.ts';
import type { JournalRecord } from '../events.ts';
import type { Plan } from '../plan/plan.ts';
import { archivedLogFile, logFile } from '../store/layout.ts';
import type { ExpectedView } from '../store/verify-views.ts';
import { emptyState, reduce } from './reduce.ts';
import { logViews, stateView, type ViewSource } from './views.ts';

export interface RunViewOptions {
	readonly project: string;
	readonly plan: Plan;
	logOf(overlay: string): OverlayLog | null;
	/** Whether it is the newest run: only its state has a view. */
	readonly isNewest: boolean;
	/** Whether a log still lies in its first place, and was not put aside for a later run. */
	isInPlace(path: string): boolean;
}

/** The views of a run whose journal holds these records. */
export function viewsOfRun(records: readonly JournalRecord[], options: RunViewOptions): readonly ExpectedView[] {
	let state = emptyState();
	for (const record of records) state = reduce(state, record);
	const { project, plan, logOf } = options;
	const source: ViewSource = { project, plan, logOf, state: () => state };
	const logs = logViews(source).map(({ path, text }) => ({
		path: options.isInPlace(path) ? path : placeInArchive(path, project, plan, logOf, state.run),
		expected: text,
	}));
	return options.isNewest ? [...logs, expected(stateView(source))] : logs;
}

function expected({ path, text }: { readonly path: string; readonly text: string }): ExpectedView {
	return { path, expected: text };
}

function placeInArchive(
	path: string,
	project: string,
	plan: Plan,
	logOf: RunViewOptions['logOf'],
	run: string,
): string {
	for (const task of plan.tasks) {
		for (const { name } of task.overlays) {
			const folder = logOf(name)?.folder;
			if (folder !== undefined && logFile(project, folder, task.id) === path)
				return archivedLogFile(project, folder, run, task.id);
		}
	}
	return path;
}
