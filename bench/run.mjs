/**
 * `npm run bench`: every row of the table, each a ratio to a floor that was measured beside it.
 *
 *   npm run bench -- --only chain     one row of the list below
 *   npm run bench -- --write          also puts the table into docs/benchmarks.md
 */
import { openBench } from './projects.mjs';
import { plainTable, writeTable } from './table.mjs';

const ROWS = [
	'startup',
	'chain',
	'growth',
	'spawn',
	'makespan',
	'review',
	'resume',
	'audit',
	'memory',
	'prompt',
	'cap',
	'python',
	'python-start',
	'python-many',
];

await main(process.argv.slice(2));

async function main(args) {
	const only = args.includes('--only') ? args[args.indexOf('--only') + 1] : null;
	if (only !== null && !ROWS.includes(only)) {
		process.stderr.write(`there is no row "${only}"; the rows are ${ROWS.join(', ')}\n`);
		process.exitCode = 2;
		return;
	}
	if (only !== null && args.includes('--write')) {
		process.stderr.write('--write takes the whole table: leave out --only\n');
		process.exitCode = 2;
		return;
	}
	const results = await measureRows(only === null ? ROWS : [only]);
	process.stdout.write(plainTable(results));
	if (args.includes('--write')) writeTable(results);
}

async function measureRows(rows) {
	const bench = openBench();
	try {
		const results = [];
		for (const row of rows) {
			process.stderr.write(`measuring ${row} …\n`);
			const { measure } = await import(`./rows/${row}.mjs`);
			results.push(...(await measure(bench)));
		}
		return results;
	} finally {
		bench.close();
	}
}
