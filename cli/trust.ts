/**
 * Overlays of a project are code that runs with the user's rights. Before one is started for the first time, or after it
 * changed, the user is told which, and asked; what they said is remembered in their own settings, not in the project's,
 * where the code in question would vouch for itself.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { SddError } from '../engine/errors.ts';
import type { OverlayUse } from '../engine/overlay-use.ts';
import { type Code, codeOf, describeCode } from './overlay-code.ts';
import type { Terminal } from './terminal.ts';
import { userSettings } from './user-settings.ts';

/** Resolves with the digest of its code when the overlay may be started; throws OVERLAY_UNTRUSTED when it may not. */
export async function needTrust(terminal: Terminal, project: string, use: OverlayUse): Promise<string> {
	const code = codeOf(project, use);
	const trusted = readTrusted(terminal);
	if (knows(terminal, trusted, project, code)) return code.digest;
	const what = describeCode(code, knownAs(trusted, project, code));
	if (terminal.trustsOverlays) terminal.err(`${what}; starting it, as --trust-overlays says\n`);
	else await ask(terminal, what);
	const { digest, files } = code;
	await remember(terminal, { ...trusted, [project]: { ...trusted[project], [code.use]: { digest, files } } });
	return digest;
}

/** Whether the overlay, as it is now, was trusted before, or everything is (SDD_TRUST_OVERLAYS=1, for CI). */
export function isKnown(terminal: Terminal, project: string, use: OverlayUse): boolean {
	return knows(terminal, readTrusted(terminal), project, codeOf(project, use));
}

function knows(terminal: Terminal, trusted: Trusted, project: string, code: Code): boolean {
	if (trustsAll(terminal.env['SDD_TRUST_OVERLAYS'] ?? '')) return true;
	return knownAs(trusted, project, code)?.digest === code.digest;
}

function trustsAll(said: string): boolean {
	if (/^(?:1|true|yes)$/i.test(said)) return true;
	if (/^(?:0|false|no|)$/i.test(said)) return false;
	throw new SddError(
		'CLI_USAGE',
		`SDD_TRUST_OVERLAYS cannot be ${JSON.stringify(said.slice(0, 40))}`,
		'1, true or yes trusts every overlay; 0, false, no or nothing does not',
	);
}

function knownAs(trusted: Trusted, project: string, { use }: Code): Known | null {
	const known = trusted[project]?.[use];
	if (known === undefined) return null;
	// Earlier versions remembered the digest alone.
	return typeof known === 'string' ? { digest: known, files: null } : known;
}

interface Known {
	readonly digest: string;
	readonly files: Code['files'] | null;
}

type Trusted = { readonly [project: string]: { readonly [use: string]: string | Known } };

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
