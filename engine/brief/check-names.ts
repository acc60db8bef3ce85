/** Looks for names in a template that its data will never have: such a condition would never hold, and nobody would be told. */

/** Throws at the first name that is not in the data; `sample` has at least one entry in every list. */
export function checkNames(program: hbs.AST.Program, sample: object): void {
	checkAll(program, [sample]);
}

/** What `this` is, and around it what `../` is; undefined where it cannot be told. */
type Contexts = readonly unknown[];

function checkAll(program: hbs.AST.Program | undefined, contexts: Contexts): void {
	for (const statement of program?.body ?? []) {
		if (statement.type === 'MustacheStatement') checkPrinted(statement as hbs.AST.MustacheStatement, contexts);
		if (statement.type === 'BlockStatement') checkBlock(statement as hbs.AST.BlockStatement, contexts);
	}
}

function checkPrinted({ path, params, hash }: hbs.AST.MustacheStatement, contexts: Contexts): void {
	const isCall = params.length > 0 || (hash?.pairs.length ?? 0) > 0;
	for (const expression of isCall ? params : [path]) sampleOf(expression, contexts);
}

function checkBlock({ path, params, program, inverse }: hbs.AST.BlockStatement, contexts: Contexts): void {
	const values = (params.length > 0 ? params : [path]).map((one) => sampleOf(one, contexts));
	const name = params.length > 0 ? path.original : null;
	const isCondition = name === 'if' || name === 'unless';
	checkAll(program, isCondition ? contexts : [...contexts, within(name, values[0], program)]);
	checkAll(inverse, contexts);
}

/** What `this` is inside a block; names given to entries (`as |one|`) are looked up nowhere else. */
function within(name: unknown, value: unknown, program: hbs.AST.Program): unknown {
	if ((program.blockParams?.length ?? 0) > 0) return undefined;
	if (Array.isArray(value) && name !== 'with') return value[0];
	return name === 'each' ? undefined : value;
}

/** The value of an expression in the sample; undefined where it cannot be told. */
function sampleOf(expression: hbs.AST.Expression, contexts: Contexts): unknown {
	if (expression.type === 'SubExpression') {
		for (const one of (expression as hbs.AST.SubExpression).params) sampleOf(one, contexts);
		return undefined;
	}
	if (expression.type !== 'PathExpression') return undefined;
	const { data, depth, parts, original, loc } = expression as hbs.AST.PathExpression;
	let value = data ? undefined : contexts.at(-1 - depth);
	for (const part of parts) {
		if (value === undefined) return undefined;
		if (Array.isArray(value) && /^\d+$/.test(String(part))) value = value[0];
		else if (value !== null && typeof value === 'object' && Object.hasOwn(value, String(part)))
			value = (value as { readonly [name: string]: unknown })[String(part)];
		else throw Object.assign(new Error(`"${original}" is not defined`), { lineNumber: loc.start.line });
	}
	return value;
}
