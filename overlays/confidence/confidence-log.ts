/** The scores of a task: `.ai-sdd/state/confidence-scores/<task-id>.json`. One record a judgement, sealed by the engine. */
import type { Answer, Moment, OverlayLog } from '../../engine/contract.ts';
import type { JsonObject } from '../../engine/json.ts';
import { usageRecord } from '../shared/usage-record.ts';
import { type ConfidenceOptions, DEFAULT_THRESHOLD } from './confidence-options.ts';
import type { Score } from './score.ts';

export const confidenceLog: OverlayLog = {
	folder: 'confidence-scores',
	name: 'confidence_scores',
	members: [
		'iteration',
		'decision',
		'feedback',
		'timestamp',
		'task_id',
		'score',
		'threshold',
		'metrics',
		'unavailable',
	],
	closing(records, about) {
		const scores = records.filter((record) => 'iteration' in record);
		const last = records.at(-1);
		const byPerson = last !== undefined && 'choice' in last;
		return {
			final_score: about.ended === null ? null : (scores.at(-1)?.['score'] ?? null),
			completed_at: about.ended?.at ?? null,
			...(byPerson ? { hil_item: last['hil_item'] ?? null, decided_by: last['decided_by'] ?? null } : {}),
		};
	},
};

/** The record of one score. */
export function scoreRecord(
	moment: Moment,
	options: ConfidenceOptions,
	score: Score,
	said: { readonly decision: 'PASS' | 'ASK'; readonly feedback: string; readonly answer: Answer | undefined },
): JsonObject {
	return {
		iteration: moment.iteration,
		decision: said.decision,
		feedback: said.feedback,
		timestamp: moment.at,
		task_id: moment.task.id,
		score: score.value,
		threshold: options.threshold ?? DEFAULT_THRESHOLD,
		metrics: score.metrics.map((one) => ({ ...one })),
		unavailable: score.unavailable.map((one) => ({ ...one })),
		artifacts: moment.artifacts.map(({ path, sha256 }) => ({ path, sha256 })),
		attempt: moment.attempt,
		...(said.answer === undefined
			? {}
			: {
					evaluator_agent: options.evaluator_agent ?? null,
					prompt_sha256: said.answer.promptSha256 ?? null,
					usage: usageRecord(said.answer.usage),
				}),
	};
}
