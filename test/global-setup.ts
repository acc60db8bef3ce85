/** Before any test: a build as fresh as its sources, as many tests run the real command. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const MADE_FROM = ['engine', 'overlays', 'agents', 'constitution', 'cli', 'scripts', 'package.json'];

/** Builds if what is built is absent, older than its sources, or was built with another Node. */
export function setup(): void {
	const ownCode = `dist/code-${process.version}-${process.platform}-${process.arch}`;
	if (existsSync(join(root, ownCode)) && changedAt('dist/sdd.cjs') > Math.max(...MADE_FROM.map(changedAt))) return;
	execFileSync(process.execPath, [join(root, 'scripts/build.mjs')], { cwd: root, stdio: 'inherit' });
}

/** When a file, or the newest below a folder, was changed; 0 for what is not there. */
function changedAt(path: string): number {
	const stat = statSync(join(root, path), { throwIfNoEntry: false });
	if (stat === undefined) return 0;
	if (!stat.isDirectory()) return stat.mtimeMs;
	return Math.max(stat.mtimeMs, ...readdirSync(join(root, path)).map((name) => changedAt(join(path, name))));
}
