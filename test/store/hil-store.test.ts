import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canonical } from '../../engine/store/canonical.ts';
import { sha256 } from '../../engine/store/hash.ts';
import {
	ackItem,
	itemDigest,
	listItems,
	publishItem,
	readItem,
	readResolution,
	resolveItem,
} from '../../engine/store/hil-store.ts';
import { ackFile, itemFile, resolutionFile } from '../../engine/store/layout.ts';
import { decision, errorOf, itemOf, temporaryFolders } from './rig.ts';

const newFolder = temporaryFolders();
const ID = 'hil-20261118-implement-1';

function projectWith(...ids: string[]): string {
	const project = newFolder();
	for (const id of ids) publishItem(project, itemOf(id));
	return project;
}

function shown(project: string, id = ID): { status: string } {
	return JSON.parse(readFileSync(itemFile(project, id), 'utf8'));
}

describe('an item of the queue', () => {
	it('is pending, then seen, then decided', () => {
		const project = projectWith(ID);
		expect(readItem(project, ID)).toEqual(itemOf(ID));
		expect(ackItem(project, ID, { by: 'ann', at: 'now' }).status).toBe('ACKED');
		expect(readItem(project, ID).status).toBe('ACKED');
		const resolved = resolveItem(project, ID, decision('approve'));
		expect(resolved).toEqual({ ...itemOf(ID), status: 'RESOLVED', resolution: decision('approve') });
		expect(readItem(project, ID)).toEqual(resolved);
		expect(shown(project)).toEqual(resolved);
		expect(readResolution(project, ID)).toEqual(decision('approve'));
	});

	it('is REJECTED by the choice reject, and seeing it later changes nothing', () => {
		const project = projectWith(ID);
		expect(resolveItem(project, ID, decision('reject')).status).toBe('REJECTED');
		expect(ackItem(project, ID, { by: 'bob', at: 'later' }).status).toBe('REJECTED');
	});

	it('is decided once: whoever comes later is told who, what and when', () => {
		const project = projectWith(ID);
		resolveItem(project, ID, decision('reject', 'ann'));
		const error = errorOf(() => resolveItem(project, ID, decision('approve', 'bob')));
		expect(error.code).toBe('HIL_ALREADY_RESOLVED');
		expect(error.message).toBe(`the item ${ID} is already decided: "reject" by ann (cli) at 2026-11-18T09:00:00.000Z`);
		expect(error.remedy).toContain('that decision stands');
		expect(readItem(project, ID).resolution?.by).toBe('ann');
	});

	it('takes only a choice that it offers', () => {
		const project = projectWith(ID);
		const error = errorOf(() => resolveItem(project, ID, decision('aprove')));
		expect(error.code).toBe('HIL_CHOICE_NOT_OFFERED');
		expect(error.message).toBe(`the item ${ID} does not offer "aprove"`);
		expect(error.remedy).toBe('choose one of: approve, reject');
		expect(readItem(project, ID).status).toBe('PENDING');
	});

	it('can be published again without losing what happened since', () => {
		const project = projectWith(ID);
		resolveItem(project, ID, decision('approve'));
		publishItem(project, itemOf(ID));
		expect(shown(project).status).toBe('RESOLVED');
	});

	it('is published anew where its view was edited or broken', () => {
		const project = projectWith(ID);
		for (const text of ['{"half', JSON.stringify(itemOf(ID, { question: 'Edited?' })), '[]']) {
			writeFileSync(itemFile(project, ID), text);
			publishItem(project, itemOf(ID));
			expect(shown(project)).toEqual(itemOf(ID));
		}
	});
});

describe('an unknown item', () => {
	it('is reported with those that may have been meant', () => {
		const project = projectWith(ID, 'hil-20261118-review-1');
		const error = errorOf(() => readItem(project, 'hil-20261118-implement-2'));
		expect(error.code).toBe('HIL_NOT_FOUND');
		expect(error.message).toBe(`there is no HIL item "hil-20261118-implement-2"; did you mean ${ID}?`);
		expect(error.remedy).toBe('list the items with `sdd hil list`');
		expect(errorOf(() => readItem(project, 'implement')).message).toContain(`did you mean ${ID}?`);
		expect(errorOf(() => readItem(project, 'nothing')).message).toBe('there is no HIL item "nothing"');
	});

	it.each(['../../secret', '', 'A B', `${ID}.resolution`])('cannot be a path: %j', (id) => {
		expect(errorOf(() => resolveItem(projectWith(ID), id, decision('approve'))).code).toBe('HIL_NOT_FOUND');
	});
});

