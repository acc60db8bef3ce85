/** Turns an expression's text into its tree. Never `eval`: the grammar is all there is. */
import type { Comparison, Expression, ExpressionNode, Operand } from '../expression.ts';
import { type Fault, type Token, tokenise } from './tokens.ts';

/** An expression, or why and where its text is none. */
export type ParsedExpression =
	| { readonly ok: true; readonly expression: Expression }
	| { readonly ok: false; readonly message: string; readonly offset: number };

const MAX_LENGTH = 2000;
const MAX_DEPTH = 50;
const RESERVED = new Set(['and', 'or', 'not', 'true', 'false', 'null']);

/** Parses an expression; on failure says what is wrong and at which character. */
export function parseExpression(source: string): ParsedExpression {
	if (source.length > MAX_LENGTH) {
		return { ok: false, message: `the expression is longer than ${MAX_LENGTH} characters`, offset: MAX_LENGTH };
	}
	const tokens = tokenise(source);
	if ('message' in tokens) return { ok: false, ...tokens };
	const reader = { tokens, at: 0 };
	const root = readOr(reader, 0);
	if (isFault(root)) return { ok: false, message: root.message, offset: root.offset };
	const rest = peek(reader);
	if (rest.kind !== 'end') return { ok: false, message: afterTheEnd(rest), offset: rest.offset };
	return { ok: true, expression: { source, root } };
}

interface Reader {
	readonly tokens: readonly Token[];
	at: number;
}

type Read<T> = T | Fault;

function isFault(value: object): value is Fault {
	return 'message' in value;
}

function peek(reader: Reader): Token {
	return reader.tokens[reader.at]!;
}

function take(reader: Reader): Token {
	const token = peek(reader);
	if (token.kind !== 'end') reader.at++;
	return token;
}

function takeWord(reader: Reader, word: string): boolean {
	const token = peek(reader);
	const found = token.kind === 'word' && token.text === word;
	if (found) reader.at++;
	return found;
}

function readOr(reader: Reader, depth: number): Read<ExpressionNode> {
	return readChain(reader, 'or', () => readChain(reader, 'and', () => readNot(reader, depth)));
}

function readChain(reader: Reader, kind: 'or' | 'and', readPart: () => Read<ExpressionNode>): Read<ExpressionNode> {
	const of: ExpressionNode[] = [];
	do {
		const part = readPart();
		if (isFault(part)) return part;
		of.push(part);
	} while (takeWord(reader, kind));
	return of.length === 1 ? of[0]! : { kind, of };
}

function readNot(reader: Reader, depth: number): Read<ExpressionNode> {
	const token = peek(reader);
	if (depth > MAX_DEPTH) return { message: `nested deeper than ${MAX_DEPTH} levels`, offset: token.offset };
	if (takeWord(reader, 'not')) {
		const of = readNot(reader, depth + 1);
		return isFault(of) ? of : { kind: 'not', of };
	}
	if (token.kind === 'open') return readGroup(reader, depth);
	return readComparison(reader);
}

function readGroup(reader: Reader, depth: number): Read<ExpressionNode> {
	const open = take(reader);
	const inner = readOr(reader, depth + 1);
	if (isFault(inner)) return inner;
	if (take(reader).kind !== 'close') return { message: 'this "(" has no closing ")"', offset: open.offset };
	return inner;
}

function readComparison(reader: Reader): Read<ExpressionNode> {
	const token = take(reader);
	if (token.kind !== 'word' || RESERVED.has(token.text)) return noPath(token);
	const path = token.text.split('.');
	if (peek(reader).kind !== 'op') return { kind: 'path', path };
	const op = take(reader).text as Comparison;
	const right = readOperand(take(reader), op);
	return isFault(right) ? right : { kind: 'compare', op, left: path, right };
}

function readOperand(token: Token, op: string): Read<Operand> {
	if (token.kind === 'number') return { kind: 'literal', value: Number(token.text) };
	if (token.kind === 'text') return { kind: 'literal', value: unquoted(token.text) };
	if (token.kind === 'word') return wordOperand(token);
	return { message: `expected a value after "${op}"`, offset: token.offset };
}

function wordOperand(token: Token): Read<Operand> {
	switch (token.text) {
		case 'true':
		case 'false':
			return { kind: 'literal', value: token.text === 'true' };
		case 'null':
			return { kind: 'literal', value: null };
	}
	if (RESERVED.has(token.text)) return { message: `expected a value, found "${token.text}"`, offset: token.offset };
	// GO, NO_GO, COMPLETED: people write these words without quotes.
	if (/^[A-Z][A-Z0-9_]*$/.test(token.text)) return { kind: 'literal', value: token.text };
	return { kind: 'path', path: token.text.split('.') };
}

function unquoted(text: string): string {
	return text.slice(1, -1).replace(/\\(.)/gsu, '$1');
}

function noPath(token: Token): Fault {
	const { offset } = token;
	if (token.kind === 'end')
		return { message: 'the expression ends where a path such as review.decision is expected', offset };
	return { message: `expected a path such as review.decision, found "${token.text}"`, offset };
}

function afterTheEnd(token: Token): string {
	if (token.kind === 'close') return 'this ")" closes nothing';
	return `expected "and", "or" or the end, found "${token.text}"`;
}
