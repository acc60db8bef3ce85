/** Builds the child programs of the tests, as Node 20 cannot run TypeScript. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

/** Bundles `children/<name>.ts` into the folder and returns the path of the program. */
export async function bundleChild(name: string, folder: string): Promise<string> {
	const file = join(folder, `${name}.mjs`);
	await build({
		input: fileURLToPath(new URL(`${name}.ts`, import.meta.url)),
		platform: 'node',
		logLevel: 'silent',
		output: { file, format: 'esm', codeSplitting: false },
	});
	return file;
}
