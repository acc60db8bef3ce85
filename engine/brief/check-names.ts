/** Looks for names in a template that its data will never have: such a condition would never hold, and nobody would be told. */

/** Throws at the first name that is not in the data; `sample` has at least one entry in every list. */
export function checkNames(program: hbs.AST.Program, sample: object): void {
	checkAll(program, { contexts: [sample], given: [] });
}

/** What names can mean at a place. */
interface Scope {
	/** What `this` is, and before it what `../` is; undefined where it cannot be told. */
	readonly contexts: readonly unknown[];
	/** Names that blocks around it give to entries (`as |one|`). */
	readonly given: readonly string[];
}

/** The one of `{{^name}}` has only an `inverse`. */
type Block = Omit<hbs.AST.BlockStatement, 'program'> & { readonly program: hbs.AST.Program | undefined };

function checkAll(program: hbs.AST.Program | undefined, scope: Scope): void {
	for (const statement of program?.body ?? []) {
		if (statement.type === 'MustacheStatement') checkPrinted(statement as hbs.AST.MustacheStatement, scope);
		if (statement.type === 'BlockStatement') checkBlock(statement as Block, scope);
	}
}

function checkPrinted({ path, params, hash }: hbs.AST.MustacheStatement, scope: Scope): void {
	const isCall = params.length > 0 || (hash?.pairs.length ?? 0) > 0;
	for (const expression of isCall ? params : [path]) sampleOf(expression, scope);
}

function checkBlock({ path, params, program, inverse }: Block, scope: Scope): void {
	const values = (params.length > 0 ? params : [path]).map((one) => sampleOf(one, scope));
	const name = params.length > 0 ? path.original : null;
	const isCondition = name === 'if' || name === 'unless';
	const contexts = isCondition ? scope.contexts : [...scope.contexts, within(name, values[0])];
	checkAll(program, { contexts, given: [...scope.given, ...(program?.blockParams ?? [])] });
	checkAll(inverse, scope);
}

/** What `this` is inside a block. */
function within(name: unknown, value: unknown): unknown {
	if (Array.isArray(value) && name !== 'with') return value[0];
	return name === 'each' ? undefined : value;
}

/** The value of an expression in the sample; undefined where it cannot be told. */
function sampleOf(expression: hbs.AST.Expression, scope: Scope): unknown {
	if (expression.type === 'SubExpression') {
		for (const one of (expression as hbs.AST.SubExpression).params) sampleOf(one, scope);
		return undefined;
	}
	if (expression.type !== 'PathExpression') return undefined;
	const { data, depth, parts, original, loc } = expression as hbs.AST.PathExpression;
	if (depth === 0 && scope.given.includes(String(parts[0]))) return undefined;
	let value = data ? undefined : scope.contexts.at(-1 - depth);
	for (const part of parts) {
		if (value === undefined) return undefined;
		if (Array.isArray(value) && /^\d+$/.test(String(part))) value = value[0];
		else if (value !== null && typeof value === 'object' && Object.hasOwn(value, String(part)))
			value = (value as { readonly [name: string]: unknown })[String(part)];
		else throw Object.assign(new Error(`"${original}" is not defined`), { lineNumber: loc.start.line });
	}
	return value;
}
