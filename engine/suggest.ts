/** Guesses which known word was meant by an unknown one. */

/** The candidate nearest to `word`, if one is near enough to be a likely misspelling of it. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
	const wanted = plain(word);
	let best: string | undefined;
	let bestDistance = allowance(wanted.length) + 1;
	for (const candidate of candidates) {
		if (Math.abs(candidate.length - word.length) >= bestDistance + 1) continue;
		const distance = editDistance(wanted, plain(candidate), bestDistance - 1);
		if (distance < bestDistance) {
			best = candidate;
			bestDistance = distance;
		}
	}
	return best;
}

/** The one candidate that shares most words with an unknown `max_iterations`: at least half of them, as `max_rounds` does. */
export function sharingWords(word: string, candidates: Iterable<string>): string | undefined {
	const parts = new Set(plain(word).split('_'));
	const shared = (candidate: string): number =>
		new Set(
			plain(candidate)
				.split('_')
				.filter((one) => parts.has(one)),
		).size;
	const found = [...candidates].map((candidate) => ({ candidate, count: shared(candidate) }));
	const most = Math.max(...found.map(({ count }) => count));
	const best = found.filter(({ count }) => count === most);
	return most * 2 >= parts.size && best.length === 1 ? best[0]?.candidate : undefined;
}

/** Spelling habits that are no misspelling: case, and `-` for `_`. */
function plain(word: string): string {
	return word.toLowerCase().replaceAll('-', '_');
}

function allowance(length: number): number {
	if (length <= 3) return 1;
	return length <= 7 ? 2 : 3;
}

/**
 * Edits to turn one word into the other, if no more than `most` (else one more than that); swapping two neighbours counts as one.
 * Only what lies that near to the diagonal is looked at: there may be thousands of candidates.
 */
function editDistance(a: string, b: string, most: number): number {
	const far = most + 1;
	let beforeLast: readonly number[] = [];
	let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
	let lastLeast = 0;
	for (let i = 1; i <= a.length; i++) {
		const row = new Array<number>(b.length + 1).fill(far);
		row[0] = i;
		let least = i;
		for (let j = Math.max(1, i - most); j <= Math.min(b.length, i + most); j++) {
			const same = a[i - 1] === b[j - 1];
			let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
			const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
			if (swapped) cost = Math.min(cost, beforeLast[j - 2]! + 1);
			row[j] = cost;
			least = Math.min(least, cost);
		}
		if (Math.min(least, lastLeast) > most) return far;
		beforeLast = last;
		last = row;
		lastLeast = least;
	}
	return Math.min(last[b.length]!, far);
}
