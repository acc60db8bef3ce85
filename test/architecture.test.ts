import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = ['engine', 'overlays', 'constitution', 'agents', 'cli'];

describe('ARCHITECTURE.md', () => {
	const table = readTable();
	const files = FOLDERS.flatMap(sourcesIn);

	it('has a row for every module, and no row without one', () => {
		expect([...new Set(files.map(moduleOf))].sort()).toEqual([...table.keys()].sort());
	});

	it.each(files)('%s imports only what its row allows', (file) => {
		const own = moduleOf(file);
		const allowed = new Set([own, 'engine/*.ts', 'package.json', ...(table.get(own) ?? [])]);
		const strangers = importsOf(file).filter((path) => !allowed.has(moduleOf(path)));
		expect(strangers).toEqual([]);
	});

	it('names no import that nobody needs any more', () => {
		const used = new Set(
			files.flatMap((file) => importsOf(file).map((path) => `${moduleOf(file)} → ${moduleOf(path)}`)),
		);
		const named = [...table].flatMap(([own, allowed]) => allowed.map((other) => `${own} → ${other}`));
		expect(named.filter((pair) => !used.has(pair))).toEqual([]);
	});
});

describe('the engine', () => {
	it('rule 8: names no overlay', () => {
		const names = ['agentic_review', 'paired_workflow', 'policy_gate'];
		const mentions = sourcesIn('engine').filter((file) => {
			const code = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
			return names.some((name) => code.includes(name));
		});
		expect(mentions).toEqual([]);
	});
});

/** Module → what it may import, from the table's first and third columns. */
function readTable(): ReadonlyMap<string, readonly string[]> {
	const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
	const rows = text.split('\n').filter((line) => line.startsWith('| `'));
	return new Map(
		rows.map((row) => {
			const cells = row.split('|');
			return [namesIn(cells[1])[0] ?? '', namesIn(cells[3])] as const;
		}),
	);
}

function namesIn(cell: string | undefined): readonly string[] {
	return [...(cell ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
}

function sourcesIn(folder: string): readonly string[] {
	return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
		const path = `${folder}/${entry.name}`;
		if (entry.isDirectory()) return sourcesIn(path);
		return path.endsWith('.ts') && !path.endsWith('.d.ts') ? [path] : [];
	});
}

function importsOf(file: string): readonly string[] {
	const text = readFileSync(join(root, file), 'utf8');
	return [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map((match) =>
		normalize(join(dirname(file), match[1] ?? '')),
	);
}

function moduleOf(path: string): string {
	const [first = '', second = ''] = path.split('/');
	if (first !== 'engine') return first;
	return second.includes('.') ? 'engine/*.ts' : `engine/${second}`;
}
