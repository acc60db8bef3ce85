/** Goes through a parsed template before it is compiled: refuses what it may not use, and guards what it prints. */

/** Name of the helper that every printed value goes through; no template can write it. */
export const PRINT = 'sdd-print';

const BLOCKS = ['if', 'unless', 'each', 'with'];

/** Refuses unknown helpers, partials and decorators, and puts the guard around every printed value. */
export function checkTemplate(program: hbs.AST.Program, helpers: readonly string[]): hbs.AST.Program {
	const known = new Set([...helpers, 'lookup']);
	guardAll(program, known);
	return program;
}

function guardAll(program: hbs.AST.Program | undefined, known: ReadonlySet<string>): void {
	for (const statement of program?.body ?? []) guard(statement, known);
}

function guard(statement: hbs.AST.Statement, known: ReadonlySet<string>): void {
	switch (statement.type) {
		case 'MustacheStatement':
			guardPrinted(statement as hbs.AST.MustacheStatement, known);
			return;
		case 'BlockStatement':
			guardBlock(statement as hbs.AST.BlockStatement, known);
			return;
		case 'ContentStatement':
		case 'CommentStatement':
			return;
		default:
			throw located('partials and decorators are not available here', statement);
	}
}

function guardBlock(block: hbs.AST.BlockStatement, known: ReadonlySet<string>): void {
	const name = block.path.original;
	if (block.params.length > 0 && !BLOCKS.includes(String(name))) throw unknown(name, block, BLOCKS);
	checkCalls(block.params, known);
	guardAll(block.program, known);
	guardAll(block.inverse, known);
}

/** `{{x}}` becomes `{{sdd-print x "x" line}}`, and `{{f x}}` becomes `{{sdd-print (f x) "f" line}}`. */
function guardPrinted(statement: hbs.AST.MustacheStatement, known: ReadonlySet<string>): void {
	const { path, params, hash, loc } = statement;
	if (path.type !== 'PathExpression') throw located('a value between {{ and }} must be a name', statement);
	const { original } = path as hbs.AST.PathExpression;
	const isCall = params.length > 0 || (hash?.pairs.length ?? 0) > 0;
	const value = isCall ? ({ type: 'SubExpression', path, params, hash, loc } as hbs.AST.SubExpression) : path;
	checkCalls([value], known);
	const source = { type: 'StringLiteral', value: original, original, loc };
	const line = { type: 'NumberLiteral', value: loc.start.line, original: loc.start.line, loc };
	const printer = { type: 'PathExpression', data: false, depth: 0, parts: [PRINT], original: PRINT, loc };
	Object.assign(statement, { path: printer, params: [value, source, line], hash: undefined });
}

function checkCalls(expressions: readonly hbs.AST.Expression[], known: ReadonlySet<string>): void {
	for (const expression of expressions) {
		if (expression.type !== 'SubExpression') continue;
		const { path, params } = expression as hbs.AST.SubExpression;
		if (!known.has(path.original)) throw unknown(path.original, expression, [...known]);
		checkCalls(params, known);
	}
}

function unknown(name: unknown, node: hbs.AST.Node, instead: readonly string[]): Error {
	return located(`there is no "${name}" to call; there are ${instead.join(', ')}`, node);
}

function located(message: string, node: hbs.AST.Node): Error {
	return Object.assign(new Error(message), { lineNumber: node.loc.start.line });
}
