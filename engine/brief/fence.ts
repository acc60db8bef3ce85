/** Fences text that others wrote, so that nothing in it can pass for an instruction or for the end of its block. */

/**
 * Puts text between two lines that carry `data-<nonce>`; the first one says what it is.
 * Should the text hold the mark itself, its block gets a longer one.
 */
export function fence(label: string, text: string, nonce: string): string {
	const mark = markFor(text, nonce);
	const title = label.replaceAll(/\s+/g, ' ').trim();
	return `<<<${mark}${title === '' ? '' : ` ${title}`}\n${text}${text.endsWith('\n') ? '' : '\n'}${mark}>>>`;
}

/** Twenty-one letters and digits that whoever wrote the text cannot have known. */
export function randomNonce(): string {
	const parts = [...crypto.getRandomValues(new Uint32Array(3))];
	return parts.map((part) => part.toString(36).padStart(7, '0')).join('');
}

function markFor(text: string, nonce: string): string {
	let mark = `data-${nonce}`;
	for (let n = 2; text.includes(mark); n++) mark = `data-${nonce}-${n}`;
	return mark;
}
