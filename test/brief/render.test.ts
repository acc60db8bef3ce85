import { describe, expect, it } from 'vitest';
import { compileTemplate, renderTemplate } from '../../engine/brief/render.ts';
import type { SddError } from '../../engine/errors.ts';

const render = (text: string, data: { readonly [name: string]: unknown } = {}) =>
	renderTemplate('test.hbs', text, data);

function errorOf(work: () => unknown): SddError {
	try {
		work();
	} catch (error) {
		return error as SddError;
	}
	throw new Error('nothing was thrown');
}

describe('a template', () => {
	it('prints texts as they are, without escaping', () => {
		expect(render('{{x}}', { x: `<a href="b">&'` })).toBe(`<a href="b">&'`);
	});

	it('prints numbers and truth values, and nothing for null', () => {
		expect(render('{{n}} {{b}} {{z}}|{{nothing}}|', { n: 1.5, b: false, z: 0, nothing: null })).toBe('1.5 false 0||');
	});

	it('does not add numbers that stand side by side', () => {
		expect(render('{{a}}{{b}}', { a: 1, b: 2 })).toBe('12');
	});

	it('takes what is missing for false where it only asks for it', () => {
		expect(render('{{#if file}}{{file}}{{else}}none{{/if}}', {})).toBe('none');
	});

	it('never reads data as a template', () => {
		expect(render('{{x}}', { x: '{{y}} {{#each z}}' })).toBe('{{y}} {{#each z}}');
	});

	it('knows if, unless, each, with, lookup, json and indent', () => {
		expect(render('{{#if a}}yes{{else}}no{{/if}}{{#unless a}}!{{/unless}}', { a: [] })).toBe('no!');
		expect(render('{{#each list}}{{@index}}{{this}}{{/each}}', { list: ['a', 'b'] })).toBe('0a1b');
		expect(render('{{#with o}}{{x}}{{/with}}{{lookup o "x"}}', { o: { x: 1 } })).toBe('11');
		expect(render('{{json o}}', { o: { a: [1] } })).toBe('{\n  "a": [\n    1\n  ]\n}');
		expect(render('- {{indent 2 x}}', { x: 'a\nb' })).toBe('- a\n  b');
	});

	it('is compiled once, and again when its text changes', () => {
		const template = compileTemplate('same.hbs', 'a');
		expect(compileTemplate('same.hbs', 'a')).toBe(template);
		expect(compileTemplate('same.hbs', 'b')({})).toBe('b');
	});
});

describe('a template that is wrong', () => {
	it.each([
		['{{#if x}}\nnever closed', 'line 2: this is not a valid template, near '],
		['a\n{{> partial}}', 'line 2: partials and decorators are not available here'],
		['a\n\n{{shout x}}', 'line 3: there is no "shout" to call; there are json, indent, lookup'],
		['{{json (shout x)}}', 'line 1: there is no "shout" to call; there are json, indent, lookup'],
		['{{#repeat x}}{{/repeat}}', 'line 1: there is no "repeat" to call; there are if, unless, each, with'],
		['{{"text"}}', 'line 1: a value between {{ and }} must be a name'],
		['{{sdd-print x}}', 'line 1: there is no "sdd-print" to call; there are json, indent, lookup'],
	])('%j is refused when it is compiled', (text, message) => {
		const error = errorOf(() => compileTemplate('.ai-sdd/prompts/wrong.hbs', text));
		expect(error.code).toBe('TEMPLATE_INVALID');
		expect(error.message).toContain(`prompt template .ai-sdd/prompts/wrong.hbs, ${message}`);
		expect(error.remedy).toBe('correct the template, or remove it to use the built-in one');
	});

	it.each<[string, { readonly [name: string]: unknown }, string]>([
		['a\n{{oops}}', {}, 'line 2: "oops" is not defined'],
		['{{task.oops}}', { task: {} }, 'line 1: "task.oops" is not defined'],
		['a\n{{task}}', { task: {} }, 'line 2: "task" is an object; print it with {{json task}}'],
		['{{list}}', { list: [] }, 'line 1: "list" is a list; print it with {{json list}}'],
		['{{f}}', { f: () => 'x' }, 'line 1: "f" is a function; print it with {{json f}}'],
	])('%j fails when it is rendered', (text, data, message) => {
		const error = errorOf(() => render(text, data));
		expect(error.code).toBe('TEMPLATE_INVALID');
		expect(error.message).toContain(`prompt template test.hbs, ${message}`);
	});

	it('is not a text', () => {
		const error = errorOf(() => compileTemplate('x.hbs', {} as unknown as string));
		expect(error.message).toBe('prompt template x.hbs: a template must be a text');
	});
});

it.each(['constructor', 'toString', '__proto__', 'task.constructor', '(lookup task "constructor")'])(
	'nothing is reached through the prototype: %s',
	(path) => {
		const text = path.startsWith('(') ? `{{json ${path}}}` : `{{${path}}}`;
		let shown = '';
		try {
			shown = render(text, { task: {} });
		} catch {
			shown = '';
		}
		expect(['', 'null']).toContain(shown);
	},
);
