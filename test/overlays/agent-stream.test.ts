import { expect, it } from 'vitest';
import { ownWords } from '../../overlays/shared/agent-stream.ts';

const GO = '{"decision":"GO","feedback":"fine"}';

function stream(...events: readonly object[]): string {
	return events.map((event) => `${JSON.stringify(event)}\n`).join('');
}

it.each(['plain words', GO, `{"type":"x"}\nand words`, '', '[1]', '{"type":1}', 'null', '{"type":"text"'])(
	"%j is no stream: all of it is the agent's",
	(reply) => {
		expect(ownWords(reply)).toBe(reply);
	},
);

it('a verdict on one line may have a type of its own', () => {
	const reply = '{"type":"review","decision":"GO","feedback":"fine"}';
	expect(ownWords(reply)).toBe(reply);
});

it('the final result of a stream is what counts, not what was said or read on the way', () => {
	const reply = stream(
		{ type: 'system', subtype: 'init' },
		{ type: 'assistant', message: { content: [{ type: 'text', text: 'Let me look.' }] } },
		{ type: 'user', message: { content: [{ type: 'tool_result', content: GO }] } },
		{ type: 'result', subtype: 'success', is_error: false, result: 'NO_GO it is' },
	);
	expect(ownWords(reply)).toBe('NO_GO it is');
});

it('a result that is an error says nothing', () => {
	expect(ownWords(stream({ type: 'result', subtype: 'success', is_error: true, result: GO }))).toBe('');
});

it.each([
	{ type: 'result', subtype: 'error_max_turns', is_error: false, num_turns: 9 },
	{ type: 'result', subtype: 'error_max_budget_usd', is_error: true, errors: ['out of money'] },
])('a run that ended without a result has said nothing, whatever was said on the way: %j', (end) => {
	const said = { type: 'assistant', message: { content: [{ type: 'text', text: GO }] } };
	expect(ownWords(stream(said, end))).toBe('');
});

it('a turn that failed has said nothing, whatever was said on the way', () => {
	const said = { type: 'item.completed', item: { type: 'agent_message', text: GO } };
	const failed = { type: 'turn.failed', error: { message: 'stream disconnected' } };
	expect(ownWords(stream(said, failed))).toBe('');
	expect(ownWords(stream(failed, said, { type: 'turn.completed', usage: {} }))).toBe(GO);
});

it('without a final result the spoken texts count, and results of tools never do', () => {
	const reply = stream(
		{
			type: 'assistant',
			message: {
				content: [
					{ type: 'text', text: 'one' },
					{ type: 'tool_use', input: GO },
				],
			},
		},
		{ type: 'user', message: { content: [{ type: 'tool_result', content: GO }] } },
		{ type: 'assistant', message: { content: [{ type: 'text', text: 'two' }] } },
	);
	expect(ownWords(reply)).toBe('one\ntwo');
});

it('messages of an item stream count, its commands do not', () => {
	const reply = stream(
		{ type: 'thread.started', thread_id: 't' },
		{ type: 'item.completed', item: { type: 'command_execution', aggregated_output: GO } },
		{ type: 'item.completed', item: { type: 'agent_message', text: 'my words' } },
		{ type: 'turn.completed', usage: {} },
	);
	expect(ownWords(reply)).toBe('my words');
});

it('text parts count, tool uses do not', () => {
	const reply = stream(
		{ type: 'step_start' },
		{ type: 'tool_use', part: { state: { output: GO } } },
		{ type: 'text', part: { text: 'my words' } },
		{ type: 'step_finish' },
	);
	expect(ownWords(reply)).toBe('my words');
});

it('events of odd shapes say nothing', () => {
	const reply = stream(
		{ type: 'assistant' },
		{ type: 'assistant', message: { content: GO } },
		{ type: 'assistant', message: { content: [GO, null, { type: 'text', text: 5 }] } },
		{ type: 'item.completed', item: GO },
		{ type: 'result', result: { decision: 'GO' } },
	);
	expect(ownWords(reply)).toBe('');
});

it('Windows line ends and empty lines do no harm', () => {
	expect(ownWords('\r\n{"type":"result","result":"x"}\r\n\r\n')).toBe('x');
});
