/** Files that are wrong: a diagnostic with its place and a remedy, exit code 2, and never a stack trace. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRig, type Rig } from '../rig.ts';

const HEAD =
	'version: "1"\nagents: { dev: { adapter: command, run: ["true"] }, rev: { adapter: command, run: ["true"] } }\n';
const review = (options: string): string =>
	`${HEAD}tasks: { a: { agent: dev, description: x, overlays: { agentic_review: { enabled: true, ${options} } } } }\n`;
const BOMB = `a: &a [x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
	.map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(',')}]`)
	.join('\n')}\n`;

const FILES: readonly (readonly [string, string | Buffer, string])[] = [
	['an empty file', '', 'WORKFLOW_EMPTY'],
	['a binary file', Buffer.from([0, 1, 2, 255, 254, 0, 7]), 'WORKFLOW_BINARY'],
	['a file of 50 MB', Buffer.alloc(50 * 1024 * 1024, 'a: b\n'), 'WORKFLOW_TOO_LARGE'],
	['an alias bomb', BOMB, 'YAML_ALIAS'],
	['a recursive alias', 'version: "1"\ntasks: &t { a: *t }\n', 'YAML_ALIAS'],
	[
		'a __proto__ key',
		`${HEAD}tasks: { a: { agent: dev, description: x, __proto__: { y: 1 } } }\n`,
		'YAML_FORBIDDEN_KEY',
	],
	['an unknown version', 'version: "9"\ntasks: { a: { description: x } }\n', 'WORKFLOW_VERSION'],
	[
		'a cycle',
		`${HEAD}tasks: { a: { agent: dev, description: x, depends_on: [b] }, b: { agent: dev, description: x, depends_on: [a] } }\n`,
		'DEPENDENCY_CYCLE',
	],
	['an unknown agent', `${HEAD}tasks: { a: { agent: dve, description: x } }\n`, 'did you mean "dev"?'],
	[
		'an unknown dependency',
		`${HEAD}tasks: { a: { agent: dev, description: x, depends_on: [zz] } }\n`,
		'DEPENDENCY_UNKNOWN',
	],
	[
		'an unknown overlay',
		`${HEAD}tasks: { a: { agent: dev, description: x, overlays: { agentic_reviev: { enabled: true } } } }\n`,
		'did you mean "agentic_review"?',
	],
	['an unknown option', review('reviewer_agent: rev, max_iteration: 3'), 'did you mean "max_iterations"?'],
	['an unknown key', `${HEAD}taks: {}\ntasks: { a: { agent: dev, description: x } }\n`, 'did you mean "tasks"?'],
	['a bad expression', review('reviewer_agent: rev, exit_conditions: ["review.decision == == GO"]'), 'bad expression'],
	['a bad condition', `${HEAD}tasks: { a: { agent: dev, description: x, when: "tasks. ==" } }\n`, 'EXPRESSION_INVALID'],
	['an id with a slash', `${HEAD}tasks: { "a/b": { agent: dev, description: x } }\n`, 'a/b'],
	['an id with dots', `${HEAD}tasks: { "..": { agent: dev, description: x } }\n`, '".."'],
	[
		'an output outside the project',
		`${HEAD}tasks: { a: { agent: dev, description: x, outputs: [../x.txt] } }\n`,
		'PATH_OUTSIDE_PROJECT',
	],
	[
		'an absolute output',
		`${HEAD}tasks: { a: { agent: dev, description: x, outputs: [/etc/passwd] } }\n`,
		'PATH_OUTSIDE_PROJECT',
	],
	[
		'an output through a link',
		`${HEAD}tasks: { a: { agent: dev, description: x, outputs: [link/x.txt] } }\n`,
		'PATH_OUTSIDE_PROJECT',
	],
	[
		'an output in the state',
		`${HEAD}tasks: { a: { agent: dev, description: x, outputs: [.ai-sdd/state/x] } }\n`,
		'PATH_RESERVED',
	],
	['a tab for indentation', 'version: "1"\ntasks:\n\ta: {}\n', 'YAML_SYNTAX'],
	['only a comment', '# nothing\n', 'WORKFLOW_EMPTY'],
	['a list', '- a\n- b\n', 'WORKFLOW_TYPE'],
];

describe('sdd validate and sdd run', () => {
	test.each(FILES)('%s', async (_name, content, said) => {
		const rig = await makeRig();
		mkdirSync(join(rig.outer, 'elsewhere'));
		symlinkSync('../elsewhere', join(rig.dir, 'link'));
		writeFileSync(join(rig.dir, 'w.yaml'), content);
		for (const command of ['validate', 'run']) {
			const { code, stdout, stderr } = await rig.sdd(command, 'w.yaml');
			expect(stderr).toContain('w.yaml');
			expect(stderr).toContain(said);
			expect(stdout + stderr).not.toContain('    at ');
			expect((stdout + stderr).length).toBeLessThan(20_000);
			expect(code).toBe(2);
		}
		expect(rig.has('.ai-sdd/state')).toBe(false);
	});

	test('a file that is not there, a folder, a missing template, a missing persona', async () => {
		const rig = await makeRig();
		const says = async (...args: readonly string[]): Promise<string> => {
			const { code, stderr } = await rig.sdd(...args);
			expect(code).toBe(2);
			expect(stderr).not.toContain('    at ');
			return stderr;
		};
		expect(await says('run', 'absent.yaml')).toContain('WORKFLOW_NOT_FOUND');
		expect(await says('run', '.')).toContain('WORKFLOW_NOT_A_FILE');
		rig.write('w.yaml', `${HEAD}tasks: { a: { agent: dev, description: x } }\n`);
		rig.write('.ai-sdd/ai-sdd.yaml', 'version: "1"\nprompts: { developer: absent.hbs }\n');
		expect(await says('run', 'w.yaml')).toContain('TEMPLATE_NOT_FOUND');
		rig.write('.ai-sdd/ai-sdd.yaml', 'version: "1"\n');
		rig.write(
			'w.yaml',
			'version: "1"\nagents: { dev: { adapter: command, run: ["true"], persona: absent.md } }\ntasks: { a: { agent: dev, description: x } }\n',
		);
		expect(await says('run', 'w.yaml')).toContain('absent.md');
	});

	test('all problems are told at once, each with file:line:col, a snippet and a remedy', async () => {
		const rig = await makeRig();
		rig.write(
			'w.yaml',
			`${HEAD}tasks:\n  a:\n    agent: nobody\n    description: x\n    timeout: soon\n  b:\n    agent: dev\n    description: x\n    depends_on: [c]\n`,
		);
		const { stderr, stdout } = await rig.sdd('validate', 'w.yaml');
		for (const place of ['w.yaml:5:12', 'w.yaml:7:14', 'w.yaml:11:18']) expect(stderr).toContain(place);
		expect(stderr).toContain('agent: nobody');
		expect(stdout).toBe('w.yaml: 3 errors, 0 warnings\n');
		const json = JSON.parse((await rig.sdd('validate', 'w.yaml', '--json')).stdout) as {
			valid: boolean;
			diagnostics: unknown[];
		};
		expect(json).toMatchObject({ valid: false, files: ['w.yaml'] });
		expect(json.diagnostics).toHaveLength(3);
	});
});

test('a workflow with 300 problems is told in bounded words', async () => {
	const rig: Rig = await makeRig();
	const tasks = Array.from({ length: 300 }, (_, i) => `  t${i}: { agent: nobody${i}, description: x }`).join('\n');
	rig.write('w.yaml', `${HEAD}tasks:\n${tasks}\n`);
	const { code, stderr } = await rig.sdd('validate', 'w.yaml');
	expect(code).toBe(2);
	expect(stderr.split('\n').length).toBeLessThan(1500);
});
