import {
	chmodSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	statSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { appendDurable, mkdirDurable, putIfAbsent, replaceFile, sweepTemps } from '../../engine/store/durable.ts';
import { storeError } from '../../engine/store/fs-errors.ts';
import { errorOf, temporaryFolders } from './rig.ts';

const newFolder = temporaryFolders();
const DEAD_PID = 2 ** 30;

describe('replaceFile', () => {
	it('creates a file, replaces it whole, and leaves nothing else behind', () => {
		const dir = newFolder();
		const path = join(dir, 'view.json');
		replaceFile(path, 'a long first version');
		replaceFile(path, 'second');
		expect(readFileSync(path, 'utf8')).toBe('second');
		expect(readdirSync(dir)).toEqual(['view.json']);
	});

	it('keeps the old content and removes its temporary file when it cannot rename', () => {
		const dir = newFolder();
		const path = join(dir, 'view.json');
		mkdirSync(join(path, 'in-the-way'), { recursive: true });
		expect(errorOf(() => replaceFile(path, 'new')).code).toMatch(/^STORE_/);
		expect(readdirSync(dir)).toEqual(['view.json']);
	});

	it('says so when the folder is not there', () => {
		const error = errorOf(() => replaceFile(join(newFolder(), 'gone', 'view.json'), 'x'));
		expect(error.code).toBe('STORE_IO');
		expect(error.message).toContain('there is no such file or folder (ENOENT)');
		expect(error.remedy).toBe('check that nobody removed .ai-sdd/state meanwhile');
	});
});

describe('putIfAbsent', () => {
	it('has one winner, whose content stays', () => {
		const dir = newFolder();
		const path = join(dir, 'decision.json');
		expect(putIfAbsent(path, 'first')).toBe(true);
		expect(putIfAbsent(path, 'second')).toBe(false);
		expect(readFileSync(path, 'utf8')).toBe('first');
		expect(readdirSync(dir)).toEqual(['decision.json']);
	});
});

describe('mkdirDurable', () => {
	it('creates all parents and is content with a folder that is there', () => {
		const path = join(newFolder(), 'a', 'b', 'c');
		mkdirDurable(path);
		mkdirDurable(path);
		expect(statSync(path).isDirectory()).toBe(true);
	});

	it('names a file that is in the way', () => {
		const dir = newFolder();
		writeFileSync(join(dir, 'a'), '');
		const error = errorOf(() => mkdirDurable(join(dir, 'a', 'b')));
		expect(error.code).toBe('STORE_NOT_A_FOLDER');
		expect(error.message).toContain(
			`cannot create the folder ${join(dir, 'a', 'b')}: a file is in the way of a folder`,
		);
		expect(error.remedy).toBe('move that file away: sdd keeps its state in the folder .ai-sdd/state');
	});
});

describe('appendDurable', () => {
	it('adds lines to a file, which it creates', () => {
		const path = join(newFolder(), 'heads.ndjson');
		appendDurable(path, 'one\n');
		appendDurable(path, 'two\n');
		expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
	});
});

describe('sweepTemps', () => {
	it('removes what dead processes left, and what is older than an hour, and nothing else', () => {
		const dir = newFolder();
		const dead = `.tmp-${DEAD_PID}-abc123`;
		const fresh = `.tmp-${process.pid}-fresh1`;
		const old = `.tmp-${process.pid}-old123`;
		for (const name of [dead, fresh, old, 'view.json', '.tmp-notes']) writeFileSync(join(dir, name), '');
		utimesSync(join(dir, old), new Date(0), new Date(0));
		expect(sweepTemps(dir)).toBe(2);
		expect(readdirSync(dir).sort()).toEqual(['.tmp-notes', fresh, 'view.json'].sort());
	});

	it('has nothing to do where there is no folder', () => {
		expect(sweepTemps(join(newFolder(), 'none'))).toBe(0);
	});
});

describe('an error of the file system', () => {
	const failed = (code: string) => Object.assign(new Error(code), { code, syscall: 'write' });
	const saying = (code: string) => storeError(failed(code), '/p/f', 'write');

	it.each([
		['ENOSPC', 'STORE_DISK_FULL', 'no space is left on the disk'],
		['EDQUOT', 'STORE_DISK_FULL', 'the disk quota is used up'],
		['EFBIG', 'STORE_DISK_FULL', 'the file would grow beyond the allowed size'],
		['EACCES', 'STORE_READ_ONLY', 'permission denied'],
		['EPERM', 'STORE_READ_ONLY', 'operation not permitted'],
		['EROFS', 'STORE_READ_ONLY', 'the file system is read-only'],
		['ENOTDIR', 'STORE_NOT_A_FOLDER', 'a file is in the way of a folder'],
		['EIO', 'STORE_IO', 'the disk reported an error'],
		['EMFILE', 'STORE_IO', 'too many files are open'],
		['EBUSY', 'STORE_IO', 'the operating system refused'],
	])('%s becomes %s', (errno, code, says) => {
		expect(saying(errno).code).toBe(code);
		expect(saying(errno).message).toBe(`cannot write /p/f: ${says} (${errno})`);
		expect(saying(errno).remedy).not.toBe('');
	});

	it('tells how to go on after a full or a read-only disk', () => {
		expect(saying('ENOSPC').remedy).toContain('nothing acknowledged is lost');
		expect(saying('EROFS').remedy).toContain('make .ai-sdd/state writable for this user');
	});

	it('is passed on when it is an SddError already, and thrown when it is a bug', () => {
		const known = saying('EIO');
		expect(storeError(known, '/q', 'read')).toBe(known);
		expect(() => storeError(new TypeError('bug'), '/q', 'read')).toThrow(TypeError);
	});

	it.skipIf(process.getuid?.() === 0)('is STORE_READ_ONLY in a folder without write permission', () => {
		const dir = newFolder();
		chmodSync(dir, 0o500);
		expect(errorOf(() => replaceFile(join(dir, 'f'), 'x')).code).toBe('STORE_READ_ONLY');
		expect(existsSync(join(dir, 'f'))).toBe(false);
		chmodSync(dir, 0o700);
	});
});
