/** `sdd validate`: every problem of every file. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnostic } from '../../engine/diagnostic.ts';
import { EXIT, SddError } from '../../engine/errors.ts';
import type { Arguments } from '../arguments.ts';
import { asJson, type Terminal } from '../terminal.ts';
import { prepareWorkflow, printDiagnostics } from '../wiring.ts';

export async function validate(terminal: Terminal, args: Arguments): Promise<number> {
	const files = args.positionals.length > 0 ? args.positionals : workflowsIn(terminal.cwd);
	const found: Diagnostic[] = [];
	for (const file of files) {
		const prepared = await prepareWorkflow(terminal, file);
		found.push(...(prepared.ok ? prepared.warnings : prepared.diagnostics));
	}
	const errors = found.filter((diagnostic) => diagnostic.severity === 'error').length;
	const bad = errors > 0 || (args.has('strict') && found.length > 0);
	if (args.has('json')) terminal.out(asJson({ valid: !bad, files, diagnostics: found }));
	else {
		printDiagnostics(terminal, found);
		terminal.out(summary(files, found));
	}
	return bad ? EXIT.usage : EXIT.done;
}

function summary(files: readonly string[], found: readonly Diagnostic[]): string {
	const about = files.length === 1 ? files[0] : `${files.length} files`;
	if (found.length === 0) return `${about}: ok\n`;
	const told = found.filter(({ code }) => code !== 'WORKFLOW_MORE_PROBLEMS');
	const errors = told.filter(({ severity }) => severity === 'error').length;
	const least = told.length < found.length ? 'at least ' : '';
	return `${about}: ${least}${count(errors, 'error')}, ${count(told.length - errors, 'warning')}\n`;
}

function count(n: number, word: string): string {
	return `${n} ${word}${n === 1 ? '' : 's'}`;
}

function workflowsIn(cwd: string): readonly string[] {
	const names = namesIn(join(cwd, 'workflows')).filter((name) => /\.ya?ml$/.test(name));
	if (names.length > 0) return names.sort().map((name) => `workflows/${name}`);
	throw new SddError(
		'CLI_USAGE',
		'sdd validate: there is no workflow in workflows/',
		'name the files: sdd validate <file>…',
	);
}

function namesIn(folder: string): string[] {
	try {
		return readdirSync(folder);
	} catch {
		return [];
	}
}
