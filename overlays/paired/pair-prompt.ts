/** What the challenger is told: the work, what it is held against, the earlier rounds, how to answer. */
import { capText, OUTPUT_CAP } from '../../engine/brief/cap.ts';
import { fence, randomNonce } from '../../engine/brief/fence.ts';
import type { Moment, OverlayKit } from '../../engine/contract.ts';
import { shownWork } from '../shared/shown-work.ts';
import { DEFAULT_MAX_ROUNDS, type PairOptions, type Roles } from './pair-options.ts';
import type { RoundRecord } from './pair-session.ts';

/** Earlier rounds shown in full, newest last; older ones are only counted. */
const HISTORY_SHOWN = 10;

/** The challenger's prompt. */
export function pairPrompt(
	moment: Moment,
	options: PairOptions,
	kit: OverlayKit,
	about: { readonly roles: Roles; readonly reviewId: string },
): string {
	const nonce = randomNonce();
	const rounds = earlierRounds(moment);
	return kit.render('challenger', {
		...shownWork(moment, nonce),
		round: moment.iteration,
		// A person may have ordered rounds beyond the limit.
		maxRounds: Math.max(moment.iteration, options.max_rounds ?? DEFAULT_MAX_ROUNDS),
		driver: about.roles.driver,
		challenger: about.roles.challenger,
		reviewId: about.reviewId,
		history: rounds.slice(-HISTORY_SHOWN).map((record) => ({
			round: record.iteration,
			decision: record.decision,
			by: record.challenger_agent,
			feedback: fence(`round ${record.iteration}`, capText(record.feedback, OUTPUT_CAP), nonce),
		})),
		skipped: Math.max(0, rounds.length - HISTORY_SHOWN),
	});
}

function earlierRounds(moment: Moment): readonly RoundRecord[] {
	return moment.history.flatMap((past) =>
		past.record !== null && 'iteration' in past.record ? [past.record as unknown as RoundRecord] : [],
	);
}
