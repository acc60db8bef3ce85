import { rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JournalRecord } from '../../engine/events.ts';
import { canonical } from '../../engine/store/canonical.ts';
import { sha256 } from '../../engine/store/hash.ts';
import { publishItem, resolveItem } from '../../engine/store/hil-store.ts';
import { briefFile, itemFile, planFile, resolutionFile, runDir, workflowStateFile } from '../../engine/store/layout.ts';
import { verifyRun } from '../../engine/store/verify.ts';
import type { ViewsOf } from '../../engine/store/verify-views.ts';
import { BRIEF, edit, finishedRun, HOOK, notesOf, problemsOf, RUN, record, STATE } from './audited.ts';
import { decision, itemOf, temporaryFolders } from './rig.ts';

const newFolder = temporaryFolders();

describe('an audit of the files beside a journal', () => {
	it('finds a changed or missing plan', async () => {
		const project = await finishedRun(newFolder());
		writeFileSync(planFile(project, RUN), '{"tasks":[1]}\n');
		const file = `plan ${STATE}/runs/${RUN}/plan.json`;
		expect(problemsOf(verifyRun(project, RUN))).toEqual([
			`${file}: the plan was changed: it is not the one the run started with`,
		]);
		rmSync(planFile(project, RUN));
		expect(problemsOf(verifyRun(project, RUN))).toEqual([`${file}: the plan of the run is missing`]);
	});

	it('finds a changed or missing brief', async () => {
		const project = await finishedRun(newFolder());
		const path = briefFile(runDir(project, RUN), sha256(BRIEF));
		const file = `brief ${STATE}/runs/${RUN}/briefs/${sha256(BRIEF)}.md`;
		writeFileSync(path, 'Something else.\n');
		expect(problemsOf(verifyRun(project, RUN))).toEqual([
			`${file}: the brief was changed: its sha256 is no longer its name`,
		]);
		rmSync(path);
		expect(problemsOf(verifyRun(project, RUN))).toEqual([`${file}: the journal names this brief, but it is missing`]);
	});
});

