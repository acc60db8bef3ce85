/**
 * The small language of `exit_conditions` and `when`: what a parsed expression is, and what it means.
 *
 * ```
 * or      = and { "or" and }
 * and     = not { "and" not }
 * not     = "not" not | "(" or ")" | path [ op operand ]
 * op      = "==" | "!=" | ">" | ">=" | "<" | "<="
 * operand = number | 'text' | "text" | true | false | null | UPPERCASE_WORD (a text) | path
 * ```
 */
import type { Json } from './json.ts';

export { parseExpression } from './expression/parse.ts';

/** A parsed expression; plain JSON, so that it can lie in a frozen plan. */
export interface Expression {
	readonly source: string;
	readonly root: ExpressionNode;
}

/** A part of an expression. */
export type ExpressionNode =
	| { readonly kind: 'or' | 'and'; readonly of: readonly ExpressionNode[] }
	| { readonly kind: 'not'; readonly of: ExpressionNode }
	| { readonly kind: 'path'; readonly path: Path }
	| { readonly kind: 'compare'; readonly op: Comparison; readonly left: Path; readonly right: Operand };

/** Names from the scope down to a value. */
export type Path = readonly string[];
/** How two values are compared. */
export type Comparison = '==' | '!=' | '>' | '>=' | '<' | '<=';
/** A value that can be compared. */
export type Scalar = string | number | boolean | null;
/** What stands on the right of a comparison. */
export type Operand =
	| { readonly kind: 'literal'; readonly value: Scalar }
	| { readonly kind: 'path'; readonly path: Path };

/** Whether the expression holds. Missing things make a comparison false; a bare path holds only if it is exactly `true`. */
export function evaluate(expression: Expression, scope: Json): boolean {
	return holds(expression.root, scope);
}

/** Every path an expression reads, in order of appearance. */
export function paths(expression: Expression): readonly Path[] {
	return pathsOf(expression.root);
}

/** A comparison in an expression. */
export type Compared = Extract<ExpressionNode, { kind: 'compare' }>;

/** Every comparison an expression makes, in order of appearance. */
export function comparisons(expression: Expression): readonly Compared[] {
	return comparisonsOf(expression.root);
}

function holds(node: ExpressionNode, scope: Json): boolean {
	switch (node.kind) {
		case 'or':
			return node.of.some((part) => holds(part, scope));
		case 'and':
			return node.of.every((part) => holds(part, scope));
		case 'not':
			return !holds(node.of, scope);
		case 'path':
			return lookUp(node.path, scope) === true;
		case 'compare':
			return compare(node.op, scalarAt(node.left, scope), operand(node.right, scope));
	}
}

function operand(of: Operand, scope: Json): Scalar | undefined {
	return of.kind === 'literal' ? of.value : scalarAt(of.path, scope);
}

/** Lists and objects have no order and no identity here, so they compare like something missing. */
function scalarAt(path: Path, scope: Json): Scalar | undefined {
	const value = lookUp(path, scope);
	return value === null || typeof value !== 'object' ? value : undefined;
}

function lookUp(path: Path, scope: Json): Json | undefined {
	let value: Json | undefined = scope;
	for (const name of path) {
		if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return undefined;
		value = (value as { readonly [key: string]: Json | undefined })[name];
	}
	return value;
}

function compare(op: Comparison, left: Scalar | undefined, right: Scalar | undefined): boolean {
	if (left === undefined || right === undefined) return false;
	if (op === '==') return left === right;
	if (op === '!=') return left !== right;
	if (typeof left === 'number' && typeof right === 'number') return inOrder(op, left, right);
	if (typeof left === 'string' && typeof right === 'string') return inOrder(op, left, right);
	return false;
}

function inOrder<T extends string | number>(op: '>' | '>=' | '<' | '<=', left: T, right: T): boolean {
	switch (op) {
		case '>':
			return left > right;
		case '>=':
			return left >= right;
		case '<':
			return left < right;
		case '<=':
			return left <= right;
	}
}

function pathsOf(node: ExpressionNode): readonly Path[] {
	switch (node.kind) {
		case 'or':
		case 'and':
			return node.of.flatMap(pathsOf);
		case 'not':
			return pathsOf(node.of);
		case 'path':
			return [node.path];
		case 'compare':
			return node.right.kind === 'path' ? [node.left, node.right.path] : [node.left];
	}
}

function comparisonsOf(node: ExpressionNode): readonly Compared[] {
	switch (node.kind) {
		case 'or':
		case 'and':
			return node.of.flatMap(comparisonsOf);
		case 'not':
			return comparisonsOf(node.of);
		case 'path':
			return [];
		case 'compare':
			return [node];
	}
}
