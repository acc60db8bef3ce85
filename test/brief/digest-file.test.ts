import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { digestFile, isUtf8Head } from '../../engine/brief/digest-file.ts';

let dir = '';
beforeEach(() => {
	dir = mkdtempSync(join(tmpdir(), 'sdd-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it.each([0, 1, 65_536, 65_537, 200_000])('the digest of %i bytes is that of the whole file', (size) => {
	const content = Buffer.alloc(size, 'abc');
	writeFileSync(join(dir, 'file'), content);
	const digest = digestFile(join(dir, 'file'), 70_000);
	expect(digest.sha256).toBe(createHash('sha256').update(content).digest('hex'));
	expect(digest.bytes).toBe(size);
	expect(Buffer.compare(Buffer.from(digest.head), content.subarray(0, 70_000))).toBe(0);
});

it('a head that ends inside a character is UTF-8 only if the file goes on', () => {
	const euro = Buffer.from('a€');
	expect(isUtf8Head(euro.subarray(0, 3), 4)).toBe(true);
	expect(isUtf8Head(euro.subarray(0, 3), 3)).toBe(false);
	expect(isUtf8Head(Buffer.from([0x61, 0xff, 0x61, 0x61, 0x61, 0x61]), 100)).toBe(false);
});