describe('an audit of the queue', () => {
	const file = (name: string) => `${STATE}/hil/${name}`;

	it('finds a question that was edited', async () => {
		const project = await finishedRun(newFolder());
		edit(itemFile(project, 'hil-1'), (text) => text.replace('May it start?', 'May it delete all?'));
		expect(problemsOf(verifyRun(project, RUN))).toEqual([
			`hil ${file('hil-1.json')}: the question is not the one that the journal holds`,
		]);
	});

	it('finds a decision that contradicts the journal', async () => {
		const project = await finishedRun(newFolder());
		const path = resolutionFile(project, 'hil-1');
		edit(path, (text) => text.replace('"ann"', '"bob"'));
		expect(problemsOf(verifyRun(project, RUN))).toEqual([
			`hil ${file('hil-1.resolution.json')}: ${path} cannot be trusted: its hash does not fit its content`,
		]);
		edit(path, (text) => {
			const { hash: _, ...body } = JSON.parse(text);
			return JSON.stringify({ ...body, hash: sha256(canonical(body)) });
		});
		expect(problemsOf(verifyRun(project, RUN))).toEqual([
			`hil ${file('hil-1.resolution.json')}: the decision is not the one that the journal holds`,
		]);
		writeFileSync(resolutionFile(project, 'hil-1'), '{}');
		expect(problemsOf(verifyRun(project, RUN))).toEqual([
			`hil ${file('hil-1.resolution.json')}: ${resolutionFile(project, 'hil-1')} cannot be trusted: it is not a resolution`,
		]);
	});

	it.each([
		['who decided', '"by": "ann"', '"by": "bob"'],
		['what was decided', '"choice": "approve"', '"choice": "reject"'],
		['what became of it', '"status": "RESOLVED"', '"status": "REJECTED"'],
		['that it was decided', '"resolution": {', '"was": {'],
	])('finds an item that tells otherwise %s', async (_, was, is) => {
		const project = await finishedRun(newFolder());
		edit(itemFile(project, 'hil-1'), (text) => text.replace(was, is));
		expect(problemsOf(verifyRun(project, RUN))).toContain(
			`hil ${file('hil-1.json')}: it tells of another decision than was made`,
		);
	});

	it('takes an item that is only behind for sound', async () => {
		const project = await finishedRun(newFolder());
		writeFileSync(itemFile(project, 'hil-1'), JSON.stringify(itemOf('hil-1')));
		expect(problemsOf(verifyRun(project, RUN))).toEqual([]);
		writeFileSync(itemFile(project, 'hil-1'), JSON.stringify({ ...itemOf('hil-1'), status: 'RESOLVED' }));
		expect(problemsOf(verifyRun(project, RUN))).toHaveLength(1);
	});

	it('finds an item that cannot be read, and a decided one that was never asked', async () => {
		const project = await finishedRun(newFolder());
		writeFileSync(itemFile(project, 'hil-0'), 'garbage');
		publishItem(project, itemOf('hil-9'));
		resolveItem(project, 'hil-9', decision('approve'));
		expect(problemsOf(verifyRun(project, RUN))).toEqual([
			`hil ${file('hil-0.json')}: ${itemFile(project, 'hil-0')} cannot be trusted: it is not a HIL item of that name`,
			`hil ${file('hil-9.json')}: the item was decided, but the journal does not know that it was asked`,
		]);
	});

	it('notes what is only not there yet, or no longer', async () => {
		const project = await finishedRun(newFolder());
		await record(project, [{ kind: 'hil_opened', ...HOOK, question: 'r', item: itemOf('hil-2') }]);
		publishItem(project, itemOf('hil-2'));
		resolveItem(project, 'hil-2', decision('reject'));
		publishItem(project, itemOf('hil-3'));
		rmSync(itemFile(project, 'hil-1'));
		rmSync(resolutionFile(project, 'hil-1'));
		const result = verifyRun(project, RUN);
		expect(problemsOf(result)).toEqual([]);
		expect(notesOf(result)).toEqual([
			`${file('hil-1.json')}: the item is not in the queue; \`sdd run\` puts it there again`,
			`${file('hil-3.json')}: the journal does not know this item`,
			`${file('hil-1.resolution.json')}: the decision is in the journal only`,
			`${file('hil-2.resolution.json')}: the run has not taken up this decision yet`,
		]);
	});
});

describe('an audit of views', () => {
	const viewOf = (records: readonly JournalRecord[]) => `${JSON.stringify({ last: records.at(-1)?.kind })}\n`;

	async function audit(content: ((records: readonly JournalRecord[]) => string) | null): Promise<readonly string[]> {
		const project = await finishedRun(newFolder());
		const path = workflowStateFile(project);
		const views: ViewsOf = (records, run) => {
			expect(run).toBe(RUN);
			return [{ path, expected: viewOf(records) }];
		};
		let all: readonly JournalRecord[] = [];
		verifyRun(project, RUN, {
			views: (records) => {
				all = records;
				return [];
			},
		});
		if (content !== null) writeFileSync(path, content(all));
		return problemsOf(verifyRun(project, RUN, { views }));
	}

	it('finds none that differs where all are as the journal says', async () => {
		expect(await audit(viewOf)).toEqual([]);
	});

	it('tells a view that is only behind, or missing, from one that was edited', async () => {
		const behind = [`stale ${STATE}/workflow-state.json: view differs from journal: it is behind`];
		expect(await audit((records) => viewOf(records.slice(0, -2)))).toEqual(behind);
		expect(await audit(null)).toEqual([`missing ${STATE}/workflow-state.json: the view is missing`]);
		expect(await audit(() => '{"last":"approved"}\n')).toEqual([
			`view ${STATE}/workflow-state.json, line 1: view differs from journal: it was edited, or it is ahead of a journal whose tail was cut off`,
		]);
	});
});
