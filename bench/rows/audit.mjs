/** `sdd audit verify` of a journal of 10,000 records, over hashing its bytes and parsing its lines. */
import { createHash } from 'node:crypto';
import { importSources } from '../bundle.mjs';
import { interleave, median, ratioOf, timed } from '../measure.mjs';
import { journalText, runSliced } from '../projects.mjs';
import { chain, replies, workflow } from '../workflows.mjs';

/** Each task of this kind leaves four records. */
const TASKS = 2500;
const ROUNDS = 15;

export async function measure(bench) {
	const { auditVerify } = await importSources(bench, ['cli/commands/audit-verify.ts']);
	const project = bench.project({ 'workflow.yaml': workflow(chain(TASKS)), 'replies.yaml': replies() });
	runSliced(bench, project);
	const verify = () => timed(() => verified(auditVerify, project));
	const floor = () => timed(() => hashAndParse(journalText(project)));
	await interleave({ floor, verify }, 3);
	const costs = await interleave({ floor, verify }, ROUNDS);
	return [
		{
			what: '`sdd audit verify` of 10,000 records',
			against: 'sha256 and `JSON.parse` of each line',
			floor: `${median(costs.floor).toFixed(0)} ms`,
			ours: `${median(costs.verify).toFixed(0)} ms`,
			ratio: ratioOf(costs.verify, costs.floor),
			goal: 3,
		},
	];
}

async function verified(auditVerify, project) {
	let said = '';
	const out = (text) => {
		said += text;
	};
	const terminal = { project: () => project, out, err: out };
	const args = { positionals: [], has: () => false, value: () => null };
	const exit = await auditVerify(terminal, args);
	const records = Number(/ok: (\d+) records checked/.exec(said)?.[1]);
	if (exit !== 0 || !(records >= 4 * TASKS)) throw new Error(`the audit said: ${said}`);
}

function hashAndParse(text) {
	for (const line of text.trimEnd().split('\n')) {
		createHash('sha256').update(line).digest('hex');
		JSON.parse(line);
	}
}
