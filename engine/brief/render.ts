/** Renders prompt templates with Handlebars. Heavy: reach it by `await import()`. */
import Handlebars from 'handlebars';
import { SddError } from '../errors.ts';
import { checkNames } from './check-names.ts';
import { checkTemplate, PRINT } from './check-template.ts';

/** Data for a template: own properties of plain objects only. */
export interface TemplateData {
	readonly [name: string]: unknown;
}

/** A compiled template. */
export type Template = (data: TemplateData) => string;

/** Compiles a template once; `name` is what error messages call it (a file, where there is one). */
export function compileTemplate(name: string, text: string): Template {
	const known = compiled.get(name);
	if (known !== undefined && known.text === text) return known.template;
	const template = compile(name, text);
	compiled.set(name, { text, template });
	return template;
}

/** Holds a template to the data it will get, before it gets any; see `checkNames` for `sample`. */
export function tryTemplate(name: string, text: string, sample: TemplateData): void {
	compileTemplate(name, text);
	blamed(name, () => checkNames(engine.parse(text), sample));
}

/** Renders a template; see `compileTemplate` for `name`. */
export function renderTemplate(name: string, text: string, data: TemplateData): string {
	return compileTemplate(name, text)(data);
}

const compiled = new Map<string, { readonly text: string; readonly template: Template }>();

function compile(name: string, text: string): Template {
	if (typeof text !== 'string') throw invalid(name, null, 'a template must be a text');
	const run = blamed(name, () => engine.compile(checkTemplate(engine.parse(text), Object.keys(HELPERS)), COMPILE));
	return (data) => blamed(name, () => run(data, RUN));
}

const COMPILE = {
	noEscape: true,
	strict: true,
	knownHelpersOnly: true,
	knownHelpers: { json: true, indent: true, [PRINT]: true },
} as const;

// Said explicitly, or Handlebars would print a warning each time it refuses one.
const RUN = { allowProtoPropertiesByDefault: false, allowProtoMethodsByDefault: false } as const;

/** What templates may call, besides if, unless, each, with and lookup. */
const HELPERS = {
	/** `{{json x}}`: any value as indented JSON. */
	json: (value: unknown) => JSON.stringify(value, null, 2) ?? 'null',
	/** `{{indent 2 text}}`: every line but the first moved to the right, for text inside a list. */
	indent: (width: number, text: unknown) => String(text).replaceAll('\n', `\n${' '.repeat(width)}`),
};

const engine = Handlebars.create();
engine.registerHelper({ ...HELPERS, [PRINT]: print });

/** Stands behind every `{{x}}`: only plain values may be printed, and only where there is one. */
function print(value: unknown, source: string, line: number): string {
	if (typeof value === 'string') return value;
	// As a text: Handlebars would add two numbers that stand side by side.
	if (typeof value === 'number' || typeof value === 'boolean') return String(value);
	if (value === null) return '';
	const cause = value === undefined ? 'is not defined' : `is ${kindOf(value)}; print it with {{json ${source}}}`;
	throw Object.assign(new Error(`"${source}" ${cause}`), { lineNumber: line });
}

function kindOf(value: unknown): string {
	if (Array.isArray(value)) return 'a list';
	return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Turns whatever Handlebars throws into an error that names the template, the line and the cause. */
function blamed<T>(name: string, work: () => T): T {
	try {
		return work();
	} catch (error) {
		if (error instanceof SddError) throw error;
		const { message, lineNumber } = error as { message: string; lineNumber?: number };
		const line = lineNumber ?? Number(/(?:on line | - )(\d+)/.exec(message)?.[1] ?? 0);
		throw invalid(name, line > 0 ? line : null, causeOf(message), error);
	}
}

function causeOf(message: string): string {
	const [first = '', context = ''] = message.split('\n');
	if (/^(Parse|Lexical) error/.test(first))
		return `this is not a valid template, near ${JSON.stringify(context.trim())}`;
	return first.replace(/ - \d+:\d+$/, '');
}

function invalid(name: string, line: number | null, cause: string, error?: unknown): SddError {
	const where = line === null ? '' : `, line ${line}`;
	const remedy = 'correct the template, or remove it to use the built-in one';
	return new SddError('TEMPLATE_INVALID', `prompt template ${name}${where}: ${cause}`, remedy, { cause: error });
}
