/** Finds the overlay that somebody means: a built-in by its name, a file, one of the project's own, or a command. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join, relative, resolve, sep } from 'node:path';
import type { OverlayDefinition } from '../engine/contract.ts';
import { SddError } from '../engine/errors.ts';
import type { OverlayUse } from '../engine/overlay-use.ts';
import { didYouMean } from '../engine/suggest.ts';
import { builtinOverlays } from '../overlays/index.ts';
import type { Terminal } from './terminal.ts';

/** Where a project keeps its own overlays. */
export const OVERLAY_FOLDER = '.ai-sdd/overlays';

export type FoundOverlay =
	| { readonly kind: 'builtin'; readonly definition: OverlayDefinition }
	| { readonly kind: 'own'; readonly use: OverlayUse };

/** The overlay behind these words: one name or file, or a command with its arguments. */
export function findOverlay(terminal: Terminal, words: readonly string[]): FoundOverlay {
	const [first = ''] = words;
	if (words.length > 1) return { kind: 'own', use: { command: [programOf(terminal, first), ...words.slice(1)] } };
	const definition = builtinOverlays.find(({ name }) => name === first);
	if (definition !== undefined) return { kind: 'builtin', definition };
	const path = resolve(terminal.cwd, first);
	if (isFile(path)) return { kind: 'own', use: useOf(terminal.project(), path) };
	const own = ownOverlays(terminal.project()).find((use) => stemOf(use) === first.replaceAll('-', '_'));
	if (own !== undefined) return { kind: 'own', use: own };
	throw unknownOverlay(terminal, first);
}

/** The project's own overlays, as `use` would name them; files beside them that hold none are left out. */
export function ownOverlays(project: string): readonly string[] {
	const folder = join(project, OVERLAY_FOLDER);
	return namesIn(folder)
		.filter((name) => looksLikeOverlay(name, join(folder, name)))
		.sort()
		.map((name) => `./${OVERLAY_FOLDER}/${name}`);
}

/** Where an overlay is, for people. */
export const BUILT_IN = 'built-in';

const MODULES: readonly string[] = ['.ts', '.mts', '.js', '.mjs', '.cjs'];

function useOf(project: string, path: string): OverlayUse {
	const isKnown = extname(path) === '.py' || MODULES.includes(extname(path));
	if (!isKnown) return { command: [path] };
	const below = relative(project, path).split(sep).join('/');
	return below.startsWith('../') ? below : `./${below}`;
}

/** The command runs in the project's folder; a path was meant from where the user stands. */
function programOf(terminal: Terminal, word: string): string {
	const path = resolve(terminal.cwd, word);
	return word.includes('/') && isFile(path) ? path : word;
}

/** Seen without running it: tests, and modules that overlays share, are none. */
function looksLikeOverlay(name: string, path: string): boolean {
	if (/^(?:[._]|test_)|_test\.py$|\.(?:test|spec|d)\./.test(name) || !isFile(path)) return false;
	const text = (): string => readFileSync(path, 'utf8');
	if (extname(name) === '.py') return /\.serve\(|jsonrpc/.test(text());
	return (
		MODULES.includes(extname(name)) && /\bexport\s+default\b|\bexport\s+const\s+overlay\b|\bexports\b/.test(text())
	);
}

function stemOf(use: string): string {
	return basename(use, extname(use)).replaceAll('-', '_');
}

function unknownOverlay(terminal: Terminal, word: string): SddError {
	const known = [
		...builtinOverlays.map(({ name }) => name),
		...ownOverlays(terminal.project()).map((use) => basename(use, extname(use))),
	];
	const meant = didYouMean(word, known);
	return new SddError(
		'OVERLAY_NOT_FOUND',
		`there is no overlay and no file ${JSON.stringify(word.slice(0, 80))}`,
		meant === undefined ? `there are: ${known.join(', ')}` : `did you mean "${meant}"?`,
	);
}

function isFile(path: string): boolean {
	return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function namesIn(folder: string): readonly string[] {
	try {
		return readdirSync(folder);
	} catch {
		return [];
	}
}
