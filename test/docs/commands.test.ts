import { expect, it } from 'vitest';
import { COMMANDS, type CommandSpec } from '../../cli/command-table.ts';
import { blocksOf, codesIn, guides, markdownFiles, read, sourceFiles, tableBelow } from './read-docs.ts';

const doc = read('docs/cli.md');

it('docs/cli.md has a heading for each command with its arguments, and no other', () => {
	const headings = [...doc.matchAll(/^### `sdd (.+)`$/gm)].map(([, call]) => call);
	expect(headings).toEqual(COMMANDS.map(callOf));
});

it.each(COMMANDS.filter(({ options }) => options.length > 0))(
	'docs/cli.md has a row for each option of sdd $name, and no other',
	(command) => {
		const section = doc.slice(doc.indexOf(`### \`sdd ${callOf(command)}\``)).split(/\n(?=### )/)[0] ?? '';
		const rows = tableBelow(`\n${section.slice(section.indexOf('| option'))}`, '');
		const options = command.options.map(({ name, value }) =>
			value === undefined ? `--${name}` : `--${name} <${value}>`,
		);
		expect(rows.map(([option = '']) => codesIn(option)[0])).toEqual(options);
	},
);

it.each(guides())('every command in a code block of %s exists, with its options', (file) => {
	const calls = blocksOf(file)
		.filter(({ language }) => ['', 'sh', 'console', 'bash', 'text'].includes(language))
		.flatMap(({ text, place }) => callsIn(text).map((call) => ({ call, place })));
	expect(calls.flatMap(({ call, place }) => problemsOf(call).map((problem) => `${place}: ${problem}`))).toEqual([]);
});

it.each(markdownFiles().filter((file) => /^(?:docs\/[^/]+|README|overlays\/.+)\.md$/.test(file)))(
	'every command between backticks in %s exists',
	(file) => {
		const calls = [...read(file).matchAll(/`sdd ([a-z][^`\n]*)`/g)].map(([, call = '']) => call);
		expect(calls.flatMap(problemsOf)).toEqual([]);
	},
);

it('every command that a message of the program names exists', () => {
	const problems = sourceFiles().flatMap((file) =>
		[...read(file).matchAll(/`sdd ([a-z][a-z<-][^`\n$]*)\\?`/g)]
			.flatMap(([, call = '']) => problemsOf(call.replace(/\\$/, '')))
			.map((problem) => `${file}: ${problem}`),
	);
	expect(problems).toEqual([]);
});

function callOf({ name, arguments: given }: CommandSpec): string {
	return [name, ...given].join(' ');
}

/** The calls of `sdd` in a block: lines that begin with it, in a console after the prompt. */
function callsIn(text: string): readonly string[] {
	return [...text.matchAll(/^(?:\$ )?(?:npx )?sdd ([a-z].*)$/gm)].map(([, call = '']) => call);
}

function problemsOf(call: string): readonly string[] {
	const words = (call.replaceAll(/"[^"]*"|'[^']*'/g, 'x').split(/\s(?:[|&#>]|--\s)/)[0] ?? '').split(/\s+/);
	const known =
		COMMANDS.find(({ name }) => name === words.slice(0, 2).join(' ')) ?? COMMANDS.find(({ name }) => name === words[0]);
	if (known === undefined) return isGroup(words) ? [] : [`there is no command "sdd ${call}"`];
	const options = words
		.filter((word) => word.startsWith('--') && word !== '--help')
		.map((word) => word.slice(2).split('=')[0]);
	return options
		.filter((option) => !known.options.some(({ name }) => name === option))
		.map((option) => `sdd ${known.name} has no --${option}`);
}

function isGroup(words: readonly string[]): boolean {
	return words.length === 1 && COMMANDS.some(({ name }) => name.startsWith(`${words[0]} `));
}
