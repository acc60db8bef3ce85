/** The built-in overlays. The engine is given this list; it knows none of them by name. */
import type { OverlayDefinition } from '../engine/contract.ts';
import type { JsonObject } from '../engine/json.ts';
import { hil } from './hil/overlay.ts';
import { agenticReview } from './review/review-overlay.ts';

export const builtinOverlays: readonly OverlayDefinition<JsonObject>[] = [
	hil as unknown as OverlayDefinition<JsonObject>,
	agenticReview as unknown as OverlayDefinition<JsonObject>,
];
