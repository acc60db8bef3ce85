/** A reporter is a view of the events of a run, and nothing more. */
import type { ReportedEvent } from '../events.ts';

export interface Reporter {
	event(event: ReportedEvent): void;
	/** Makes way for somebody else's lines; the next event goes on. */
	clear(): void;
	/** Leaves the terminal clean; nothing is reported after it. */
	close(): void;
}

/** Where a reporter writes. */
export type Write = (text: string) => void;

/** Says nothing: for `--quiet`. */
export const quietReporter: Reporter = { event() {}, clear() {}, close() {} };

/** One JSON object a line: for `--json`. */
export function jsonReporter(write: Write): Reporter {
	return { event: (event) => write(`${JSON.stringify(event)}\n`), clear() {}, close() {} };
}
