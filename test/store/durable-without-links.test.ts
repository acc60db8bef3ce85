import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { putIfAbsent } from '../../engine/store/durable.ts';
import { temporaryFolders } from './rig.ts';

vi.mock('node:fs', async (original) => ({
	...(await original<typeof import('node:fs')>()),
	linkSync: () => {
		throw Object.assign(new Error('EPERM'), { code: 'EPERM', syscall: 'link' });
	},
}));

const newFolder = temporaryFolders();

it('putIfAbsent has one winner on a file system without hard links', () => {
	const path = join(newFolder(), 'decision.json');
	expect(putIfAbsent(path, 'first')).toBe(true);
	expect(putIfAbsent(path, 'second')).toBe(false);
	expect(readFileSync(path, 'utf8')).toBe('first');
});

it('a winner that died before publishing stays the winner', () => {
	const dir = newFolder();
	const path = join(dir, 'decision.json');
	mkdirSync(`${path}.claim`);
	writeFileSync(join(`${path}.claim`, 'content'), 'first');
	expect(putIfAbsent(path, 'second')).toBe(false);
	expect(readFileSync(path, 'utf8')).toBe('first');
	expect(readdirSync(dir).sort()).toEqual(['decision.json', 'decision.json.claim']);
});