describe('a file of the queue that somebody edited', () => {
	const stored = (more: object) => {
		const body = { item: ID, item_sha256: itemDigest(itemOf(ID)), ...decision('approve'), ...more };
		return JSON.stringify({ ...body, hash: sha256(canonical(body)) });
	};

	it('approves nothing when it is only the view', () => {
		const project = projectWith(ID);
		const approved = itemOf(ID, { status: 'RESOLVED', resolution: decision('approve') });
		writeFileSync(itemFile(project, ID), JSON.stringify(approved));
		expect(readItem(project, ID)).toEqual(itemOf(ID));
	});

	it.each([
		['{"half', 'it is not a resolution'],
		['null', 'it is not a resolution'],
		['"approve"', 'it is not a resolution'],
		[stored({ by: '' }), 'it is not a resolution'],
		[stored({ via: 'magic' }), 'it is not a resolution'],
		[stored({ notes: 7 }), 'it is not a resolution'],
		[stored({ more: { deep: 1 } }), 'it is not a resolution'],
		[stored({}).replace(/,"hash":"\w+"/, ''), 'it is not a resolution'],
		[stored({}).replace('"approve"', '"reject"'), 'its hash does not fit its content'],
		[stored({}).replace('{', '{"more":null,'), 'its hash does not fit its content'],
		[stored({ item: 'hil-other' }), 'it was made for the item hil-other'],
		[stored({ item_sha256: '0'.repeat(64) }), 'it was made for another question than this item asks'],
		[stored({ choice: 'sudo' }), 'the item does not offer the choice "sudo"'],
	])('is a clear error, never an approval: %s', (text, what) => {
		const project = projectWith(ID);
		const path = resolutionFile(project, ID);
		writeFileSync(path, text);
		const error = errorOf(() => readItem(project, ID));
		expect(error.code).toBe('STORE_HIL_DAMAGED');
		expect(error.message).toBe(`${path} cannot be trusted: ${what}`);
		expect(error.remedy).toBe('it was changed by hand; restore it from a backup, or remove the file and decide again');
		expect(errorOf(() => resolveItem(project, ID, decision('approve'))).code).toBe('STORE_HIL_DAMAGED');
	});

	it('does not carry a decision over to another question', () => {
		const project = projectWith(ID);
		resolveItem(project, ID, decision('approve'));
		const other = itemOf(ID, { question: 'May it delete everything?' });
		writeFileSync(itemFile(project, ID), JSON.stringify(other));
		expect(errorOf(() => readItem(project, ID)).code).toBe('STORE_HIL_DAMAGED');
		expect(readResolution(project, ID, itemOf(ID))).toEqual(decision('approve'));
		expect(errorOf(() => readResolution(project, ID, other)).message).toContain('another question');
	});

	it('does not hide the other items', () => {
		const project = projectWith('hil-a', 'hil-b', 'hil-c');
		writeFileSync(itemFile(project, 'hil-b'), 'garbage');
		const { items, damaged } = listItems(project);
		expect(items.map((item) => item.id)).toEqual(['hil-a', 'hil-c']);
		expect(damaged.map(({ id, error }) => [id, error.message])).toEqual([
			['hil-b', `${itemFile(project, 'hil-b')} cannot be trusted: it is not a HIL item of that name`],
		]);
	});
});

describe('the queue', () => {
	it('lists items oldest first, and is empty where there is none', () => {
		const project = newFolder();
		expect(listItems(project)).toEqual({ items: [], damaged: [] });
		publishItem(project, itemOf('hil-a', { created_at: '2026-11-18T10:00:00.000Z' }));
		publishItem(project, itemOf('hil-c'));
		publishItem(project, itemOf('hil-b'));
		expect(listItems(project).items.map((item) => item.id)).toEqual(['hil-b', 'hil-c', 'hil-a']);
	});

	it('treats a garbled acknowledgement as one: it decides nothing', () => {
		const project = projectWith(ID);
		writeFileSync(ackFile(project, ID), 'garbage');
		expect(readItem(project, ID).status).toBe('ACKED');
		rmSync(ackFile(project, ID));
		expect(readItem(project, ID).status).toBe('PENDING');
	});
});
