/** Everything that a run writes, once; may be done again over whatever an earlier try left. */
import { join } from 'node:path';
import { SddError } from '../../../engine/errors.ts';
import type { HilItem } from '../../../engine/events.ts';
import { putBrief } from '../../../engine/store/blobs.ts';
import { mkdirDurable, replaceFile } from '../../../engine/store/durable.ts';
import { appendHead } from '../../../engine/store/heads.ts';
import { ackItem, publishItem, resolveItem } from '../../../engine/store/hil-store.ts';
import { openJournal } from '../../../engine/store/journal.ts';
import { journalDir, runDir, stateDir, workflowStateFile } from '../../../engine/store/layout.ts';
import { ensureState } from '../../../engine/store/state-folder.ts';

export const RUN = 'run-1';
export const BRIEF = 'Implement the task.\n';
export const ITEM: HilItem = {
	id: 'hil-1',
	run_id: RUN,
	workflow: 'demo',
	task_id: 'implement',
	overlay: 'hil',
	trigger: 'approval_required',
	status: 'PENDING',
	question: 'May it start?',
	choices: ['approve', 'reject'],
	context: {},
	created_at: '2026-11-18T08:00:00.000Z',
	resolution: null,
};

/** Does it all, saying after each step what is now safe. */
export async function scenario(project: string, say: (what: string) => void): Promise<void> {
	ensureState(project);
	const { writer, records } = openJournal(journalDir(project, RUN), { version: 'test' });
	const message = (text: string) => ({ kind: 'warning', code: 'TEST', message: text }) as const;
	const mark = (what: string) => say(`${what} ${writer.head().seq} ${writer.head().hash}`);
	await writer.append([message('one')]);
	mark('record');
	await Promise.all([writer.append([message('two')]), writer.append([message('three'.repeat(2000))])]);
	mark('record');
	replaceFile(workflowStateFile(project), view(1));
	say('view 1');
	replaceFile(workflowStateFile(project), view(2));
	say('view 2');
	if (!records.some((record) => record.kind === 'hil_opened')) {
		const question = { task: 'implement', attempt: 1, hook: 'before', overlay: 'hil', question: 'q' } as const;
		await writer.append([{ kind: 'hil_opened', ...question, item: ITEM }]);
		mark('record');
	}
	await decide(project, say);
	mkdirDurable(join(stateDir(project), 'reports', 'deep'));
	putBrief(runDir(project, RUN), BRIEF);
	say('brief');
	const { seq, hash: head, at } = writer.head();
	appendHead(project, { run: RUN, seq, head, at, state: 'paused' });
	say(`head ${seq} ${head}`);
	await writer.close();
	say('done');
}

/** The view's content at a version; long enough to be torn if it could be. */
export function view(version: number): string {
	return `${JSON.stringify({ version, fill: 'x'.repeat(5000) })}\n`;
}

async function decide(project: string, say: (what: string) => void): Promise<void> {
	publishItem(project, ITEM);
	say('published');
	ackItem(project, ITEM.id, { by: 'ann', at: '2026-11-18T08:30:00.000Z' });
	say('acked');
	try {
		const at = '2026-11-18T09:00:00.000Z';
		resolveItem(project, ITEM.id, { choice: 'approve', by: 'ann', via: 'cli', notes: null, at });
	} catch (error) {
		if (!(error instanceof SddError) || error.code !== 'HIL_ALREADY_RESOLVED') throw error;
	}
	say('resolved');
}
