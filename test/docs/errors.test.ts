import { expect, it } from 'vitest';
import { ERROR_CODES, EXIT } from '../../engine/errors.ts';
import { cellsOf, read, sourceFiles, tableBelow } from './read-docs.ts';

const CODES: readonly string[] = Object.keys(ERROR_CODES);
const rows = read('docs/errors.md')
	.split('\n')
	.filter((line) => /^\| `[A-Z_]+` \|/.test(line))
	.map((line) => {
		const [code = '', exit = '', meaning = '', remedy = ''] = cellsOf(line);
		return { code: code.replaceAll('`', ''), exit: Number(exit), meaning, remedy };
	});

it('docs/errors.md lists exactly the codes there are, each once', () => {
	expect(rows.map(({ code }) => code).sort()).toEqual([...CODES].sort());
});

it.each(rows)(
	'docs/errors.md says of $code what it means, what to do, and its exit code',
	({ code, exit, meaning, remedy }) => {
		expect(exit).toBe(ERROR_CODES[code as keyof typeof ERROR_CODES]);
		expect(meaning).not.toBe('');
		expect(remedy).not.toBe('');
	},
);

it('docs/cli.md lists exactly the exit codes there are', () => {
	const documented = tableBelow(read('docs/cli.md'), '<!-- exit codes -->').map(([code]) => Number(code));
	expect(documented.sort((a, b) => a - b)).toEqual(Object.values(EXIT).sort((a, b) => a - b));
});

it('every code is used by the program', () => {
	const texts = sourceFiles()
		.filter((file) => file !== 'engine/errors.ts')
		.map(read);
	const unused = CODES.filter((code) => !texts.some((text) => text.includes(`'${code}'`)));
	expect(unused).toEqual([]);
});

/** Words in capitals that are no error codes: of other vocabularies, or of the environment. */
const OTHER_WORDS =
	/^(?:NO_GO|ACCEPTED_BY_HUMAN|HIL_PENDING|NEEDS_REWORK|NO_COLOR|XDG_(?:CONFIG|CACHE)_HOME|SDD_[A-Z_]+|GIT_[A-Z_]+|LC_[A-Z]+)$/;

it('every code that the program names is in the list', () => {
	const unknown = sourceFiles().flatMap((file) =>
		[...read(file).matchAll(/'([A-Z]+(?:_[A-Z]+)+)'/g)]
			.map(([, word = '']) => word)
			.filter((word) => !CODES.includes(word) && !OTHER_WORDS.test(word))
			.map((word) => `${file}: ${word}`),
	);
	expect(unknown).toEqual([]);
});

it('every code that the documentation names is in the list', () => {
	const families = [...new Set(CODES.map((code) => code.split('_')[0]))].join('|');
	const named = [
		'docs/agents.md',
		'docs/audit.md',
		'docs/hil.md',
		'docs/overlays.md',
		'docs/recovery.md',
		'docs/cli.md',
		'docs/constitution.md',
	]
		.flatMap((file) =>
			[...read(file).matchAll(new RegExp(`[\`[]((?:${families})(?:_[A-Z]+)+)[\`\\]]`, 'g'))].map(
				([, code = '']) => code,
			),
		)
		.filter((code) => !OTHER_WORDS.test(code));
	expect(named.length).toBeGreaterThan(10);
	expect(named.filter((code) => !CODES.includes(code))).toEqual([]);
});
