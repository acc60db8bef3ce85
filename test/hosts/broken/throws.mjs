import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

createInterface({ input: process.stdin }).on('line', (line) => {
	const { id, method, params } = JSON.parse(line);
	if (method === 'initialize' && params.protocol.min === 1)
		return send({ id, result: { protocol: 1, name: 'broken', hooks: ['after'] } });
	if (method === 'shutdown') return send({ id, result: null });
	if (method === 'after') console.error('Error: no such table: licences');
	if (id !== undefined) send({ id, error: { code: -32000, message: `cannot do ${method}` } });
});
