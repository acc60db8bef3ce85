import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { maskFile } from '../../engine/store/mask-file.ts';
import { errorOf, temporaryFolders } from './rig.ts';

const newFolder = temporaryFolders();
const SECRET = 'very-secret-välue';
const MASK = '*'.repeat(Buffer.byteLength(SECRET));

function masked(content: string | Buffer, secrets = [SECRET]): { readonly bytes: Buffer; readonly found: number } {
	const path = join(newFolder(), 'output.log');
	writeFileSync(path, content);
	const found = maskFile(path, secrets);
	return { bytes: readFileSync(path), found };
}

describe('masking a file', () => {
	it('puts stars over secrets and keeps everything in its place', () => {
		const { bytes, found } = masked(`a ${SECRET} ü ${SECRET}\npassword=hunter22\n`);
		expect(bytes.toString()).toBe(`a ${MASK} ü ${MASK}\npassword=********\n`);
		expect(found).toBe(3);
	});

	it('finds secrets as they look inside JSON, in ASCII too, and inside a diff', () => {
		const secret = 'pä"ss\\wörd 😀';
		const forms = [
			JSON.stringify(secret),
			'"p\\u00e4\\"ss\\\\w\\u00f6rd \\ud83d\\ude00"',
			'"p\\u00E4\\"ss\\\\w\\u00F6rd \\uD83D\\uDE00"',
		];
		for (const form of forms) expect(masked(`{"a":${form}}`, [secret]).bytes.toString()).toMatch(/^\{"a":"\*+"\}$/);
		for (const sign of ['+', '-', ' ']) {
			const { bytes } = masked(`${sign}one line\n${sign}and another\n`, ['one line\nand another\n']);
			expect(bytes.toString()).toBe(`${sign}${'*'.repeat(21)}\n`);
		}
	});

	it('leaves a file without secrets as it is', () => {
		const binary = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 256));
		expect(masked(binary)).toEqual({ bytes: binary, found: 0 });
		expect(masked('')).toEqual({ bytes: Buffer.alloc(0), found: 0 });
	});

	it('finds secrets across the borders of chunks', () => {
		const chunk = 1 << 20;
		for (const at of [chunk - 8, chunk, chunk - 1, chunk + 16_384 - 5, chunk + 16_384, 2 * chunk - 3]) {
			const content = Buffer.alloc(2 * chunk + 40_000, '.');
			content.write(SECRET, at);
			const { bytes, found } = masked(content);
			expect(found).toBe(1);
			expect(bytes.indexOf(SECRET)).toBe(-1);
			expect(bytes.subarray(at, at + MASK.length).toString()).toBe(MASK);
			expect(bytes.filter((byte) => byte === 0x2e)).toHaveLength(content.length - MASK.length);
		}
	});

	it('says so when the file cannot be masked', () => {
		const error = errorOf(() => maskFile(join(newFolder(), 'none'), []));
		expect(error.message).toContain('cannot mask the secrets in');
	});
});
