/** One step of a case: a command line of `sdd`, or files that somebody writes or looks at. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { COMMAND } from './rig.ts';

/** `$ITEM` in a command line is the one question that waits for a person. */
export type Step = string | { readonly write: { readonly [path: string]: string } } | { readonly show: string };

/** Performs the step in the project; returns what a person would have seen. */
export function performStep(project: string, home: string, step: Step): string {
	if (typeof step === 'string') return call(project, home, step);
	if ('show' in step) return `$ cat ${step.show}\n${readFileSync(join(project, step.show), 'utf8')}`;
	for (const [path, text] of Object.entries(step.write)) {
		mkdirSync(dirname(join(project, path)), { recursive: true });
		writeFileSync(join(project, path), text);
	}
	return `(${Object.keys(step.write).join(', ')} written by hand)\n`;
}

function call(project: string, home: string, line: string): string {
	const words = wordsOf(line).map((word) => (word === '$ITEM' ? openItem(project) : word));
	const stubs = existsSync(join(project, 'replies.yaml')) ? ['--stubs', 'replies.yaml'] : [];
	const args = words[0] === 'run' ? [...words, '--plain', ...stubs] : words;
	const env = { PATH: process.env['PATH'] ?? '', HOME: home, SDD_TRUST_OVERLAYS: '1' };
	const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
		cwd: project,
		env,
		encoding: 'utf8',
	});
	return `$ sdd ${line}\n${stdout}${stderr}exit ${status}\n`;
}

/** Words as a shell would see them, as far as cases need it. */
function wordsOf(line: string): readonly string[] {
	return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
}

function openItem(project: string): string {
	const files = readdirSync(join(project, '.ai-sdd/state/hil'));
	const open = files.flatMap((file) => /^(hil-[0-9a-f]+)\.json$/.exec(file)?.[1] ?? []);
	const [item, ...more] = open.filter((id) => !files.includes(`${id}.resolution.json`));
	if (item === undefined || more.length > 0)
		throw new Error(`${more.length + (item === undefined ? 0 : 1)} items are open`);
	return item;
}
