/** The gate report: `.ai-sdd/state/gate-reports/<task-id>.json`. One record a judgement, sealed by the engine. */
import type { Moment, OverlayLog } from '../../engine/contract.ts';
import type { JsonObject } from '../../engine/json.ts';
import type { Collected } from './evidence.ts';
import { DEFAULT_TIER, type GateOptions } from './gate-options.ts';

export type GateDecision = 'PASS' | 'REWORK' | 'ASK' | 'FAIL';

export const gateReport: OverlayLog = {
	folder: 'gate-reports',
	name: 'gate_report',
	members: ['iteration', 'decision', 'feedback', 'timestamp', 'task_id', 'tier', 'evidence', 'missing'],
	closing(records, about) {
		const last = records.at(-1);
		const byPerson = last !== undefined && 'choice' in last;
		return {
			status: about.ended === null ? 'OPEN' : endStatus(last, about.ended.completed),
			completed_at: about.ended?.at ?? null,
			...(byPerson ? { hil_item: last['hil_item'] ?? null, decided_by: last['decided_by'] ?? null } : {}),
		};
	},
};

/** A task that failed later has not been let through, whatever the gate said of it. */
function endStatus(last: JsonObject | undefined, isCompleted: boolean): string {
	if (!isCompleted || last === undefined) return 'FAILED';
	if (last['choice'] === 'accept') return 'ACCEPTED_BY_HUMAN';
	return last['decision'] === 'PASS' ? 'PASSED' : 'FAILED';
}

/** The record of one judgement. */
export function gateRecord(
	moment: Moment,
	options: GateOptions,
	collected: Collected,
	said: { readonly decision: GateDecision; readonly feedback: string },
): JsonObject {
	return {
		iteration: moment.iteration,
		decision: said.decision,
		feedback: said.feedback,
		timestamp: moment.at,
		task_id: moment.task.id,
		tier: options.tier ?? DEFAULT_TIER,
		evidence: collected.evidence.map((one) => ({ ...one })),
		missing: collected.missing,
		...(options.forbidden === undefined ? {} : { forbidden_changes: collected.forbidden }),
		artifacts: moment.artifacts.map(({ path, sha256 }) => ({ path, sha256 })),
		attempt: moment.attempt,
	};
}
