import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { storeError } from '../../engine/store/fs-errors.ts';
import { bytesOfFile, textOfFile } from '../../engine/store/read-file.ts';

let folder: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'sdd-read-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a file is read whole', () => {
	writeFileSync(join(folder, 'a'), 'é\n');
	expect(textOfFile(join(folder, 'a'))).toBe('é\n');
	expect(bytesOfFile(join(folder, 'a'))).toEqual(Buffer.from('é\n'));
});

test('a pipe is refused at once, in words, and a folder or nothing as ever', () => {
	const pipe = join(folder, 'pipe');
	execFileSync('mkfifo', [pipe]);
	mkdirSync(join(folder, 'sub'));
	const reading = (path: string) => {
		try {
			return textOfFile(path);
		} catch (error) {
			return storeError(error, path, 'read');
		}
	};
	expect(reading(pipe)).toMatchObject({
		code: 'STORE_IO',
		message: `cannot read ${pipe}: it is not a regular file (EFTYPE)`,
		remedy: 'move away what lies there, then run the command again',
	});
	expect(() => textOfFile(join(folder, 'sub'))).toThrow('EISDIR');
	expect(() => textOfFile(join(folder, 'none'))).toThrow('ENOENT');
});
