import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

export default defineConfig({
	plugins: [
		{
			name: 'text-templates',
			enforce: 'pre',
			load(id: string) {
				if (id.endsWith('.hbs') || id.endsWith('.md')) {
					return `export default ${JSON.stringify(readFileSync(id, 'utf8'))};`;
				}
				return undefined;
			},
		},
	],
	test: {
		include: ['test/**/*.test.ts'],
		globalSetup: ['test/global-setup.ts'],
		testTimeout: 60_000,
		hookTimeout: 120_000,
		pool: 'forks',
		maxWorkers: 2,
	},
});
