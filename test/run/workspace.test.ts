import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
	chmodSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	realpathSync,
	rmSync,
	symlinkSync,
	unlinkSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freeBytes, NO_CHANGES, NO_DIFF, openWorkspace } from '../../engine/run/workspace.ts';
import type { Workspace } from '../../engine/run/world.ts';
import { maskFile } from '../../engine/store/mask-file.ts';

let dir = '';
let project = '';
let runDir = '';
beforeEach(() => {
	dir = realpathSync(mkdtempSync(join(tmpdir(), 'sdd-')));
	project = join(dir, 'project');
	runDir = join(project, '.ai-sdd/state/runs/r1');
	mkdirSync(runDir, { recursive: true });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const open = (): Promise<Workspace> => openWorkspace({ project, runDir });

function write(path: string, content: string | Uint8Array = path): void {
	mkdirSync(dirname(join(project, path)), { recursive: true });
	writeFileSync(join(project, path), content);
}

function sha256(content: string): string {
	return createHash('sha256').update(content).digest('hex');
}

describe('inspect', () => {
	it('gives size and sha256 of each output', async () => {
		write('a.txt', 'héllo');
		const { artifacts, missing, refused } = (await open()).inspect(['a.txt']);
		expect(artifacts).toEqual([{ path: 'a.txt', sha256: sha256('héllo'), bytes: 6 }]);
		expect([missing, refused]).toEqual([[], []]);
	});

	it('names outputs that are missing; an empty folder is one', async () => {
		mkdirSync(join(project, 'empty'));
		expect((await open()).inspect(['gone.txt', 'empty', 'deep/gone'])).toEqual({
			artifacts: [],
			missing: ['gone.txt', 'empty', 'deep/gone'],
			refused: [],
		});
	});

	it('a folder stands for all files below it, sorted, without git, node_modules and our own', async () => {
		for (const path of ['src/z.ts', 'src/a/b.ts', 'src/.git/x', 'src/node_modules/y/z', 'src/.ai-sdd/w']) write(path);
		expect((await open()).inspect(['src/']).artifacts.map(({ path }) => path)).toEqual(['src/a/b.ts', 'src/z.ts']);
	});

	it('a file that is named twice counts once', async () => {
		write('src/a.ts');
		expect((await open()).inspect(['src', 'src/a.ts']).artifacts).toHaveLength(1);
	});

	it('a folder with too many files is refused', async () => {
		for (let n = 0; n <= 2000; n++) write(`many/${n}`, '');
		expect((await open()).inspect(['many'])).toMatchObject({
			artifacts: [],
			refused: ['many: holds more than 2,000 files; name the ones that matter as outputs'],
		});
	});

	it('a link that leads out of the project is refused, wherever it is on the way', async () => {
		writeFileSync(join(dir, 'secret'), 's');
		symlinkSync(join(dir, 'secret'), join(project, 'out.txt'));
		symlinkSync('..', join(project, 'up'));
		write('src/a.ts');
		symlinkSync(dir, join(project, 'src/deep'));
		const { artifacts, refused } = (await open()).inspect(['out.txt', 'up/secret', 'src']);
		expect(refused).toEqual([
			'out.txt: leads out of the project',
			'up/secret: leads out of the project',
			'src/deep: leads out of the project',
		]);
		expect(artifacts.map(({ path }) => path)).toEqual(['src/a.ts']);
	});

	it('a link inside the project is followed to a file, and never into a folder', async () => {
		write('real.txt', 'x');
		write('src/a.ts');
		symlinkSync('../real.txt', join(project, 'src/link.txt'));
		symlinkSync('.', join(project, 'src/loop'));
		const { artifacts, refused } = (await open()).inspect(['src']);
		expect(artifacts.map(({ path }) => path)).toEqual(['src/a.ts', 'src/link.txt', 'src/loop']);
		expect(artifacts[1]?.sha256).toBe(sha256('x'));
		expect(refused).toEqual([]);
	});

	it('a link to nothing, or to itself, is refused', async () => {
		symlinkSync('nowhere', join(project, 'dangling'));
		symlinkSync('self', join(project, 'self'));
		expect((await open()).inspect(['dangling', 'self']).refused).toEqual([
			'dangling: is a link to nothing',
			'self: cannot be read (ELOOP)',
		]);
	});

	it('a pipe is refused instead of waited for', async () => {
		execFileSync('mkfifo', [join(project, 'pipe')]);
		expect((await open()).inspect(['pipe']).refused).toEqual(['pipe: is not a regular file']);
	});

	it.skipIf(process.getuid?.() === 0)('what may not be read is refused', async () => {
		write('locked.txt');
		chmodSync(join(project, 'locked.txt'), 0);
		expect((await open()).inspect(['locked.txt']).refused).toEqual(['locked.txt: cannot be read (EACCES)']);
	});

	it('a path below a file is missing', async () => {
		write('file');
		expect((await open()).inspect(['file/below']).missing).toEqual(['file/below']);
	});
});

describe('read', () => {
	it('gives the text of a file, cut where it is told to', async () => {
		write('a.txt', 'é'.repeat(10));
		write('long.txt', 'x'.repeat(60_000));
		const workspace = await open();
		expect(workspace.read('a.txt', 10)).toBe('é'.repeat(10));
		expect(workspace.read('long.txt', 50_000)).toBe(
			`${'x'.repeat(50_000)}\n[... 10,000 characters cut by sdd; 60,000 in all]`,
		);
	});

	it('gives nothing for what is not text, not there, a folder or outside', async () => {
		write('image.png', new Uint8Array([0x89, 0x50, 0x00]));
		write('latin1.txt', new Uint8Array([0x61, 0xe9, 0x61]));
		writeFileSync(join(dir, 'secret'), 's');
		symlinkSync('../secret', join(project, 'out'));
		const workspace = await open();
		for (const path of ['image.png', 'latin1.txt', 'gone', '.', 'out', '../secret']) {
			expect(workspace.read(path, 10), path).toBeNull();
		}
	});
});

describe('outputHolds', () => {
	const holds = async (content: string, words: readonly string[] = ['BLOCKED', 'WÄRTER']) => {
		writeFileSync(join(runDir, 'out.txt'), content);
		return (await open()).outputHolds('out.txt', words);
	};

	it('finds a word on a line of its own, wherever it is in a large output', async () => {
		expect(await holds(`${'filler line\n'.repeat(100_000)}  BLOCKED \r\nmore`)).toBe('BLOCKED');
		expect(await holds(`x\nWÄRTER`)).toBe('WÄRTER');
		expect(await holds(`${'x'.repeat(65_533)}\nBLOCKED\n`)).toBe('BLOCKED');
	});

	it('does not take a word for it that stands among others', async () => {
		expect(await holds('I am BLOCKED\nBLOCKED?\n"BLOCKED"\nUNBLOCKED')).toBeNull();
		expect(await holds('')).toBeNull();
		expect(await holds('BLOCKED', [])).toBeNull();
	});

	it('of an output that is gone is an error of the store', async () => {
		const { outputHolds } = await open();
		expect(() => outputHolds('gone.txt', ['X'])).toThrow(
			`cannot read ${runDir}/gone.txt: there is no such file or folder (ENOENT)`,
		);
	});

	it('is not misled by a line that is longer than memory should hold', async () => {
		expect(await holds(`${'x'.repeat(300_000)}BLOCKED`)).toBeNull();
		expect(await holds(`BLOCKED${' '.repeat(300_000)}x`)).toBeNull();
		expect(await holds(`${' '.repeat(300_000)}x\nBLOCKED`)).toBe('BLOCKED');
	});
});

function git(...args: string[]): string {
	const settings = [
		'-c',
		'user.name=t',
		'-c',
		'user.email=t@t',
		'-c',
		'init.defaultBranch=main',
		'-c',
		'commit.gpgsign=false',
	];
	return execFileSync('git', [...settings, ...args], {
		cwd: project,
		encoding: 'utf8',
		stdio: ['ignore', 'pipe', 'pipe'],
	});
}

describe('without git', () => {
	it('there is no tree, and no diff', async () => {
		const workspace = await open();
		expect(workspace.tree()).toBeNull();
		expect(workspace.diff(null, null, 'x')).toBe(NO_DIFF);
		expect(NO_DIFF).toBe('(no diff: the project is not in a git repository)');
	});

	it('a .git that is no repository is no reason to fail', async () => {
		mkdirSync(join(project, '.git'));
		expect((await open()).tree()).toBeNull();
	});
});

describe('with git', () => {
	beforeEach(() => {
		git('init', '-q');
		write('.gitignore', 'ignored\n');
		write('a.txt', 'one\n');
		git('add', 'a.txt', '.gitignore');
		git('commit', '-qm', 'first');
	});

	it('the tree is the same while nothing changes, and another when an untracked file appears', async () => {
		const workspace = await open();
		const before = workspace.tree();
		expect(before).toMatch(/^[0-9a-f]{40}$/);
		expect(workspace.tree()).toBe(before);
		write('new.txt');
		expect(workspace.tree()).not.toBe(before);
		unlinkSync(join(project, 'new.txt'));
		expect(workspace.tree()).toBe(before);
	});

	it('ignored files and our own state do not count', async () => {
		const workspace = await open();
		const before = workspace.tree();
		write('ignored');
		write('.ai-sdd/state/runs/r1/journal/1.ndjson');
		expect(workspace.tree()).toBe(before);
		write('.ai-sdd/agents/dev.yaml');
		expect(workspace.tree()).not.toBe(before);
	});

	it('neither the user’s index nor the user’s objects are touched', async () => {
		write('staged.txt');
		git('add', 'staged.txt');
		write('untracked.txt');
		const status = git('status', '--porcelain', '-uall', '--', ':!.ai-sdd');
		const objects = git('count-objects');
		const index = readFileSync(join(project, '.git/index'));
		const workspace = await open();
		workspace.tree();
		expect(readFileSync(join(project, '.git/index')).equals(index)).toBe(true);
		expect(git('status', '--porcelain', '-uall', '--', ':!.ai-sdd')).toBe(status);
		expect(git('count-objects')).toBe(objects);
	});

	it('the diff between two trees shows what changed, also in files git did not know', async () => {
		const workspace = await open();
		const before = workspace.tree();
		write('a.txt', 'one\ntwo\n');
		write('ünew.txt', 'new\n');
		const diff = workspace.diff(before, workspace.tree(), 'implement#2');
		expect(diff).toContain('--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n one\n+two\n');
		expect(diff).toContain('+++ b/ünew.txt\n@@ -0,0 +1 @@\n+new\n');
		expect(readFileSync(join(runDir, 'diffs/implement_2.diff'), 'utf8')).toBe(diff);
	});

	it('secrets are taken out of a diff before anybody reads it', async () => {
		const mask = (path: string) => maskFile(path, ['line one\nline two', 'välue-of-a-variable']);
		const workspace = await openWorkspace({ project, runDir, mask });
		const before = workspace.tree();
		write('a.txt', 'line one\nline two\nvälue-of-a-variable\n{"v\\u00e4lue-of-a-variable"}\npassword=hunter22\n');
		const diff = workspace.diff(before, workspace.tree(), 'x');
		expect(diff).toContain(`\n+${'*'.repeat(18)}\n+${'*'.repeat(20)}\n+{"${'*'.repeat(24)}"}\n+password=********\n`);
		expect(readFileSync(join(runDir, 'diffs/x.diff'), 'utf8')).toBe(diff);
	});

	it('a diff of more than a mebi of characters is cut, and one without changes says so', async () => {
		const workspace = await open();
		const before = workspace.tree();
		expect(workspace.diff(before, before, 'x')).toBe('(no changes detected)');
		expect(NO_CHANGES).toBe('(no changes detected)');
		write('a.txt', `${'x'.repeat(99)}\n`.repeat(20_000));
		const diff = workspace.diff(before, workspace.tree(), 'x');
		expect(diff).toMatch(/\n\[... \d{3},\d{3} characters cut by sdd; 2,\d{3},\d{3} in all\]$/);
		expect(diff.lastIndexOf('\n')).toBe(1024 * 1024);
	});

	it('a tree of before a crash can still be compared after it', async () => {
		const before = (await open()).tree();
		write('a.txt', 'two\n');
		writeFileSync(join(runDir, 'git/index.lock'), '');
		const workspace = await open();
		expect(workspace.diff(before, workspace.tree(), 'x')).toContain('-one\n+two\n');
	});

	it('a run’s folder that cannot be written is an error of the store', async () => {
		const workspace = await open();
		const tree = workspace.tree();
		writeFileSync(join(runDir, 'diffs'), 'in the way');
		expect(() => workspace.diff(tree, '0'.repeat(40), 'x')).toThrow(
			`cannot write a diff into ${runDir}: a file is in the way of a folder (EEXIST)`,
		);
		rmSync(join(runDir, 'git'), { recursive: true });
		writeFileSync(join(runDir, 'git'), 'in the way');
		expect(() => workspace.tree()).toThrow(
			`cannot keep the state of the workspace in ${runDir}: a file is in the way of a folder (ENOTDIR)`,
		);
	});

	it('a tree that git does not know has no diff', async () => {
		const workspace = await open();
		expect(workspace.diff('0'.repeat(40), workspace.tree(), 'x')).toBe(
			'(no diff: git could not compare the two states of the workspace)',
		);
	});

	it('a project that is a folder of a repository has only its own part in the diff', async () => {
		const root = project;
		project = join(root, 'packages/shop');
		write('b.txt', 'one\n');
		const workspace = await openWorkspace({ project, runDir });
		const before = workspace.tree();
		write('b.txt', 'two\n');
		writeFileSync(join(root, 'a.txt'), 'other\n');
		const diff = workspace.diff(before, workspace.tree(), 'x');
		expect(diff).toContain('--- a/b.txt');
		expect(diff).not.toContain('a.txt');
	});

	it('hooks and configured programs of the repository are not run', async () => {
		const trap = join(dir, 'trap.sh');
		writeFileSync(trap, `#!/bin/sh\ntouch ${dir}/trapped\n`);
		chmodSync(trap, 0o755);
		writeFileSync(join(project, '.git/hooks/post-index-change'), readFileSync(trap), { mode: 0o755 });
		git('config', 'core.fsmonitor', trap);
		git('config', 'diff.external', trap);
		const workspace = await open();
		const before = workspace.tree();
		write('a.txt', 'two\n');
		expect(workspace.diff(before, workspace.tree(), 'x')).toContain('+two');
		expect(existsSync(join(dir, 'trapped'))).toBe(false);
	});

	it('a change that leaves a file’s size alone is seen, however soon it comes', async () => {
		const workspace = await open();
		const trees = Array.from({ length: 10 }, (_, n) => {
			write('a.txt', `${n}ne\n`);
			return workspace.tree();
		});
		expect(new Set(trees).size).toBe(10);
	});

	it('where no git is installed there is no tree', async () => {
		const path = process.env['PATH'];
		process.env['PATH'] = dir;
		try {
			expect((await open()).tree()).toBeNull();
		} finally {
			process.env['PATH'] = path;
		}
	});

	it('a repository without a commit has a tree too', async () => {
		rmSync(join(project, '.git'), { recursive: true });
		git('init', '-q');
		expect((await open()).tree()).toMatch(/^[0-9a-f]{40}$/);
	});

	it('a folder that is a repository of its own does not hide the rest', async () => {
		mkdirSync(join(project, 'nested'));
		execFileSync('git', ['init', '-q'], { cwd: join(project, 'nested') });
		write('nested/x.txt');
		const workspace = await open();
		const before = workspace.tree();
		write('b.txt');
		expect(before).toMatch(/^[0-9a-f]{40}$/);
		expect(workspace.tree()).not.toBe(before);
	});

	it('variables that point git elsewhere are not heeded', async () => {
		process.env['GIT_DIR'] = '/nowhere';
		try {
			expect((await open()).tree()).toMatch(/^[0-9a-f]{40}$/);
		} finally {
			delete process.env['GIT_DIR'];
		}
	});
});

it('there is some space left', () => {
	expect(freeBytes(dir)).toBeGreaterThan(0);
});
