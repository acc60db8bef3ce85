import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { capFile, capFileMiddle, capMiddle, capText, grouped, isCut } from '../../engine/brief/cap.ts';

let dir = '';
beforeEach(() => {
	dir = mkdtempSync(join(tmpdir(), 'sdd-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function file(content: string | Uint8Array): string {
	const path = join(dir, 'file');
	writeFileSync(path, content);
	return path;
}

/** A file of many bytes that takes no time to make: a hole with something at both ends. */
function hugeFile(bytes: number): string {
	const path = join(dir, 'huge');
	const fd = openSync(path, 'w');
	writeSync(fd, 'begin');
	ftruncateSync(fd, bytes);
	writeSync(fd, 'end', bytes - 3);
	closeSync(fd);
	return path;
}

describe('capText', () => {
	it('leaves a text alone that is not longer than the cap', () => {
		expect(capText('12345', 5)).toBe('12345');
		expect(capText('', 0)).toBe('');
	});

	it('keeps exactly the cap, and says on a line of its own how much was cut', () => {
		const capped = capText('x'.repeat(60_000), 50_000);
		expect(capped).toBe(`${'x'.repeat(50_000)}\n[... 10,000 characters cut by sdd; 60,000 in all]`);
	});

	it('never cuts a character in two', () => {
		expect(capText('ab😀cd', 3)).toBe('ab\n[... 4 characters cut by sdd; 6 in all]');
		expect(capText('ab😀cd', 4)).toBe('ab😀\n[... 2 characters cut by sdd; 6 in all]');
	});

	it('tells the truth about a text that was cut before', () => {
		const once = capText('x'.repeat(80_000), 60_000);
		const twice = capText(once, 50_000);
		expect(twice).toBe(`${'x'.repeat(50_000)}\n[... 30,000 characters cut by sdd; 80,000 in all]`);
		expect(capText(twice, 50_000)).toBe(twice);
		const file = capText(`${'é'.repeat(60_000)}\n[... the rest cut by sdd; 6,000,000 bytes in all]`, 50_000);
		expect(file).toBe(`${'é'.repeat(50_000)}\n[... the rest cut by sdd; 6,000,000 bytes in all]`);
		expect(capText(file, 50_000)).toBe(file);
	});

	it('never tells of less than is there, whatever line the text ends with', () => {
		const cut = (mark: string) => capText(`${'é'.repeat(20)}\n${mark}`, 10).slice(11);
		expect(cut('[... 1 characters cut by sdd; 2 in all]')).toBe('[... 10 characters cut by sdd; 20 in all]');
		expect(cut('[... the rest cut by sdd; 2 bytes in all]')).toBe('[... the rest cut by sdd; 40 bytes in all]');
		expect(cut('[... 1 characters cut by sdd; 1,2 in all]')).toBe('[... 52 characters cut by sdd; 62 in all]');
		expect(cut('[... nothing cut by sdd]')).toBe('[... 35 characters cut by sdd; 45 in all]');
	});

	it('does not keep the whole text in memory', () => {
		const before = process.memoryUsage().heapUsed;
		const caps = Array.from({ length: 20 }, (_, n) => capText(`${n}${'y'.repeat(5_000_000)}`, 1000));
		globalThis.gc?.();
		expect(process.memoryUsage().heapUsed - before).toBeLessThan(60_000_000);
		expect(caps).toHaveLength(20);
	});
});

it('a text that was cut is known by the line that says so, wherever it stands', () => {
	for (const cut of [capText('0123456789', 4), capMiddle('0123456789', 4), capFile(file('0'.repeat(99)), 4)]) {
		expect(isCut(cut)).toBe(true);
	}
	expect(isCut(capFileMiddle(hugeFile(1_000_000), 4))).toBe(true);
	expect(isCut('a text that was cut by sdd; 10 in all]\n')).toBe(false);
});

describe('capMiddle', () => {
	it('keeps both ends', () => {
		expect(capMiddle('0123456789', 4)).toBe('01\n[... 6 characters cut by sdd; 10 in all]\n89');
		expect(capMiddle('0123', 4)).toBe('0123');
	});

	it('never cuts a character in two at either side', () => {
		expect(capMiddle('a😀bcd😀e', 4)).toBe('a\n[... 6 characters cut by sdd; 9 in all]\n😀e'.replace('6', '5'));
		expect(capMiddle('ab-----😀', 3)).toBe('a\n[... 6 characters cut by sdd; 9 in all]\n😀');
	});
});

describe('capFile', () => {
	it('is the same as capText for a file that had to be read whole', () => {
		for (const text of ['', 'short', 'é'.repeat(10), 'abcdefghijk'])
			expect(capFile(file(text), 10)).toBe(capText(text, 10));
	});

	it('takes a line like ours in a file for what it is: a part of the file', () => {
		const text = `${'x'.repeat(20)}\n[... 1 characters cut by sdd; 999 in all]`;
		expect(capFile(file(text), 30)).toBe(`${text.slice(0, 30)}\n[... 32 characters cut by sdd; 62 in all]`);
	});

	it('reads only the beginning of a large file, and tells its size in bytes', () => {
		const before = process.memoryUsage.rss();
		const capped = capFile(hugeFile(2_000_000_000), 1000);
		expect(capped).toBe(`begin${'\0'.repeat(995)}\n[... the rest cut by sdd; 2,000,000,000 bytes in all]`);
		expect(process.memoryUsage.rss() - before).toBeLessThan(10_000_000);
	});

	it('keeps the cap in characters, however many bytes they take', () => {
		expect(capFile(file('€'.repeat(100)), 10)).toBe(`${'€'.repeat(10)}\n[... the rest cut by sdd; 300 bytes in all]`);
		expect(capFile(file('😀'.repeat(100)), 5)).toBe('😀😀\n[... the rest cut by sdd; 400 bytes in all]');
	});

	it('shows bytes that are not UTF-8 as U+FFFD', () => {
		expect(capFile(file(new Uint8Array([0x61, 0xff, 0x62])), 10)).toBe('a\uFFFDb');
	});
});

describe('capFileMiddle', () => {
	it('is the same as capMiddle for a file that is not large', () => {
		for (const text of ['', 'short', '0123456789'.repeat(4)]) {
			expect(capFileMiddle(file(text), 10)).toBe(capMiddle(text, 10));
		}
	});

	it('reads only both ends of a large file', () => {
		const capped = capFileMiddle(hugeFile(2_000_000_000), 10);
		expect(capped).toBe('begin\n[... the middle cut by sdd; 2,000,000,000 bytes in all]\n\0\0end');
	});
});

it('numbers are grouped so that people can read them', () => {
	expect([0, 999, 1000, 1_234_567].map(grouped)).toEqual(['0', '999', '1,000', '1,234,567']);
});
