import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { expect, it } from 'vitest';
import { builtinOverlays } from '../../overlays/index.ts';

const FOLDERS: { readonly [name: string]: string } = {
	hil: 'hil',
	policy_gate: 'policy-gate',
	agentic_review: 'review',
	paired_workflow: 'paired',
	confidence: 'confidence',
};

const OVERLAYS = builtinOverlays.map(({ name, options }) => ({ name, folder: FOLDERS[name] ?? name, schema: options }));

interface Option {
	readonly default?: unknown;
	readonly enum?: readonly string[];
}

it.each(OVERLAYS)(
	'the README of $name has a row for each option, with its default and its values',
	({ name, folder, schema }) => {
		const readme = readFileSync(new URL(`../../overlays/${folder}/README.md`, import.meta.url), 'utf8');
		expect(readme.split('\n')[0]).toBe(`# ${name}`);
		for (const [option, about] of Object.entries(schema['properties'] as { readonly [name: string]: Option })) {
			const row = readme.split('\n').find((line) => line.startsWith(`| \`${option}\` `)) ?? '';
			expect(row, option).not.toBe('');
			if (about.default !== undefined) expect(row).toContain(`\`${shown(about.default)}\``);
			for (const value of about.enum ?? []) expect(row).toContain(`\`${value}\``);
		}
	},
);

it.each(OVERLAYS)('the YAML in the README of $name names only options there are', ({ name, folder, schema }) => {
	const readme = readFileSync(new URL(`../../overlays/${folder}/README.md`, import.meta.url), 'utf8');
	const known = ['enabled', ...Object.keys(schema['properties'] as object)];
	const blocks = [...readme.matchAll(/```yaml\n(.*?)```/gs)].map((match) => optionsIn(load(match[1] ?? ''), name));
	expect(blocks.length).toBeGreaterThan(0);
	for (const options of blocks) expect(known).toEqual(expect.arrayContaining(options));
});

function shown(value: unknown): string {
	return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The option names below the overlay's key, wherever it stands. */
function optionsIn(value: unknown, name: string): string[] {
	if (typeof value !== 'object' || value === null) return [];
	return Object.entries(value).flatMap(([key, below]) =>
		key === name ? Object.keys(below as object) : optionsIn(below, name),
	);
}
