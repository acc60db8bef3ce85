/**
 * Loads the chunks of the built command with the code that V8 made of them at build time, so that it is not made anew at
 * each start: see docs/decisions/0011-compiled-code.md. The build puts this ahead of the entry, in place of its `require`.
 */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';

type Require = (id: string) => unknown;

/** What a chunk is called with: the variables of a CommonJS module. */
type Chunk = (exports: unknown, require: Require, module: unknown, filename: string, folder: string) => void;

/** A `require` that loads the chunks beside the entry; it leaves all else to the entry's own. */
export function chunkRequire(entry: { readonly filename: string; exports: unknown }, others: Require): Require {
	const folder = dirname(entry.filename);
	const loaded = new Map<string, { exports: unknown }>([[`./${basename(entry.filename)}`, entry]]);
	const load: Require = (id) => {
		if (!id.startsWith('./')) return others(id);
		const known = loaded.get(id);
		if (known !== undefined) return known.exports;
		const module = { exports: {} };
		loaded.set(id, module);
		const file = join(folder, id);
		compiled(file, folder)(module.exports, load, module, file, folder);
		return module.exports;
	};
	return load;
}

function compiled(file: string, folder: string): Chunk {
	// The build leaves ASCII only; and one line, so that places in errors stay as they are in the file.
	const source = `(function(exports,require,module,__filename,__dirname){${readFileSync(file, 'latin1')}\n})`;
	const cachedData = codeOf(file, folder);
	const script = new Script(source, {
		filename: file,
		...(cachedData === null ? {} : { cachedData }),
		importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
	});
	return script.runInThisContext() as Chunk;
}

/** V8 itself refuses code of another version or with other settings, and compiles the source then. */
function codeOf(file: string, folder: string): Buffer | null {
	try {
		return readFileSync(join(folder, CODE_FOLDER, `${basename(file)}.code`));
	} catch {
		return null;
	}
}

/** Named for the Node that made the code: for any other one there is simply none. */
const CODE_FOLDER = `code-${process.version}-${process.platform}-${process.arch}`;
