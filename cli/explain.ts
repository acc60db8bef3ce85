/** Tells a person why a command ended early. */
import { EXIT, SddError } from '../engine/errors.ts';
import { printable } from '../engine/printable.ts';
import { didYouMean } from '../engine/suggest.ts';
import { COMMANDS } from './command-table.ts';
import { writeOut } from './write-out.ts';

/** Writes what went wrong to stderr, with `--json` as a document to stdout too, and returns the exit code. */
export function explain(error: unknown, version: string, asJson = false): number {
	if (error instanceof SddError) {
		const { code, message, remedy, exit } = error;
		if (asJson) writeOut('stdout', `${JSON.stringify({ kind: 'error', code, message, remedy, exit })}\n`);
		writeOut('stderr', errorText(error));
		return exit;
	}
	if (asJson) writeOut('stdout', `${JSON.stringify({ kind: 'error', message: String(error), exit: EXIT.bug })}\n`);
	const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
	writeOut(
		'stderr',
		`sdd: this is a bug in sdd ${version}, not in your work. What is recorded so far is safe.\n` +
			`Please report it with the command you ran and this:\n\n${printable(trace)}\n`,
	);
	return EXIT.bug;
}

/** An expected failure in two lines: what happened, what to do. */
export function errorText(error: SddError): string {
	return `error: ${printable(error.message)} [${error.code}]\n  remedy: ${printable(error.remedy)}\n`;
}

/** An unknown command, or a group without one. */
export function unknownCommand(argv: readonly string[]): SddError {
	const [first = '', next] = argv;
	const second = next?.startsWith('-') ? undefined : next;
	const group = COMMANDS.filter((command) => command.name.startsWith(`${first} `)).map((command) => command.name);
	const known = group.length > 0 ? group : [...new Set(COMMANDS.map((command) => command.name.split(' ')[0] ?? ''))];
	const given = group.length > 0 ? `${first} ${second ?? ''}`.trim() : first;
	const meant = didYouMean(given, known);
	const what =
		group.length > 0 && second === undefined
			? `"sdd ${first}" needs a command`
			: `unknown command "${printable(given).slice(0, 80)}"`;
	const remedy =
		meant === undefined
			? `there are: ${known.join(', ')} (see sdd --help)`
			: `did you mean "sdd ${meant}"? (see sdd --help)`;
	return new SddError('CLI_UNKNOWN_COMMAND', what, remedy);
}
