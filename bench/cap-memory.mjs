/** Caps twenty texts of 10 MB and keeps the caps; prints the memory that stays, and the size of the caps. Needs --expose-gc. */
import { pathToFileURL } from 'node:url';

const { capText, OUTPUT_CAP } = await import(pathToFileURL(process.argv[2]).href);
capText(textOf(0), OUTPUT_CAP);
const before = await inUse();
const caps = Array.from({ length: 20 }, (_, i) => capText(textOf(i), OUTPUT_CAP));
const kept = (await inUse()) - before;
process.stdout.write(JSON.stringify({ kept, capped: caps.reduce((sum, cap) => sum + cap.length, 0) }));

function textOf(i) {
	return Buffer.alloc(10_000_000, `line ${i} of an output\n`).toString();
}

async function inUse() {
	// What lies outside the heap goes only after the collection that found it unused.
	for (let i = 0; i < 4; i++) {
		globalThis.gc();
		await new Promise(setImmediate);
	}
	const { heapUsed, external } = process.memoryUsage();
	return heapUsed + external;
}
