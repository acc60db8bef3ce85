/** One line an event: for logs, pipes and CI. */
import type { ReportedEvent } from '../events.ts';
import { describe, type Line } from './describe.ts';
import type { Reporter, Write } from './reporter.ts';

/** Writes plain lines; `color` paints them. */
export function plainReporter(write: Write, color: boolean): Reporter {
	return {
		event(event) {
			const text = lineOf(event, color);
			if (text !== null) write(`${text}\n`);
		},
		clear() {},
		close() {},
	};
}

/** `10:31:07 implement: attempt 1: dev works`. */
export function lineOf(event: ReportedEvent, color: boolean): string | null {
	const line = describe(event);
	if (line === null) return null;
	const about = line.task === null ? '' : `${line.task}: `;
	return `${paint('dim', event.at.slice(11, 19), color)} ${about}${paint(line.tone, line.text, color)}`;
}

const CODES: { readonly [T in Line['tone']]: string } = { plain: '', good: '32', bad: '31', warn: '33', dim: '2' };

/** Text in a tone's colour. */
export function paint(tone: Line['tone'], text: string, color: boolean): string {
	return color && CODES[tone] !== '' ? `\x1b[${CODES[tone]}m${text}\x1b[0m` : text;
}
