/**
 * How this process ends. Code of the project runs in it, and may leave timers and listeners behind, or end it: the exit
 * code is still the one that sdd decided on, and it never looks like success when sdd was not done.
 */
import { drainOut, unlessLost, writeOut } from './write-out.ts';

// Taken before any code of the project is loaded, which could put its own in their place.
const ours = process as NodeJS.Process & { reallyExit(code: number): never };
const { exit, reallyExit } = ours;

let decided: number | null = null;

/** From now on nobody but `leave` and `leaveAtOnce` says with which code the process ends. */
export function guardEnding(): void {
	// Every `process.exit`, from wherever it is called and after all listeners, comes through here.
	ours.reallyExit = () => reallyExit.call(process, decided ?? endedEarly());
	// Nothing is left to wait for, and sdd is not done: an overlay's promise that nobody will ever keep.
	process.on('beforeExit', () => exit.call(process, EARLY));
}

/** Ends the process when all is done: what was printed has been read, and what code of the project left running is not waited for. */
export function leave(code: number): never {
	decided = code;
	// While nothing else can run, their listeners could not be called, and the user could not even interrupt.
	for (const signal of SIGNALS) process.removeAllListeners(signal);
	drainOut();
	return leaveAtOnce(unlessLost(code));
}

/** Ends the process without waiting for whoever reads what it printed. */
export function leaveAtOnce(code: number): never {
	decided = code;
	try {
		exit.call(process, code);
	} catch {
		// A listener of the project's threw: that changes nothing.
	}
	return reallyExit.call(process, code);
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const EARLY = 1;

function endedEarly(): number {
	writeOut('stderr', 'error: sdd was ended before it was done, perhaps by an overlay that called process.exit\n');
	drainOut();
	return EARLY;
}
