/** Chooses how a run is shown. */
import { liveReporter } from '../engine/report/live.ts';
import { plainReporter } from '../engine/report/plain.ts';
import { jsonReporter, quietReporter, type Reporter } from '../engine/report/reporter.ts';
import type { Arguments } from './arguments.ts';
import type { Terminal } from './terminal.ts';

/** NDJSON, nothing, a live view on a terminal, or plain lines. */
export function chooseReporter(
	terminal: Terminal,
	args: Arguments,
	tasks: { readonly total: number; ended(): readonly string[] },
): Reporter {
	const { color, width } = terminal;
	// A dumb terminal has no way to take the status line away again.
	const canBeLive = terminal.isTty && terminal.env['TERM'] !== 'dumb';
	const write = (text: string): void => terminal.out(text);
	if (args.has('json')) return jsonReporter(write);
	if (args.has('quiet')) return quietReporter;
	if (canBeLive && !args.has('plain'))
		return liveReporter(write, { color, width, total: tasks.total, ended: tasks.ended() });
	return plainReporter(write, color && !args.has('plain'));
}
