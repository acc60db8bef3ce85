/** Capping a large diff over capping a small one, and the memory that caps keep over their own size. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleSources, importSources } from '../bundle.mjs';
import { interleave, median, ratioOf, run, timed } from '../measure.mjs';

const SOURCES = ['engine/brief/cap.ts'];
const KEEPER = fileURLToPath(new URL('../cap-memory.mjs', import.meta.url));
const ROUNDS = 21;
const TIMES = 10;

export async function measure(bench) {
	const { capFile, DIFF_CAP } = await importSources(bench, SOURCES);
	const capping = (megabytes) => {
		const file = join(bench.folder, `${megabytes}.diff`);
		writeFileSync(file, '+ a line of a diff, as it is\n'.repeat((megabytes * 1e6) / 29));
		return async () => (await timed(() => repeat(TIMES, () => capFile(file, DIFF_CAP)))) / TIMES;
	};
	const works = { small: capping(1), large: capping(100) };
	await interleave(works, 3);
	const costs = await interleave(works, ROUNDS);
	const { kept, capped } = JSON.parse(
		run([process.execPath, '--expose-gc', KEEPER, await bundleSources(bench, SOURCES)], { cwd: bench.folder }),
	);
	return [
		{
			what: 'capping a diff of 100 MB',
			against: 'of 1 MB',
			floor: `${median(costs.small).toFixed(3)} ms`,
			ours: `${median(costs.large).toFixed(3)} ms`,
			ratio: ratioOf(costs.large, costs.small),
			goal: 2,
		},
		{
			what: 'memory kept after 20 caps of 10 MB texts',
			against: 'the size of the caps',
			floor: `${(capped / 1e6).toFixed(2)} MB`,
			ours: `${(kept / 1e6).toFixed(2)} MB`,
			ratio: kept / capped,
			goal: 2,
		},
	];
}

function repeat(times, work) {
	for (let i = 0; i < times; i++) work();
}
