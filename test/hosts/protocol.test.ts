import { expect, test } from 'vitest';
import { problemWithHandshake, readMessage } from '../../engine/hosts/protocol.ts';

const read = (value: unknown) => readMessage({ kind: 'value', value });
const message = (parts: object) => read({ jsonrpc: '2.0', ...parts });

test('answers, errors and notifications are told apart', () => {
	expect(message({ id: 1, result: null })).toEqual({ kind: 'answer', id: 1, result: null });
	expect(message({ id: 1, result: 2, error: null })).toEqual({ kind: 'answer', id: 1, result: 2 });
	expect(message({ id: 1, error: { code: 1, message: 'no' } })).toEqual({ kind: 'error', id: 1, text: 'no' });
	expect(message({ id: 1, error: 'no' })).toEqual({ kind: 'error', id: 1, text: '"no"' });
	expect(message({ method: 'log', params: { text: 'hi' } })).toEqual({
		kind: 'notification',
		method: 'log',
		params: { text: 'hi' },
	});
});

test.each<[string, unknown]>([
	['it wrote 42 to stdout, which is no message', 42],
	['it wrote null to stdout, which is no message', null],
	['it wrote [] to stdout, which is no message', []],
	['its message {"id":1,"result":1} lacks "jsonrpc": "2.0"', { id: 1, result: 1 }],
	['its message {"jsonrpc":"2.0"} has neither a method nor the id of a request', { jsonrpc: '2.0' }],
	['its message {"jsonrpc":"2.0","id":"1"} has neither a method nor the id of a request', { jsonrpc: '2.0', id: '1' }],
	['its answer to the request 1 has neither a result nor an error', { jsonrpc: '2.0', id: 1 }],
	['its answer to the request 1 has both a result and an error', { jsonrpc: '2.0', id: 1, result: 1, error: {} }],
	['it asked the host for "agents", and the host answers no requests', { jsonrpc: '2.0', id: 1, method: 'agents' }],
	[
		'it did not understand what it was sent: Parse error',
		{ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } },
	],
])('%s', (reason, value) => {
	expect(read(value)).toEqual({ kind: 'violation', violation: 'no_message', reason });
});

const GOOD = { protocol: 1, name: 'gate', hooks: ['after'] };

test('a handshake may say no more than it must, or all there is', () => {
	expect(problemWithHandshake(GOOD)).toBeNull();
	const more = { version: '1', summary: 's', order: 20, conflicts_with: ['a'], agents: ['dev'], options: {} };
	expect(problemWithHandshake({ ...GOOD, ...more, later: 'unknown members are for later versions' })).toBeNull();
});

test.each<[string, unknown]>([
	['it is not an object', null],
	['it is not an object', []],
	['"protocol" must be a number', { ...GOOD, protocol: '1' }],
	['it speaks protocol 99, and this sdd speaks 1 to 1', { ...GOOD, protocol: 99 }],
	['"name" must be a text', { ...GOOD, name: '' }],
	['"hooks" must list some of before, checkpoint, after, failed', { ...GOOD, hooks: [] }],
	['"hooks" must list some of before, checkpoint, after, failed', { ...GOOD, hooks: 'after' }],
	['"afterwards" is not a hook; there are before, checkpoint, after, failed', { ...GOOD, hooks: ['afterwards'] }],
	['"version" must be a text', { ...GOOD, version: 1 }],
	['"summary" must be a text', { ...GOOD, summary: null }],
	['"conflicts_with" must be a list of names', { ...GOOD, conflicts_with: 'hil' }],
	['"agents" must be a list of names', { ...GOOD, agents: [1] }],
	['"options" must be a JSON Schema', { ...GOOD, options: [] }],
	['"order" must be a number', { ...GOOD, order: '20' }],
])('a handshake is refused: %s', (problem, said) => {
	expect(problemWithHandshake(said)).toBe(problem);
});
