/** What a signal does: it ends a run politely, and anything else that has started processes at once. */
import { EXIT } from '../engine/errors.ts';
import { leaveAtOnce } from './ending.ts';
import type { Terminal } from './terminal.ts';

/** The first signal stops the run (agents are ended, the journal says so); a second one ends the process at once. */
export function onInterrupt(stop: AbortController, terminal: Terminal, clear = (): void => {}): { dispose(): void } {
	const handle = (signal: NodeJS.Signals): void => {
		clear();
		if (stop.signal.aborted) leaveAtOnce(EXIT.interrupted);
		terminal.err(`\n${signal}: ending the agents; sdd run goes on later (again: end at once)\n`);
		stop.abort();
	};
	for (const signal of SIGNALS) process.on(signal, handle);
	return {
		dispose() {
			for (const signal of SIGNALS) process.off(signal, handle);
		},
	};
}

/** A signal meanwhile ends this process at once, and what it started with it: in groups of their own they would not hear of it. */
export async function endingAtOnce<Value>(work: () => Promise<Value>): Promise<Value> {
	const end = (): never => leaveAtOnce(EXIT.interrupted);
	for (const signal of SIGNALS) process.once(signal, end);
	try {
		return await work();
	} finally {
		for (const signal of SIGNALS) process.off(signal, end);
	}
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
