/** Briefs by content: what each agent was told, kept once per text under its sha256. */
import { existsSync } from 'node:fs';
import { SddError } from '../errors.ts';
import { mkdirDurable, replaceFile } from './durable.ts';
import { storeError } from './fs-errors.ts';
import { sha256 } from './hash.ts';
import { briefFile, briefsDir } from './layout.ts';
import { textOfFile } from './read-file.ts';

/** Keeps a brief in the run's folder and returns its sha256; the same text again costs nothing. */
export function putBrief(runDir: string, text: string): string {
	const digest = sha256(text);
	const path = briefFile(runDir, digest);
	if (existsSync(path)) return digest;
	mkdirDurable(briefsDir(runDir));
	replaceFile(path, text);
	return digest;
}

/** The text of a brief; refuses one that is no longer what was kept. */
export function readBrief(runDir: string, digest: string): string {
	const path = briefFile(runDir, digest);
	const text = readText(path);
	if (sha256(text) === digest) return text;
	throw new SddError(
		'STORE_BRIEF_DAMAGED',
		`the brief ${path} was changed: its sha256 is no longer its name`,
		'restore it from a backup; `sdd audit verify` lists everything that was changed',
	);
}

function readText(path: string): string {
	try {
		return textOfFile(path);
	} catch (error) {
		throw storeError(error, path, 'read the brief');
	}
}
