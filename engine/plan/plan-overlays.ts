/** Plans the overlays of a task: which judge, in what order, with which limits. Pure. */
import { parseDuration } from '../duration.ts';
import type { JsonObject } from '../json.ts';
import { isProcess } from '../overlay-use.ts';
import type { ResolvedOverlay, ResolvedTask } from '../workflow/resolve-tasks.ts';
import type { OverlayPlan } from './plan.ts';

/** The overlays of a task, and how many attempts they may need together. */
export interface PlannedOverlays {
	readonly overlays: readonly OverlayPlan[];
	readonly attempts: number;
}

/** How long an overlay may think about one verdict, where nobody says otherwise. */
export const OVERLAY_TIMEOUT_MS = 60_000;

/** Where an overlay judges that does not say: behind gates and reviews. */
const USUAL_ORDER = 50;

const NOTHING: PlannedOverlays = { overlays: [], attempts: 0 };

/** The enabled overlays by `order`, then by name. */
export function planOverlays(task: ResolvedTask, maxIterations: number | undefined): PlannedOverlays {
	const enabled = task.overlays.filter((overlay) => overlay.enabled && overlay.definition !== null);
	if (enabled.length === 0) return NOTHING;
	const planned = enabled.map((overlay) => planOverlay(overlay, maxIterations));
	const attempts = enabled.map(({ definition }, index) => definition!.attempts?.(planned[index]!.options) ?? 0);
	return {
		overlays: planned.sort((a, b) => a.order - b.order || (a.name < b.name ? -1 : 1)),
		attempts: attempts.reduce((sum, count) => sum + count, 0),
	};
}

function planOverlay(overlay: ResolvedOverlay, maxIterations: number | undefined): OverlayPlan {
	const { definition, merged, use } = overlay;
	const { timeout, on_error: onError = 'fail' } = merged.entry;
	return {
		name: merged.name,
		use,
		hooks: definition!.hooks,
		options: optionsOf(overlay, maxIterations),
		order: definition!.order ?? USUAL_ORDER,
		timeoutMs: timeout === undefined ? OVERLAY_TIMEOUT_MS : (parseDuration(timeout) ?? OVERLAY_TIMEOUT_MS),
		onError,
		...watchesOf(overlay),
		...logOf(overlay),
	};
}

function watchesOf({ definition, options }: ResolvedOverlay): Pick<OverlayPlan, 'watches'> {
	const watches = definition!.watches?.(options) ?? [];
	return watches.length === 0 ? {} : { watches };
}

/** A module brings its own log; what a process said of its log must be kept. */
function logOf({ definition, use }: ResolvedOverlay): Pick<OverlayPlan, 'log'> {
	const log = definition!.log;
	if (log === undefined || use === null || !isProcess(use)) return {};
	const { folder, name, members = [] } = log;
	return { log: { folder, name, members } };
}

/** The command line's limit goes to whoever has that option; the engine knows no overlay by name. */
function optionsOf({ definition, options }: ResolvedOverlay, maxIterations: number | undefined): JsonObject {
	const { properties } = definition!.options as { readonly properties?: object };
	if (maxIterations === undefined || properties === undefined || !Object.hasOwn(properties, 'max_iterations')) {
		return options;
	}
	return { ...options, max_iterations: maxIterations };
}
