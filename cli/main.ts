/**
 * The `sdd` command: finds the command, loads only what it needs, and turns whatever happens into an exit code.
 *
 * Help and version are answered from here, so that they cost little more than starting Node.
 */
import packageJson from '../package.json' with { type: 'json' };
import type { Arguments } from './arguments.ts';
import { COMMANDS, type CommandSpec } from './command-table.ts';
import { guardEnding, leave } from './ending.ts';
import { helpFor, mainHelp } from './help.ts';
import type { Terminal } from './terminal.ts';
import { writeOut } from './write-out.ts';

/** What a command's module exports; it returns the exit code. */
export type Command = (terminal: Terminal, args: Arguments) => Promise<number> | number;

const LOADERS: { readonly [name: string]: () => Promise<Command> } = {
	run: async () => (await import('./commands/run.ts')).run,
	plan: async () => (await import('./commands/plan.ts')).plan,
	validate: async () => (await import('./commands/validate.ts')).validate,
	status: async () => (await import('./commands/status.ts')).status,
	runs: async () => (await import('./commands/runs.ts')).runs,
	logs: async () => (await import('./commands/logs.ts')).logs,
	'hil list': async () => (await import('./commands/hil.ts')).hilList,
	'hil show': async () => (await import('./commands/hil.ts')).hilShow,
	'hil ack': async () => (await import('./commands/hil.ts')).hilAck,
	'hil accept': async () => (await import('./commands/hil.ts')).decide('accept'),
	'hil rework': async () => (await import('./commands/hil.ts')).decide('rework'),
	'hil takeover': async () => (await import('./commands/hil.ts')).decide('takeover'),
	'hil reject': async () => (await import('./commands/hil.ts')).decide('reject'),
	'hil decide': async () => (await import('./commands/hil.ts')).decide(),
	'audit list': async () => (await import('./commands/audit.ts')).auditList,
	'audit show': async () => (await import('./commands/audit.ts')).auditShow,
	'audit verify': async () => (await import('./commands/audit-verify.ts')).auditVerify,
	constitution: async () => (await import('./commands/constitution.ts')).constitution,
	'overlays list': async () => (await import('./commands/overlays.ts')).overlaysList,
	'overlays describe': async () => (await import('./commands/overlays.ts')).overlaysDescribe,
	'overlays test': async () => (await import('./commands/overlays-test.ts')).overlaysTest,
	'overlays new': async () => (await import('./commands/overlays-new.ts')).overlaysNew,
	schema: async () => (await import('./commands/schema.ts')).schema,
};

/** Runs the command line, and ends the process with its exit code once all output is written. */
export async function main(argv: readonly string[]): Promise<void> {
	const quick = quickAnswer(argv);
	if (quick !== null) {
		writeOut('stdout', quick);
		return;
	}
	guardEnding();
	const stray = watchStrays();
	const done = dispatch(argv).then((code) => (stray.seen ? stray.thrown : code));
	leave(await Promise.race([done, stray.thrown]).catch((error: unknown) => explained(error, argv)));
}

/** What code of the project throws when nobody listens ends the command, unless somebody else listens, as a run does. */
function watchStrays(): { seen: boolean; readonly thrown: Promise<never> } {
	let reject: (error: unknown) => void;
	const thrown = new Promise<never>((_, refuse) => {
		reject = refuse;
	});
	const stray = { seen: false, thrown };
	process.on('uncaughtException', (error) => {
		if (process.listenerCount('uncaughtException') > 1) return;
		stray.seen = true;
		void import('./stray-errors.ts').then(({ asFault }) => reject(asFault(error)));
	});
	return stray;
}

async function explained(error: unknown, argv: readonly string[]): Promise<number> {
	const { explain } = await import('./explain.ts');
	return explain(error, packageJson.version, argv.includes('--json'));
}

function quickAnswer(argv: readonly string[]): string | null {
	const [first = '--help'] = argv;
	if (first === '--version' || first === '-V') return `${packageJson.version}\n`;
	if (first === '--help' || first === '-h') return mainHelp();
	const words = argv.filter((word) => !word.startsWith('-'));
	if (first === 'help') return helpFor(words.slice(1, 3)) ?? mainHelp();
	const end = argv.indexOf('--');
	const asksForHelp = argv.slice(0, end < 0 ? argv.length : end).some((word) => word === '--help' || word === '-h');
	return asksForHelp ? (helpFor(words.slice(0, 2)) ?? helpFor(words.slice(0, 1))) : null;
}

async function dispatch(argv: readonly string[]): Promise<number> {
	const command = commandIn(argv);
	if (command === null) {
		const { unknownCommand } = await import('./explain.ts');
		throw unknownCommand(argv);
	}
	const { parseArguments } = await import('./arguments.ts');
	const args = parseArguments(command, argv.slice(command.name.split(' ').length));
	const [{ openTerminal }, run] = [await import('./terminal.ts'), await LOADERS[command.name]?.()];
	if (run === undefined) throw new Error(`the command "${command.name}" has no module`);
	const said = { trustsOverlays: args.has('trust-overlays'), wantsDocument: args.has('json') };
	return await run(openTerminal(packageJson.version, said), args);
}

function commandIn(argv: readonly string[]): CommandSpec | null {
	const two = COMMANDS.find((command) => command.name === argv.slice(0, 2).join(' '));
	return two ?? COMMANDS.find((command) => command.name === argv[0]) ?? null;
}
