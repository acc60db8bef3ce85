/** Before any test: validators as fresh as the schemas they are made from. */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const MADE_FROM = ['scripts/generate-validators.mjs', 'engine/duration.ts', 'engine/workflow', 'overlays'];

/** Runs the generator if what it makes is absent or older than its sources. */
export function setup(): void {
	if (changedAt('generated/workflow.schema.json') > Math.max(...MADE_FROM.map(changedAt))) return;
	execFileSync(process.execPath, [join(root, 'scripts/generate-validators.mjs')], { cwd: root, stdio: 'inherit' });
}

/** When a file, or the newest below a folder, was changed; 0 for what is not there. */
function changedAt(path: string): number {
	const stat = statSync(join(root, path), { throwIfNoEntry: false });
	if (stat === undefined) return 0;
	if (!stat.isDirectory()) return stat.mtimeMs;
	return Math.max(stat.mtimeMs, ...readdirSync(join(root, path)).map((name) => changedAt(join(path, name))));
}
