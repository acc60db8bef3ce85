/** The texts of `--help`. */
import { COMMANDS, type CommandSpec, type OptionSpec } from './command-table.ts';

/** `sdd --help`. */
export function mainHelp(): string {
	return `sdd runs coding agents through a YAML workflow in which nothing is done until its overlays say so.

Usage: sdd <command> [options]

${commandList(COMMANDS)}

  sdd <command> --help   more about one command
  sdd --version

The README that comes with the package has a five-minute tour; docs/ beside it says everything else.
`;
}

/** Help of one command, or of a group of them (`hil`). */
export function helpFor(words: readonly string[]): string | null {
	const exact = COMMANDS.find((command) => command.name === words.join(' '));
	if (exact !== undefined) return commandHelp(exact);
	const group = COMMANDS.filter((command) => command.name.startsWith(`${words[0]} `));
	if (words.length !== 1 || group.length === 0) return null;
	return `Usage: sdd ${words[0]} <command> [options]\n\n${commandList(group)}\n`;
}

/** How a command is called, in one line. */
export function usageOf(command: CommandSpec): string {
	const options = command.options.length === 0 ? '' : ' [options]';
	return `sdd ${[command.name, ...command.arguments].join(' ')}${options}`;
}

function commandHelp(command: CommandSpec): string {
	const options = command.options.map((option) => [optionText(option), option.summary] as const);
	const parts = [
		`${capital(command.summary)}.`,
		`Usage: ${usageOf(command)}`,
		...(options.length === 0 ? [] : [`Options:\n${columns(options)}`]),
		...(command.details === undefined ? [] : [command.details]),
	];
	return `${parts.join('\n\n')}\n`;
}

function optionText(option: OptionSpec): string {
	return option.value === undefined ? `--${option.name}` : `--${option.name} <${option.value}>`;
}

function commandList(commands: readonly CommandSpec[]): string {
	return columns(commands.map((command) => [[command.name, ...command.arguments].join(' '), command.summary]));
}

function columns(rows: readonly (readonly [string, string])[]): string {
	const width = Math.max(...rows.map(([left]) => left.length));
	return rows.map(([left, right]) => `  ${left.padEnd(width)}   ${right}`).join('\n');
}

function capital(text: string): string {
	return text.charAt(0).toUpperCase() + text.slice(1);
}
