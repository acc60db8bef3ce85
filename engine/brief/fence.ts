/** Fences text that others wrote, so that nothing in it can pass for an instruction or for the end of its block. */

/** A mark for one brief that occurs in none of these texts. The nonce is a parameter so that goldens can be stable. */
export function newMark(texts: readonly string[], nonce: string = randomNonce()): string {
	let mark = `data-${nonce}`;
	for (let n = 2; texts.some((text) => text.includes(mark)); n++) mark = `data-${nonce}${n}`;
	return mark;
}

/** Puts text between two lines that carry the mark; the first may say what it is. */
export function fence(text: string, mark: string, label = ''): string {
	if (text.includes(mark)) throw new Error('a text to be fenced contains the mark: it was not given to newMark');
	const title = label === '' ? '' : ` ${label.replaceAll(/\s+/g, ' ')}`;
	return `<<<${mark}${title}\n${text}${text.endsWith('\n') ? '' : '\n'}${mark}>>>`;
}

/** Eleven letters and digits that whoever wrote the text cannot have known. */
function randomNonce(): string {
	const [a = 0, b = 0] = crypto.getRandomValues(new Uint32Array(2));
	return (a.toString(36) + b.toString(36)).padStart(11, '0');
}
