/**
 * Overlays of a project are code that runs with the user's rights. Before one is started for the first time, or after it
 * changed, the user is told which, and asked; what they said is remembered in their own settings, not in the project's,
 * where the code in question would vouch for itself.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { SddError } from '../engine/errors.ts';
import { type OverlayUse, useText } from '../engine/overlay-use.ts';
import { printableLine } from '../engine/printable.ts';
import type { Terminal } from './terminal.ts';
import { userSettings } from './user-settings.ts';

/** Resolves with the digest of its code when the overlay may be started; throws OVERLAY_UNTRUSTED when it may not. */
export async function needTrust(terminal: Terminal, project: string, use: OverlayUse): Promise<string> {
	const code = codeOf(project, use);
	if (knows(terminal, project, code)) return code.digest;
	const trusted = readTrusted(terminal);
	const wasKnown = trusted[project]?.[code.use] !== undefined;
	const what = `the overlay ${printableLine(code.use)} (sha256 ${code.digest}) ${wasKnown ? 'changed since it was last run' : 'was never run'} on this machine`;
	if (terminal.trustsOverlays) terminal.err(`${what}; starting it, as --trust-overlays says\n`);
	else await ask(terminal, what);
	await remember(terminal, { ...trusted, [project]: { ...trusted[project], [code.use]: code.digest } });
	return code.digest;
}

/** Whether the overlay, as it is now, was trusted before, or everything is (SDD_TRUST_OVERLAYS=1, for CI). */
export function isKnown(terminal: Terminal, project: string, use: OverlayUse): boolean {
	return knows(terminal, project, codeOf(project, use));
}

function knows(terminal: Terminal, project: string, { use, digest }: Code): boolean {
	return terminal.env['SDD_TRUST_OVERLAYS'] === '1' || readTrusted(terminal)[project]?.[use] === digest;
}

/** What identifies the code behind a use. */
export interface Code {
	readonly use: string;
	/** sha256 over the words, the files they name, and what lies in `.ai-sdd/overlays/` where one of them is there. */
	readonly digest: string;
}

/** The code behind a use. A package, or a program on the PATH, is known by its name alone: who installed it trusts it. */
export function codeOf(project: string, use: OverlayUse): Code {
	const text = useText(use);
	const words = typeof use === 'string' ? [use] : use.command;
	const named = words.map((word) => (isAbsolute(word) ? word : join(project, word))).filter(isFile);
	const shared = join(project, '.ai-sdd/overlays');
	const beside = named.some((path) => path.startsWith(`${shared}/`)) ? sourcesBelow(shared) : [];
	const hash = createHash('sha256').update(JSON.stringify(use));
	for (const path of new Set([...named, ...beside]))
		hash.update(`\0${path.slice(project.length)}\0`).update(contentOf(path));
	return { use: text, digest: hash.digest('hex') };
}

/** Overlays import what lies beside them. */
function sourcesBelow(folder: string): readonly string[] {
	const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
	return entries.flatMap((entry) => {
		const path = join(folder, entry.name);
		if (entry.isDirectory())
			return entry.name === '__pycache__' || entry.name === 'node_modules' ? [] : sourcesBelow(path);
		return isFile(path) ? [path] : [];
	});
}

/** What may be executed need not be readable. */
function contentOf(path: string): Buffer | string {
	try {
		return readFileSync(path);
	} catch {
		return '\0unreadable';
	}
}

function isFile(path: string): boolean {
	return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

type Trusted = { readonly [project: string]: { readonly [use: string]: string } };

function listFile(terminal: Terminal): string {
	return join(userSettings(terminal), 'trusted-overlays.json');
}

function readTrusted(terminal: Terminal): Trusted {
	try {
		const value = JSON.parse(readFileSync(listFile(terminal), 'utf8')) as unknown;
		return typeof value === 'object' && value !== null ? (value as Trusted) : {};
	} catch {
		// Without a readable list nothing is trusted: the user is asked again.
		return {};
	}
}

async function ask(terminal: Terminal, what: string): Promise<void> {
	const isTold =
		terminal.canAsk &&
		/^y/i.test(await terminal.ask(`${what}.\nIt is code of this project and runs with your rights. Start it? [y/N] `));
	if (isTold) return;
	throw new SddError(
		'OVERLAY_UNTRUSTED',
		`${what}; it is code of this project, and would run with your rights`,
		'read it; then trust it with --trust-overlays, or SDD_TRUST_OVERLAYS=1 in CI',
	);
}

async function remember(terminal: Terminal, trusted: Trusted): Promise<void> {
	const path = listFile(terminal);
	try {
		mkdirSync(dirname(path), { recursive: true });
		await writeFileAtomic(path, `${JSON.stringify(trusted, null, 2)}\n`);
	} catch {
		// Settings that cannot be written only mean that the user is asked again.
	}
}
