/** Makes parts of the source importable by plain Node: for what cannot be measured through the command. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The path of a bundled module with all exports of these source files. */
export async function bundleSources(bench, sources) {
	const name = sources.join('+').replaceAll(/[^a-z0-9+-]/g, '_');
	return await bench.once(`bundle ${name}`, async () => {
		const folder = join(bench.folder, name);
		const entry = join(folder, 'entry.ts');
		mkdirSync(folder);
		writeFileSync(entry, sources.map((path) => `export * from ${JSON.stringify(join(root, path))};\n`).join(''));
		const bundle = await rolldown({
			input: entry,
			platform: 'node',
			moduleTypes: { '.hbs': 'text', '.md': 'text' },
			external: ['jiti'],
			logLevel: 'silent',
		});
		await bundle.write({
			dir: folder,
			format: 'esm',
			entryFileNames: 'entry.mjs',
			chunkFileNames: '[name]-[hash].mjs',
		});
		await bundle.close();
		return join(folder, 'entry.mjs');
	});
}

/** These source files, imported. */
export async function importSources(bench, sources) {
	return await import(pathToFileURL(await bundleSources(bench, sources)).href);
}
