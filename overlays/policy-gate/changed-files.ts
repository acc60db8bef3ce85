/** Which files a diff changes, read from its headers alone: a line of content can never pass for one. */

/** The paths of all files that a git diff names, before and after; in order, each once. */
export function filesInDiff(diff: string): readonly string[] {
	const lines = diff.split('\n');
	const found = new Set<string>();
	for (let at = 0; at < lines.length; at++) {
		const line = lines[at] ?? '';
		for (const path of pathsIn(line)) found.add(path);
		at += hunkLength(line, lines, at);
	}
	return [...found];
}

/** Where a path is one of these places, or below one. */
export function isAtOrBelow(path: string, places: readonly string[]): boolean {
	return places.map(bare).some((place) => place === '' || path === place || path.startsWith(`${place}/`));
}

/** A place as diffs write paths: relative, without `./` and a slash at the end. */
function bare(place: string): string {
	return place
		.split('/')
		.filter((part) => part !== '' && part !== '.')
		.join('/');
}

const HEADER = /^(?:--- (?:a\/)?|\+\+\+ (?:b\/)?|rename from |rename to |copy from |copy to )(.+?)\t?$/;
const QUOTED_HEADER = /^(?:--- |\+\+\+ |rename from |rename to |copy from |copy to )"((?:[^"\\]|\\.)*)"\t?$/;

function pathsIn(line: string): readonly string[] {
	if (line.startsWith('diff --git ')) return samePath(line.slice('diff --git '.length));
	const quoted = QUOTED_HEADER.exec(line)?.[1];
	if (quoted !== undefined) {
		const path = unquoted(quoted);
		return [/^(?:---|\+\+\+)/.test(line) ? path.replace(/^[ab]\//, '') : path];
	}
	const path = HEADER.exec(line)?.[1];
	return path === undefined || path === '/dev/null' ? [] : [path];
}

/** `a/x b/x`: the only header of a binary file, an empty one, or a change of mode. Renames name their paths themselves. */
function samePath(names: string): readonly string[] {
	const quoted = /^"a\/((?:[^"\\]|\\.)*)" /.exec(names)?.[1];
	if (quoted !== undefined) return [unquoted(quoted)];
	const half = names.slice(2, (names.length - 1) / 2);
	return names === `a/${half} b/${half}` ? [half] : [];
}

const ESCAPES: { readonly [letter: string]: number } = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

/** Git writes odd characters like C does: bytes, some of them in octal. */
function unquoted(text: string): string {
	const bytes: number[] = [];
	for (const [part, octal, letter] of text.matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/g)) {
		if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
		else if (letter !== undefined) bytes.push(ESCAPES[letter] ?? letter.charCodeAt(0));
		else bytes.push(...Buffer.from(part, 'utf8'));
	}
	return Buffer.from(bytes).toString('utf8');
}

/** How many lines of content follow a hunk's header. */
function hunkLength(line: string, lines: readonly string[], at: number): number {
	const counts = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
	if (counts === null) return 0;
	let before = Number(counts[1] ?? 1);
	let after = Number(counts[2] ?? 1);
	let length = 0;
	while (before > 0 || after > 0) {
		const mark = lines[at + length + 1]?.[0];
		if (mark === undefined && at + length + 1 >= lines.length) break;
		if (mark !== '+' && mark !== '\\') before--;
		if (mark !== '-' && mark !== '\\') after--;
		length++;
	}
	return length;
}
