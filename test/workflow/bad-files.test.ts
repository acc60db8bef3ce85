/** Bad input that cannot lie in a case folder: binary, huge, missing, behind links. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { prepareIn, saidBy } from './prepare-case.ts';

let folder: string;
beforeEach(() => {
	folder = realpathSync(mkdtempSync(join(tmpdir(), 'sdd-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const HEAD = 'version: "1"\nagents: { dev: { run: [./dev.sh] } }\ndefaults: { agent: dev }\ntasks:\n';

async function said(text: string | Buffer): Promise<string> {
	writeFileSync(join(folder, 'workflow.yaml'), text);
	return saidBy(await prepareIn(folder));
}

async function firstLine(text: string | Buffer): Promise<string> {
	return (await said(text)).split('\n')[0]!;
}

describe('a file that is no text', () => {
	test('is refused when it has a NUL', async () => {
		expect(await said(Buffer.from([0x76, 0, 0x65]))).toBe(
			'workflow.yaml error: the file is not UTF-8 text [WORKFLOW_BINARY]\n  remedy: save it as UTF-8 text\n',
		);
	});

	test('is refused when it is not UTF-8', async () => {
		expect(await firstLine(Buffer.from([0x61, 0xff, 0xfe]))).toContain('[WORKFLOW_BINARY]');
	});

	test('is read with a byte order mark', async () => {
		expect(await said(`\ufeff${HEAD}  a: {}\n`)).toBe('');
	});
});

test('a file of 50 MB is refused without being read', async () => {
	writeFileSync(join(folder, 'workflow.yaml'), 'x');
	truncateSync(join(folder, 'workflow.yaml'), 50 * 1024 * 1024);
	expect(saidBy(await prepareIn(folder))).toBe(
		'workflow.yaml error: the file is too large: 50.0 MB, the limit is 8.0 MB [WORKFLOW_TOO_LARGE]\n' +
			'  remedy: split it into smaller files\n',
	);
});

test('a file that is not there is named as the user named it', async () => {
	const prepared = await prepareIn(folder, { file: 'flows/none.yaml' });
	expect(saidBy(prepared)).toBe(
		'flows/none.yaml error: there is no such file [WORKFLOW_NOT_FOUND]\n' +
			'  remedy: check the path, or write the file first\n',
	);
});

test('a folder is not a workflow', async () => {
	const prepared = await prepareIn(folder, { file: '.' });
	expect(saidBy(prepared)).toBe(
		'. error: this is a folder, not a file [WORKFLOW_NOT_A_FILE]\n  remedy: name a YAML file\n',
	);
});

test('something that is neither file nor folder is refused', async () => {
	const prepared = await prepareIn(folder, { file: '/dev/null' });
	expect(saidBy(prepared)).toContain('this is not a regular file [WORKFLOW_NOT_A_FILE]');
});

test('a file that cannot be read is refused with the reason', async () => {
	symlinkSync('workflow.yaml', join(folder, 'workflow.yaml'));
	expect(saidBy(await prepareIn(folder))).toBe(
		'workflow.yaml error: cannot be read (ELOOP) [WORKFLOW_UNREADABLE]\n  remedy: check its permissions\n',
	);
});

test('lists nested a hundred thousand deep are refused, not followed', async () => {
	expect(await firstLine('['.repeat(100_000))).toMatch(/\[YAML_SYNTAX\]$/);
});

test.each([
	['version: !foo "1"\n', 'remove the tag (the word that begins with `!`)'],
	['version: "1"\n? [a, b]\n: 1\n', 'use a text as key: no list, no map'],
	[`a: ${'['.repeat(200)}${']'.repeat(200)}\n`, 'nest less deeply'],
])('what YAML has and a workflow has not is told with what to do: %j', async (text, remedy) => {
	expect(await said(text)).toContain(`  remedy: ${remedy}\n`);
});

test('20,001 tasks are taken for a mistake', async () => {
	const tasks = Array.from({ length: 20_001 }, (_, index) => `  t${index}: {}\n`).join('');
	expect(await firstLine(HEAD + tasks)).toBe(
		'workflow.yaml:5:3 error: "tasks" must not have more than 20000 entries [WORKFLOW_VALUE]',
	);
});

test('of thousands of tasks with the same mistake, one is told', async () => {
	const tasks = Array.from({ length: 3000 }, (_, index) => `  t${index}: { retrys: 1 }\n`).join('');
	const text = await said(HEAD + tasks);
	const lines = text.split('\n').filter((line) => line.includes('error:'));
	expect(lines).toEqual(['workflow.yaml:5:9 error: unknown key "retrys" in task "t0" [WORKFLOW_UNKNOWN_KEY]']);
	expect(text).toMatch(
		/\n\nworkflow.yaml warning: only the first problem is shown, because the file has more than 2000 tasks; there may be more \[WORKFLOW_MORE_PROBLEMS\]\n {2}remedy: fix it, then validate again\n$/,
	);
});

test('where the first problem of a large file is the only one with its shape, all others are told too', async () => {
	const tasks = Array.from({ length: 3000 }, (_, index) => `  t${index}: { depends_on: [t${index + 1}] }\n`).join('');
	const text = await said(`${HEAD}${tasks}  t3000: { retrys: 1 }\n  last: { depends_on: [nobody-at-all] }\n`);
	expect(text).toContain('unknown key "retrys" in task "t3000"');
	expect(text).toContain('[DEPENDENCY_UNKNOWN]');
	expect(text).not.toContain('WORKFLOW_MORE_PROBLEMS');
});

test('an empty path does not hide what is wrong with the others of its list', async () => {
	const text = await said(`${HEAD}  a: { outputs: ["", ../b, 7], inputs: [/c, ""] }\n  d: { outputs: ["", x] }\n`);
	const lines = text.split('\n').filter((line) => /(?:error|warning):/.test(line));
	expect(lines.map((line) => line.replace('workflow.yaml:', '').replace('error: ', ''))).toEqual([
		'5:19 entry 1 of "outputs" of task "a" must not be empty [WORKFLOW_VALUE]',
		'5:22 output "../b" of task "a" leaves the project [PATH_OUTSIDE_PROJECT]',
		'5:28 entry 3 of "outputs" of task "a" must be text, not the number 7 [WORKFLOW_TYPE]',
		'5:41 input "/c" of task "a" is not relative to the project [PATH_OUTSIDE_PROJECT]',
		'5:46 entry 2 of "inputs" of task "a" must not be empty [WORKFLOW_VALUE]',
		'6:19 entry 1 of "outputs" of task "d" must not be empty [WORKFLOW_VALUE]',
	]);
});

test('a long circle is named by its start and its end', async () => {
	const tasks = Array.from({ length: 40 }, (_, index) => `  t${index}: { depends_on: [t${(index + 1) % 40}] }\n`).join(
		'',
	);
	expect(await firstLine(HEAD + tasks)).toBe(
		'workflow.yaml:44:23 error: tasks depend on each other in a circle: t0 → t1 → t2 → t3 → t4 → t5 → t6 → t7 → t8 → t9 → … → t39 → t0 [DEPENDENCY_CYCLE]',
	);
});

test('past 200 problems only the number of the rest is told', async () => {
	const tasks = Array.from({ length: 300 }, (_, index) => `  t${index}: { depends_on: [zzzzzz] }\n`).join('');
	const text = await said(HEAD + tasks);
	expect(text).toContain('workflow.yaml error: and 100 more [WORKFLOW_MORE_PROBLEMS]\n  remedy: fix these first');
	expect(text.match(/DEPENDENCY_UNKNOWN/g)).toHaveLength(200);
});

test('a problem in an escaped text is located at its start', async () => {
	expect(await firstLine(`${HEAD}  a: { when: "tasks.\\x61 = GO" }\n`)).toMatch(/^workflow.yaml:5:15 error/);
});

describe('a path through a symbolic link', () => {
	const faults = async (tasks: string) => {
		const text = await said(`${HEAD}${tasks}`);
		return text.split('\n').filter((line) => line.includes('error:'));
	};

	test('out of the project is refused, whether its target exists or not', async () => {
		symlinkSync(tmpdir(), join(folder, 'out'));
		symlinkSync('/nowhere/at/all', join(folder, 'dangling'));
		symlinkSync('../sibling.md', join(folder, 'file.md'));
		expect(await faults('  a: { outputs: [out/x.md, dangling, file.md], inputs: [out/deep/y.md] }\n')).toEqual([
			'workflow.yaml:5:18 error: output "out/x.md" of task "a" leads out of the project through a symbolic link [PATH_OUTSIDE_PROJECT]',
			'workflow.yaml:5:28 error: output "dangling" of task "a" leads out of the project through a symbolic link [PATH_OUTSIDE_PROJECT]',
			'workflow.yaml:5:38 error: output "file.md" of task "a" leads out of the project through a symbolic link [PATH_OUTSIDE_PROJECT]',
			'workflow.yaml:5:57 error: input "out/deep/y.md" of task "a" leads out of the project through a symbolic link [PATH_OUTSIDE_PROJECT]',
		]);
	});

	test('inside the project is fine', async () => {
		mkdirSync(join(folder, 'src'));
		symlinkSync('src', join(folder, 'code'));
		expect(await faults('  a: { outputs: [code/new/x.ts] }\n')).toEqual([]);
	});

	test('into .git is refused', async () => {
		mkdirSync(join(folder, '.git'));
		symlinkSync('.git', join(folder, 'vcs'));
		expect(await faults('  a: { outputs: [vcs/config] }\n')).toEqual([
			'workflow.yaml:5:18 error: output "vcs/config" of task "a" lies in .git/, which is not for agents [PATH_RESERVED]',
		]);
	});

	test('in a circle is refused', async () => {
		symlinkSync('b', join(folder, 'a'));
		symlinkSync('a', join(folder, 'b'));
		expect(await faults('  t: { outputs: [a/x] }\n')).toContain(
			'workflow.yaml:5:18 error: output "a/x" of task "t" leads out of the project through a symbolic link [PATH_OUTSIDE_PROJECT]',
		);
	});

	test('leads no persona out of the project', async () => {
		symlinkSync(tmpdir(), join(folder, 'out'));
		writeFileSync(
			join(folder, 'workflow.yaml'),
			HEAD.replace('[./dev.sh]', '[./dev.sh], persona: out/x.md').concat('  a: {}\n'),
		);
		expect(saidBy(await prepareIn(folder))).toContain(
			'the persona file "out/x.md" of agent "dev" leads out of the project through a symbolic link',
		);
	});

	test('leads no template out of the project', async () => {
		mkdirSync(join(folder, '.ai-sdd/prompts'), { recursive: true });
		symlinkSync('/etc/hosts', join(folder, '.ai-sdd/prompts/developer.hbs'));
		expect(await faults('  a: {}\n')).toEqual([
			'.ai-sdd/prompts/developer.hbs error: the template ".ai-sdd/prompts/developer.hbs" leads out of the project through a symbolic link [PATH_OUTSIDE_PROJECT]',
		]);
	});
});

test('a project in a folder that is itself a link is no way out', async () => {
	const link = `${folder}-link`;
	symlinkSync(folder, link);
	try {
		writeFileSync(join(folder, 'workflow.yaml'), `${HEAD}  a: { outputs: [src/x.ts] }\n`);
		expect((await prepareIn(link)).ok).toBe(true);
	} finally {
		rmSync(link);
	}
});

test('a path of many thousand characters is refused', async () => {
	expect(await said(`${HEAD}  a: { outputs: [${'a/'.repeat(3000)}] }\n`)).toContain('is longer than 4096 characters');
});

describe('a large file full of mistakes', () => {
	const MANY = 3000;
	const numbers = Array.from({ length: MANY }, (_, number) => String(number).padStart(5, '0'));

	test('is told of soon: only what is shown is guessed at', async () => {
		const tasks = numbers.map((n) => `  task-number-${n}: { agent: dve, depends_on: [task-nmber-${n}] }\n`);
		const text = await said(HEAD + tasks.join(''));
		expect(text.match(/remedy: did you mean "task-number-000\d\d"\?/g)).toHaveLength(40);
		expect(text.match(/remedy: name a task of this workflow/g)).toHaveLength(160);
		expect(text).toContain('and 5800 more [WORKFLOW_MORE_PROBLEMS]');
	});

	test('a line of agents that never ends is not followed', async () => {
		const agents = numbers.map((n, index) => `  a${n}: { extends: a${numbers[index + 1] ?? 'none'} }\n`);
		const text = await said(`version: "1"\nagents:\n${agents.join('')}tasks: { a: { agent: a00000 } }\n`);
		expect(text).toContain(
			'workflow.yaml:3:22 error: agent "a00000" extends more than 50 agents, one after another [WORKFLOW_VALUE]',
		);
	});
});
