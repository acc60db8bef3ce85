/**
 * Appends records of very different sizes until it is killed, and prints a line before each is written and when
 * it was acknowledged.
 * argv: journal folder, name of this process, number of records (0: without end), largest payload in bytes
 */
import { openJournal } from '../../../engine/store/journal.ts';

const [dir = '', name = '', count = '0', largest = '4000000'] = process.argv.slice(2);
const SIZES = [500, Number(largest), 300_000, Number(largest)].filter((size) => size <= Number(largest));
const FILL = 'x'.repeat(Number(largest));

process.on('SIGXFSZ', () => {});

const { writer } = openJournal(dir, { version: 'test', onRecord: () => {} });
process.stdout.write('open\n');
try {
	for (let i = 0; Number(count) === 0 || i < Number(count); i++) {
		const message = `${name}-${i} ${FILL.slice(0, SIZES[i % SIZES.length])}`;
		const appended = writer.append([{ kind: 'warning', code: 'TEST', message }]);
		process.stdout.write('writing\n');
		await appended;
		process.stdout.write(`ack ${name}-${i} ${writer.head().seq} ${writer.head().hash}\n`);
	}
	await writer.close();
} catch (error) {
	process.stdout.write(`error ${(error as { code?: string }).code}\n`);
}
