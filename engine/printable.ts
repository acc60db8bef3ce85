/** Text from agents, files or people, made safe to show on a terminal. */

/** Without escape sequences and control characters; tabs and line ends stay. */
export function printable(text: string): string {
	return text.replaceAll(ESCAPE_SEQUENCES, '').replaceAll(CONTROL_CHARACTERS, '');
}

/** The same on one line, cut to a width. */
export function printableLine(text: string, width = 200): string {
	const line = printable(text).replaceAll(/\s+/g, ' ').trim();
	return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
}

/**
 * The same for why something went wrong. Below the reason may stand the end of what a process wrote to stderr, whose last words
 * say most (a traceback ends with the place): then the end is kept, and both together may be twice as long.
 */
export function printableReason(text: string, width = 200): string {
	const [, reason, below] = /^(.*?\bstderr:)\n(.*)$/s.exec(text) ?? [];
	if (reason === undefined || below === undefined) return printableLine(text, width);
	const first = printableLine(reason, width);
	const rest = printableLine(below, Number.POSITIVE_INFINITY);
	const room = 2 * width - first.length - 1;
	return `${first} ${rest.length <= room ? rest : `…${rest.slice(1 - room)}`}`;
}

// CSI, OSC (ended by BEL or ST), and the two-character ones.
const ESCAPE_SEQUENCES = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]/g;
// C0 but tab and newline, DEL, C1, and what reorders or hides text.
const CONTROL_CHARACTERS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
