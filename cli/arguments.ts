/** Reads a command's arguments. */
import { SddError } from '../engine/errors.ts';
import { didYouMean } from '../engine/suggest.ts';
import type { CommandSpec, OptionSpec } from './command-table.ts';
import { usageOf } from './help.ts';

/** What was given on the command line, checked against the command's table. */
export interface Arguments {
	readonly positionals: readonly string[];
	/** Whether a flag was given. */
	has(name: string): boolean;
	/** The value of an option, or null. */
	value(name: string): string | null;
	/** The value of an option as a whole number within bounds, or null. */
	count(name: string, least: number, most: number): number | null;
}

/** Parses; throws CLI_USAGE for anything the command does not take. */
export function parseArguments(command: CommandSpec, argv: readonly string[]): Arguments {
	const found = new Map<string, string>();
	const positionals: string[] = [];
	for (let i = 0; i < argv.length; i++) {
		const word = argv[i] ?? '';
		if (word === '--') {
			positionals.push(...argv.slice(i + 1));
			break;
		}
		if (!word.startsWith('-') || word === '-') {
			positionals.push(word);
			continue;
		}
		const [name = '', inline] = splitOption(word);
		const option = optionNamed(command, name, word);
		if (found.has(name)) throw usage(command, `--${name} is given twice`);
		if (option.value === undefined) {
			if (inline !== undefined) throw usage(command, `--${name} takes no value`);
			found.set(name, '');
			continue;
		}
		const value = inline ?? argv[++i];
		if (value === undefined || value === '')
			throw usage(command, `--${name} needs a value: --${name} <${option.value}>`);
		found.set(name, value);
	}
	checkCount(command, positionals);
	return accessors(command, positionals, found);
}

function splitOption(word: string): readonly [string, string | undefined] {
	const name = word.replace(/^-+/, '');
	const at = name.indexOf('=');
	return at < 0 ? [name, undefined] : [name.slice(0, at), name.slice(at + 1)];
}

function optionNamed(command: CommandSpec, name: string, word: string): OptionSpec {
	const option = word.startsWith('--') ? command.options.find((one) => one.name === name) : undefined;
	if (option !== undefined) return option;
	const meant = didYouMean(
		name,
		command.options.map((one) => one.name),
	);
	const guess = meant === undefined ? '' : `; did you mean --${meant}?`;
	throw usage(command, `unknown option ${JSON.stringify(word.slice(0, 80))}${guess}`);
}

function checkCount(command: CommandSpec, positionals: readonly string[]): void {
	const needed = command.arguments.filter((argument) => argument.startsWith('<'));
	const many = command.arguments.some((argument) => argument.includes('…'));
	if (positionals.length < needed.length) throw usage(command, `${needed[positionals.length]} is missing`);
	if (!many && positionals.length > command.arguments.length) {
		throw usage(command, `unexpected argument ${JSON.stringify(positionals[command.arguments.length]?.slice(0, 80))}`);
	}
}

function accessors(
	command: CommandSpec,
	positionals: readonly string[],
	found: ReadonlyMap<string, string>,
): Arguments {
	return {
		positionals,
		has: (name) => found.has(name),
		value: (name) => found.get(name) ?? null,
		count(name, least, most) {
			const text = found.get(name);
			if (text === undefined) return null;
			const number = Number(text);
			if (/^\d{1,6}$/.test(text) && number >= least && number <= most) return number;
			throw usage(
				command,
				`--${name} needs a whole number from ${least} to ${most}, not ${JSON.stringify(text.slice(0, 40))}`,
			);
		},
	};
}

/** A wrong call of a command. */
export function usage(command: CommandSpec, what: string): SddError {
	return new SddError(
		'CLI_USAGE',
		`sdd ${command.name}: ${what}`,
		`usage: ${usageOf(command)} (see sdd ${command.name} --help)`,
	);
}
