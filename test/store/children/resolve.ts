/** Waits for its standard input to end, then tries to decide every item. argv: project, name of this process, number of items */
import { SddError } from '../../../engine/errors.ts';
import { resolveItem } from '../../../engine/store/hil-store.ts';

const [project = '', name = '', count = '0'] = process.argv.slice(2);
const ids = Array.from({ length: Number(count) }, (_, i) => `hil-${i}`).sort(() => Math.random() - 0.5);

process.stdout.write('ready\n');
for await (const _ of process.stdin);

for (const id of ids) {
	try {
		resolveItem(project, id, {
			choice: Math.random() < 0.5 ? 'approve' : 'reject',
			by: name,
			via: 'cli',
			notes: null,
			at: new Date().toISOString(),
		});
		process.stdout.write(`won ${id}\n`);
	} catch (error) {
		if (!(error instanceof SddError)) throw error;
		process.stdout.write(`${error.code} ${id} ${error.message}\n`);
	}
}
