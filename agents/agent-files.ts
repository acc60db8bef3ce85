/**
 * The files of agent runs, below `agents/` in the run's folder.
 *
 * Making a file costs some disks as much as starting a process, so an agent run makes one: its stdout, which must be
 * its own, as a daemon left behind by an earlier agent may still write into that one's. The brief on its way to stdin
 * and an stderr that stays empty use files that are there already, one pair for each agent that runs at a time.
 */
import { createHash } from 'node:crypto';
import {
	appendFileSync,
	closeSync,
	constants,
	ftruncateSync,
	mkdirSync,
	openSync,
	renameSync,
	writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { AgentRequest } from '../engine/agent.ts';
import { storeError } from '../engine/store/fs-errors.ts';

/** The files of one agent run. */
export interface AgentFiles {
	readonly brief: string;
	readonly stdout: string;
	/** The stdout file's name relative to the run's folder. */
	readonly stdoutName: string;
	readonly stderr: string;
	/** Adds the brief to the file of all briefs, for those who want to know what an agent was told; returns why it could not. */
	noteBrief(): Error | null;
	/** Gives stderr the run's own name, so that it is kept; returns its new path. */
	keepStderr(): string;
	/** Lets other runs use what this one need not keep. */
	release(): void;
}

/** Makes the files of one agent run ready, with its brief in place. */
export function prepareFiles({ key, runDir, prompt }: Pick<AgentRequest, 'key' | 'runDir' | 'prompt'>): AgentFiles {
	const folder = join(runDir, 'agents');
	const slots = slotsOf(folder);
	const slot = slots.free.pop() ?? slots.made++;
	// Another process may be at work on the same run, until it learns that it is fenced.
	const shared = join(folder, `slot-${process.pid}-${slot}`);
	const brief = `${shared}.brief.md`;
	writeBrief(brief, prompt);
	const name = fileNameFor(key);
	return {
		brief,
		stdout: join(folder, `${name}.stdout.txt`),
		stdoutName: `agents/${name}.stdout.txt`,
		stderr: `${shared}.stderr.txt`,
		noteBrief: () => noteBrief(folder, { key, prompt }),
		keepStderr() {
			const kept = join(folder, `${name}.stderr.txt`);
			renameSync(`${shared}.stderr.txt`, kept);
			return kept;
		},
		release: () => slots.free.push(slot),
	};
}

interface Slots {
	made: number;
	readonly free: number[];
}

const slotsByFolder = new Map<string, Slots>();

function slotsOf(folder: string): Slots {
	const known = slotsByFolder.get(folder);
	if (known !== undefined) return known;
	const slots = { made: 0, free: [] };
	try {
		mkdirSync(folder, { recursive: true });
	} catch (error) {
		throw storeError(error, folder, 'make the folder');
	}
	slotsByFolder.set(folder, slots);
	return slots;
}

/** A file name for an effect's key: unique, safe in any file system, and of bounded length. */
export function fileNameFor(key: string): string {
	const name = key
		.replaceAll(/[^a-z0-9_#/-]/g, (other) => `%${other.charCodeAt(0).toString(16)}.`)
		.replaceAll('#', '@')
		.replaceAll('/', '+');
	if (name.length <= LONGEST_NAME) return name;
	return `${name.slice(0, LONGEST_NAME)}~${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;
}

const LONGEST_NAME = 120;

function writeBrief(file: string, prompt: string): void {
	try {
		overwrite(file, Buffer.from(prompt));
	} catch (error) {
		throw storeError(error, file, 'write the brief');
	}
}

function noteBrief(folder: string, brief: { readonly key: string; readonly prompt: string }): Error | null {
	const file = join(folder, 'briefs.ndjson');
	try {
		appendFileSync(file, `${JSON.stringify(brief)}\n`);
		return null;
	} catch (error) {
		return storeError(error, file, 'write the brief');
	}
}

/** Writes over what is there: emptying a file first makes some file systems write it out to the disk at once. */
function overwrite(file: string, content: Buffer): void {
	const fd = openSync(file, constants.O_WRONLY | constants.O_CREAT, 0o666);
	try {
		for (let at = 0; at < content.length; ) at += writeSync(fd, content, at, content.length - at, at);
		ftruncateSync(fd, content.length);
	} finally {
		closeSync(fd);
	}
}
