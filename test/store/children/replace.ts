/** Replaces a file by one of the given size, and says how that went. argv: path, size */
import { replaceFile } from '../../../engine/store/durable.ts';

const [path = '', size = '0'] = process.argv.slice(2);
process.on('SIGXFSZ', () => {});

try {
	replaceFile(path, 'y'.repeat(Number(size)));
	process.stdout.write('done\n');
} catch (error) {
	process.stdout.write(`error ${(error as { code?: string }).code}\n`);
}
