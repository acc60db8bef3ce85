/** Cuts an expression's text into tokens. */

/** A word, sign or literal, and where it stands. */
export interface Token {
	readonly kind: 'word' | 'number' | 'text' | 'op' | 'open' | 'close' | 'end';
	readonly text: string;
	readonly offset: number;
}

/** Why an expression cannot be read, and where. */
export interface Fault {
	readonly message: string;
	readonly offset: number;
}

const TOKEN =
	/\s*(?:(?<word>[A-Za-z_][\w-]*(?:\.\w[\w-]*)*)|(?<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]))|(?<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?<op>==|!=|>=|<=|>(?!=)|<(?!=))|(?<open>\()|(?<close>\)))/suy;

/** Spellings from other languages, with what to write instead. */
const FOREIGN: { readonly [text: string]: string } = {
	'&&': '"and"',
	'||': '"or"',
	'!': '"not"',
	'=': '"=="',
	'&': '"and"',
	'|': '"or"',
};

/** The tokens of a text, closed by an `end` token; or the first character that fits nowhere. */
export function tokenise(text: string): readonly Token[] | Fault {
	const tokens: Token[] = [];
	let offset = 0;
	while (text.slice(offset).trim() !== '') {
		TOKEN.lastIndex = offset;
		const match = TOKEN.exec(text);
		if (match === null) return strange(text, offset);
		const token = toToken(match);
		tokens.push(token);
		offset = TOKEN.lastIndex;
	}
	tokens.push({ kind: 'end', text: '', offset: text.trimEnd().length });
	return tokens;
}

function toToken(match: RegExpExecArray): Token {
	const [kind, text] = Object.entries(match.groups!).find(([, found]) => found !== undefined)!;
	return { kind: kind as Token['kind'], text: text!, offset: match.index + match[0].length - text!.length };
}

function strange(text: string, from: number): Fault {
	const offset = from + (text.slice(from).length - text.slice(from).trimStart().length);
	const two = text.slice(offset, offset + 2);
	const foreign = two in FOREIGN ? two : text.charAt(offset);
	if (Object.hasOwn(FOREIGN, foreign))
		return { message: `"${foreign}" means nothing here: write ${FOREIGN[foreign]}`, offset };
	if (/^['"]/.test(foreign)) return { message: 'the text that starts here has no closing quote', offset };
	if (/^[\d-]/.test(foreign)) return { message: 'this is not a number', offset };
	return { message: `unexpected character ${JSON.stringify([...text.slice(offset)][0])}`, offset };
}
