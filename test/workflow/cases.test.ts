/**
 * One folder per bad input: `workflow.yaml`, perhaps files beside it, and `expected.txt` with what is said.
 *
 * UPDATE_GOLDENS=1 writes the expectations anew.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { prepareIn, saidBy } from './prepare-case.ts';

const cases = fileURLToPath(new URL('./cases', import.meta.url));
const MAY_RUN = ['good', 'missing-inputs', 'shared-outputs'];

test.each(readdirSync(cases).sort())('%s says what is expected', async (name) => {
	const folder = join(cases, name);
	const prepared = await prepareIn(folder);
	const said = saidBy(prepared);
	if (process.env['UPDATE_GOLDENS'] !== undefined) writeFileSync(join(folder, 'expected.txt'), said);
	expect(said).toBe(readFileSync(join(folder, 'expected.txt'), 'utf8'));
	expect(prepared.ok).toBe(MAY_RUN.includes(name));
});
