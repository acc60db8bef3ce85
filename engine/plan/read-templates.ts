/** Reads the prompt templates that replace built-in ones: `.ai-sdd/prompts/` < the settings' `prompts` < the command line. */
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Diagnostic, quote } from '../diagnostic.ts';
import { didYouMean } from '../suggest.ts';
import type { FindFault } from '../workflow/inside-project.ts';
import { readText } from '../workflow/load.ts';
import { aboutFile, type Complaint, errorAt, type Findings, type Place } from '../workflow/source.ts';
import type { Workflow } from '../workflow/workflow.ts';

/** Where templates are looked for, and which there can be. */
export interface TemplateSearch {
	readonly project: string;
	readonly workflow: Workflow;
	/** Names of the templates there are. */
	readonly known: readonly string[];
	/** What the command line says, by template: an absolute path and the option's name. */
	readonly given: { readonly [name: string]: { readonly path: string; readonly option: string } };
	readonly show: (path: string) => string;
	readonly findFault: FindFault;
	readonly findings: Findings;
}

/** A template's text, and what its file is called in messages. */
export interface FoundTemplate {
	readonly file: string;
	readonly text: string;
}

/** The largest template; larger ones are a mistake. */
const MAX_BYTES = 1024 * 1024;

/** The templates by name; what cannot be used goes to the findings. */
export function readTemplates(search: TemplateSearch): ReadonlyMap<string, FoundTemplate> {
	return new Map([...fromFolder(search), ...fromSettings(search), ...fromCommandLine(search)]);
}

function fromFolder(search: TemplateSearch): readonly (readonly [string, FoundTemplate])[] {
	const folder = join(search.project, '.ai-sdd', 'prompts');
	return namesIn(folder).flatMap((file) => {
		const path = join(folder, file);
		const name = file.slice(0, -'.hbs'.length);
		if (!search.known.includes(name)) search.findings.diagnostics.push(unknown(name, search.show(path), search.known));
		const fault = search.findFault(`.ai-sdd/prompts/${file}`);
		if (fault !== null) {
			const { code, message, remedy } = faulty(search.show(path), fault);
			search.findings.diagnostics.push(aboutFile(code, search.show(path), message, remedy));
			return [];
		}
		const text = readText(path, search.show(path), MAX_BYTES);
		if (typeof text === 'string') return [[name, { file: search.show(path), text }] as const];
		search.findings.diagnostics.push({ ...text, code: 'TEMPLATE_INVALID' });
		return [];
	});
}

function namesIn(folder: string): readonly string[] {
	try {
		return readdirSync(folder)
			.filter((name) => name.endsWith('.hbs'))
			.sort();
	} catch (error) {
		const { code = '' } = error as NodeJS.ErrnoException;
		if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(code)) return [];
		throw error;
	}
}

function unknown(name: string, file: string, known: readonly string[]): Diagnostic {
	const meant = didYouMean(name, known);
	const remedy = meant === undefined ? `the templates are ${known.join(', ')}` : `did you mean "${meant}.hbs"?`;
	const diagnostic = aboutFile('TEMPLATE_UNKNOWN', file, `no prompt is called ${quote(name)}`, remedy);
	return { ...diagnostic, severity: 'warning' };
}

function fromSettings(search: TemplateSearch): readonly (readonly [string, FoundTemplate])[] {
	const { settings } = search.workflow;
	return Object.entries(settings?.file.prompts ?? {}).flatMap(([name, path]) => {
		const place: Place = { source: settings!.source, pointer: ['prompts', name], on: 'value' };
		const fault = search.findFault(path);
		const found = fault === null ? readGiven(resolve(search.project, path), search) : faulty(path, fault);
		if (!('code' in found)) return [[name, found] as const];
		search.findings.problems.push(errorAt(place, found));
		return [];
	});
}

function faulty(path: string, { code, fault, remedy }: NonNullable<ReturnType<FindFault>>): Complaint {
	return { code, message: `the template ${quote(path)} ${fault}`, remedy };
}

function fromCommandLine(search: TemplateSearch): readonly (readonly [string, FoundTemplate])[] {
	return Object.entries(search.given).flatMap(([name, { path, option }]) => {
		const found = readGiven(path, search);
		if (!('code' in found)) return [[name, found] as const];
		const { code, message, remedy } = found;
		search.findings.diagnostics.push(aboutFile(code, search.show(path), `${message} (${option})`, remedy));
		return [];
	});
}

function readGiven(path: string, search: TemplateSearch): FoundTemplate | Complaint {
	const file = search.show(path);
	const text = readText(path, file, MAX_BYTES);
	if (typeof text === 'string') return { file, text };
	if (text.code !== 'WORKFLOW_NOT_FOUND')
		return { code: 'TEMPLATE_INVALID', message: text.message, remedy: text.remedy };
	const message = `the template ${quote(file)} does not exist`;
	return { code: 'TEMPLATE_NOT_FOUND', message, remedy: 'check the path; without it the built-in template is used' };
}
