/** The fold of the overlays' verdicts at one hook: who is to be consulted next, or what they have come to. Pure. */
import type { Hook, Question, Verdict } from '../contract.ts';
import type { OverlayPlan } from '../plan/plan.ts';
import { type Consultation, type TaskState, unanswered } from './state.ts';

export type Judgement =
	| { readonly kind: 'consult'; readonly overlay: OverlayPlan; readonly round: number }
	| { readonly kind: 'put'; readonly overlay: OverlayPlan; readonly questions: readonly Question[] }
	| { readonly kind: 'wait' }
	| { readonly kind: 'pass' }
	| { readonly kind: 'rework'; readonly overlay: string; readonly verdict: Extract<Verdict, { kind: 'rework' }> }
	| { readonly kind: 'fail'; readonly overlay: string; readonly verdict: Extract<Verdict, { kind: 'fail' }> };

/** How often one overlay may ask about one attempt: a bound no honest overlay meets. */
export const MAX_ROUNDS = 20;

/**
 * Overlays are consulted one after another; the first verdict other than `pass` is the verdict. The fold starts from
 * the top each time: recorded verdicts are taken as they are, an asker whose questions are answered is consulted again,
 * and those after it are still consulted.
 */
export function judge(overlays: readonly OverlayPlan[], hook: Hook, task: TaskState): Judgement {
	const attempt = Math.max(task.attempt, 1);
	const at = task.judging?.hook === hook && task.judging.attempt === attempt ? task.judging.by : {};
	for (const overlay of overlays) {
		if (!overlay.hooks.includes(hook)) continue;
		const said = at[overlay.name];
		if (said === undefined) return { kind: 'consult', overlay, round: 1 };
		const judgement = weigh(overlay, said);
		if (judgement.kind !== 'pass') return judgement;
	}
	return { kind: 'pass' };
}

function weigh(overlay: OverlayPlan, said: Consultation): Judgement {
	const { verdict } = said;
	switch (verdict.kind) {
		case 'pass':
			return verdict;
		case 'rework':
			return { kind: 'rework', overlay: overlay.name, verdict };
		case 'fail':
			return { kind: 'fail', overlay: overlay.name, verdict };
		case 'ask': {
			const open = unanswered(said);
			if (open.length === 0) return { kind: 'consult', overlay, round: said.rounds + 1 };
			const unput = open.filter(({ id }) => !Object.hasOwn(said.items, id));
			return unput.length > 0 ? { kind: 'put', overlay, questions: unput } : { kind: 'wait' };
		}
	}
}
