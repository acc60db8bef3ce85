/** The built-in overlays, in the order in which they judge. The engine is given this list; it knows none of them by name. */
import type { OverlayDefinition } from '../engine/contract.ts';
import type { JsonObject } from '../engine/json.ts';
import { confidence } from './confidence/overlay.ts';
import { hil } from './hil/overlay.ts';
import { pairedWorkflow } from './paired/overlay.ts';
import { policyGate } from './policy-gate/overlay.ts';
import { agenticReview } from './review/review-overlay.ts';

export const builtinOverlays: readonly OverlayDefinition<JsonObject>[] = [
	hil as unknown as OverlayDefinition<JsonObject>,
	policyGate as unknown as OverlayDefinition<JsonObject>,
	agenticReview as unknown as OverlayDefinition<JsonObject>,
	pairedWorkflow as unknown as OverlayDefinition<JsonObject>,
	confidence as unknown as OverlayDefinition<JsonObject>,
];
