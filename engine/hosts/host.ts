/** What the engine expects of whoever reaches overlays for it. */
import type { Hook, Moment, OverlayLog, Verdict } from '../contract.ts';
import type { OverlayPlan } from '../plan/plan.ts';

/** Reaches overlays, wherever they run. */
export interface OverlayHost {
	consult(overlay: OverlayPlan, hook: Hook, moment: Moment, signal: AbortSignal): Promise<Consulted>;
	logOf(overlay: string): OverlayLog | null;
}

/** How a consultation ended: a well-formed verdict, or a breakdown that `on_error` decides about. */
export type Consulted =
	| { readonly ok: true; readonly verdict: Verdict }
	| { readonly ok: false; readonly code: string; readonly reason: string; readonly transport: boolean };
