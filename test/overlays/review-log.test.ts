import { expect, it } from 'vitest';
import type { JsonObject } from '../../engine/json.ts';
import { reviewLog, WORDS } from '../../overlays/review/review-log.ts';
import { decisionRecord } from '../../overlays/shared/round-log.ts';
import { chose, momentOf } from './moment.ts';

const NO_GO = { iteration: 1, decision: 'NO_GO' };
const GO = { iteration: 2, decision: 'GO' };

function closing(records: readonly JsonObject[], completed: boolean | null) {
	const ended = completed === null ? null : { completed, at: '2026-02-27T11:45:00Z' };
	return reviewLog.closing(records, { task: 'implement', run: 'run-1', ended });
}

it('the log lies in review-logs', () => {
	expect(reviewLog.folder).toBe('review-logs');
});

it.each([[[]], [[NO_GO]], [[NO_GO, GO]]])('while the task is open there is no final decision: %j', (records) => {
	expect(closing(records, null)).toEqual({ final_decision: null, completed_at: null });
});

it.each([
	[[NO_GO, GO], true, 'GO'],
	[[NO_GO], false, 'NO_GO'],
	[[], false, 'NO_GO'],
] as const)('%j, completed: %s: the final decision is %s', (records, completed, final) => {
	expect(closing(records, completed)).toEqual({ final_decision: final, completed_at: '2026-02-27T11:45:00Z' });
});

it('a person who accepts or rejects has the last word, and is named', () => {
	const moment = momentOf({ iteration: 3 });
	expect(closing([NO_GO, decisionRecord(moment, chose('accept'), WORDS)], true)).toEqual({
		final_decision: 'ACCEPTED_BY_HUMAN',
		completed_at: '2026-02-27T11:45:00Z',
		hil_item: 'hil-1',
		decided_by: 'ann',
	});
	expect(closing([NO_GO, decisionRecord(moment, chose('reject'), WORDS)], false)).toMatchObject({
		final_decision: 'NO_GO',
		decided_by: 'ann',
	});
});

it.each(['rework', 'takeover'])('after %s the next review decides', (choice) => {
	const decision = decisionRecord(momentOf(), chose(choice), WORDS);
	expect(decision).not.toHaveProperty('iteration');
	expect(closing([NO_GO, decision, GO], true)).toMatchObject({ final_decision: 'GO' });
	expect(closing([NO_GO, decision], false)).toMatchObject({ final_decision: 'NO_GO' });
});

it('an acceptance that was voided by a later change does not stand for the reviews after it', () => {
	const accepted = decisionRecord(momentOf(), chose('accept'), WORDS);
	expect(closing([NO_GO, accepted, { iteration: 3, decision: 'NO_GO' }], false)).toMatchObject({
		final_decision: 'NO_GO',
	});
});

it('an acceptance after which the task failed all the same is no final yes, whoever accepted', () => {
	const accepted = decisionRecord(momentOf(), chose('accept'), WORDS);
	const end = { final_decision: 'NO_GO', completed_at: '2026-02-27T11:45:00Z' };
	expect(closing([NO_GO, accepted], false)).toEqual(end);
	expect(closing([accepted], false)).toEqual(end);
});

it('what is not known of a decision is null', () => {
	const answer = { by: 'ann', value: 'accept', at: 'now' };
	expect(decisionRecord(momentOf(), answer, WORDS)).toMatchObject({ hil_item: null, decided_via: null, notes: null });
});
