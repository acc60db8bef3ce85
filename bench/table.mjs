/** The table of results: on the terminal, and in docs/benchmarks.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const HEADINGS = ['what', 'floor', 'floor takes', 'ours takes', 'ratio', 'goal', 'met'];
const page = fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url));

/** A line of results as cells; what is only told for comparison has no goal (null). */
export function cellsOf({ what, against, floor, ours, ratio, goal }) {
	const judged = goal === null ? ['none', '–'] : [`≤ ${goal}`, ratio <= goal ? 'yes' : 'NO'];
	return [what, against, floor, ours, ratio.toFixed(2), ...judged];
}

/** The table for a terminal. */
export function plainTable(results) {
	const rows = [HEADINGS, ...results.map(cellsOf)];
	const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column].length)));
	return `${rows
		.map((row) =>
			row
				.map((cell, i) => cell.padEnd(widths[i]))
				.join('  ')
				.trimEnd(),
		)
		.join('\n')}\n`;
}

/** Puts the table into docs/benchmarks.md, between its two marks. */
export function writeTable(results) {
	const text = readFileSync(page, 'utf8');
	const [before, rest] = cut(text, '<!-- results -->\n');
	const [, after] = cut(rest, '<!-- /results -->');
	writeFileSync(page, `${before}<!-- results -->\n${markdown(results)}<!-- /results -->${after}`);
}

function cut(text, mark) {
	const at = text.indexOf(mark);
	if (at < 0) throw new Error(`docs/benchmarks.md has lost its mark ${mark.trim()}`);
	return [text.slice(0, at), text.slice(at + mark.length)];
}

function markdown(results) {
	const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
	const rows = results.map((result) => line(cellsOf(result)));
	return `${setting()}\n\n${line(HEADINGS)}${line(HEADINGS.map(() => '---'))}${rows.join('')}`;
}

function setting() {
	const date = new Date().toISOString().slice(0, 10);
	const memory = Math.round(totalmem() / 2 ** 30);
	const cores = `${cpus().length} shared cores (${cpus()[0]?.model.trim() ?? 'unknown'})`;
	return `${date}, Node ${process.version}, ${process.platform}, ${cores}, ${memory} GiB of memory.`;
}
