/** The first thing that a newcomer runs, as it is shipped, against what the README shows of it. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf, ROOT } from '../docs/read-docs.ts';
import { type Data, makeRig } from '../rig.ts';

const QUICKSTART = 'workflows/quickstart.yaml';

test('the quickstart runs as the README shows it, and runs again', async () => {
	const rig = await makeRig();
	cpSync(join(ROOT, 'workflows'), join(rig.dir, 'workflows'), { recursive: true });
	const shown = blocksOf('README.md').find(({ text }) => text.includes(' of quickstart\n'))?.text ?? '';
	for (const runs of [1, 2]) {
		const { code, stdout, stderr } = await rig.sdd('run', QUICKSTART);
		expect([code, stderr]).toEqual([0, '']);
		expect(bare(stdout)).toBe(bare(shown));
		expect(rig.runs()).toHaveLength(runs);
	}
	expect(rig.read('.quickstart/slug.mjs')).toContain("replaceAll(/^-|-$/g, '')");
	const { iterations, final_decision } = rig.json('.ai-sdd/state/review-logs/implement.json');
	expect(final_decision).toBe('GO');
	const [sentBack, passed] = iterations as readonly Data[];
	expect(passed).toMatchObject({ decision: 'GO', coder_agent: 'coder', reviewer_agent: 'reviewer' });
	expect(sentBack?.['feedback']).toContain('not ok 2 - punctuation leaves no hyphen at either end');
	expect((await rig.sdd('audit', 'verify')).code).toBe(0);
});

test('the reviewer of the quickstart holds the code to the Standards it is given', async () => {
	const rig = await makeRig();
	cpSync(join(ROOT, 'workflows'), join(rig.dir, 'workflows'), { recursive: true });
	const coder = rig.read('workflows/quickstart/coder.mjs');
	rig.write('workflows/quickstart/coder.mjs', coder.replaceAll(/\/\*\* The last part .*\n/g, ''));
	rig.write('constitution.md', '# Ours\n\n## Standards\n\n- **Documentation**: every function has a comment.\n');
	const { code, stdout } = await rig.sdd('run', QUICKSTART);
	expect(code).toBe(3);
	expect(stdout).toContain('NO_GO The Standards ask for documented code, and slug() has no comment.');
});

/** Without what differs from run to run. */
function bare(text: string): string {
	return text
		.replaceAll(/^\d\d:\d\d:\d\d /gm, '')
		.replaceAll(/finished in \S+(?: m?s)?$/gm, 'finished')
		.replaceAll(/\b\d{8}-\d{6}-[a-z0-9]{6}\b/g, '<run>')
		.replaceAll(/\b[0-9a-f]{64}\b/g, '<head>');
}
