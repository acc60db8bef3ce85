/** Looks for a line in a file of any size. */
import { closeSync, openSync, readSync } from 'node:fs';

/** The first of these words that stands alone on a line of the file, or null. */
export function findLine(path: string, words: readonly string[]): string | null {
	const chunk = Buffer.allocUnsafe(64 * 1024);
	const fd = openSync(path, 'r');
	try {
		let rest = '';
		for (let read = readSync(fd, chunk); read > 0; read = readSync(fd, chunk)) {
			// Byte for byte, so that a character cut by the chunk's end stays whole.
			const lines = (rest + chunk.toString('latin1', 0, read)).split('\n');
			rest = shortened(lines.pop() ?? '');
			const found = firstOf(lines, words);
			if (found !== null) return found;
		}
		return firstOf([rest], words);
	} finally {
		closeSync(fd);
	}
}

/** A line without end must not pile up in memory; one that is this long is not the word, whatever follows. */
function shortened(line: string): string {
	return line.length > 10_000 ? line.trim().slice(0, 5000).padEnd(5000, '.') : line;
}

function firstOf(lines: readonly string[], words: readonly string[]): string | null {
	for (const line of lines) {
		const trimmed = line.trim();
		const found = words.find((word) => Buffer.from(word).toString('latin1') === trimmed);
		if (found !== undefined) return found;
	}
	return null;
}
