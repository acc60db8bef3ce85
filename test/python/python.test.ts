/** Runs the tests of the Python side, so that `npm test` is all there is to run. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { hasPython } from './has-python.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const cache = mkdtempSync(join(tmpdir(), 'sdd-'));

afterAll(() => rmSync(cache, { recursive: true, force: true }));

function python(...args: readonly string[]) {
	const env = { ...process.env, PYTHONPATH: join(root, 'python'), PYTHONPYCACHEPREFIX: cache };
	return spawnSync('python3', args, { cwd: root, env, encoding: 'utf8' });
}

describe.runIf(hasPython)('the Python side', () => {
	it('passes its own tests', () => {
		const { status, stderr } = python('-W', 'error', '-m', 'unittest', 'discover', '-s', 'python/tests');
		expect(stderr).toMatch(/\nRan \d\d+ tests in .*\n\nOK\n$/);
		expect(status).toBe(0);
		// A whole suite of processes: half a minute where others are at work as well.
	}, 240_000);

	it('passes the tests of its examples', () => {
		const { status, stderr } = python('-W', 'error', '-m', 'unittest', 'discover', '-s', 'python/examples');
		expect(stderr).toMatch(/\nRan \d+ tests in .*\n\nOK\n$/);
		expect(status).toBe(0);
	});

	it('is written in the Python of 3.9, with nothing but the standard library', () => {
		const { status, stderr, stdout } = python('-c', SYNTAX_AND_IMPORTS, ...sources());
		expect({ status, stderr, stdout }).toEqual({ status: 0, stderr: '', stdout: '' });
	});

	it('annotates every function, for type checkers', () => {
		const { stderr, stdout } = python(
			'-c',
			MISSING_ANNOTATIONS,
			...sources().filter((file) => !file.includes('test_')),
		);
		expect({ stderr, stdout }).toEqual({ stderr: '', stdout: '' });
		expect(readdirSync(join(root, 'python/sdd_overlay'))).toContain('py.typed');
	});

	it('shows a complete overlay in about twenty lines', () => {
		const lines = readFileSync(join(root, 'python/examples/licences.py'), 'utf8').split('\n');
		expect(lines.filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(22);
	});
});

function sources(): readonly string[] {
	return ['sdd_overlay', 'examples', 'tests'].flatMap((folder) =>
		readdirSync(join(root, 'python', folder))
			.filter((name) => name.endsWith('.py'))
			.map((name) => `python/${folder}/${name}`),
	);
}

const SYNTAX_AND_IMPORTS = `
import ast, os, sys
standard = getattr(sys, "stdlib_module_names", None)  # since 3.10
own = {"sdd_overlay", *(os.path.splitext(os.path.basename(file))[0] for file in sys.argv[1:])}
for file in sys.argv[1:]:
    tree = ast.parse(open(file, encoding="utf-8").read(), file, feature_version=(3, 9))
    for node in ast.walk(tree):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
        for name in names:
            if standard is not None and name.split(".")[0] not in {*standard, *own}:
                print(file, "imports", name)
`;

const MISSING_ANNOTATIONS = `
import ast, sys
for file in sys.argv[1:]:
    for node in ast.walk(ast.parse(open(file, encoding="utf-8").read())):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        missing = [one.arg for one in arguments if one.annotation is None and one.arg != "self"]
        if missing or node.returns is None:
            print(file, node.name, *missing)
`;
