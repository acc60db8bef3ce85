/** Makes parts of the source importable by plain Node: for what cannot be measured through the command. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The path of one bundled module with all exports of these source files. */
export async function bundleSources(bench, sources) {
	const name = sources.join('+').replaceAll(/[^a-z0-9+-]/g, '_');
	return await bench.once(`bundle ${name}`, async () => {
		const entry = join(bench.folder, `${name}.ts`);
		writeFileSync(entry, sources.map((path) => `export * from ${JSON.stringify(join(root, path))};\n`).join(''));
		const bundle = await rolldown({
			input: entry,
			platform: 'node',
			moduleTypes: { '.hbs': 'text', '.md': 'text' },
			external: ['jiti'],
			logLevel: 'silent',
		});
		const file = join(bench.folder, `${name}.mjs`);
		await bundle.write({ file, format: 'esm', codeSplitting: false });
		await bundle.close();
		return file;
	});
}

/** These source files, imported. */
export async function importSources(bench, sources) {
	return await import(pathToFileURL(await bundleSources(bench, sources)).href);
}
