/**
 * What an agent said in its own words.
 *
 * Coding agents can print their work as a stream of JSON lines. A verdict may only be read from what the agent itself
 * said there: the result of a tool may quote a file, and a file may quote a verdict.
 */

/** The agent's own words: the reply itself, or, if it is a stream of JSON events, the texts the agent spoke in it. */
export function ownWords(reply: string): string {
	const events = streamEvents(reply);
	if (events === null) return reply;
	const final = events.findLast((event) => ENDS.has(String(event['type'])));
	if (final?.['type'] === 'result') return final['is_error'] === true ? '' : texts(final['result']).join('');
	// What an agent said before it broke down (out of turns, out of money) was not its last word.
	if (final?.['type'] === 'turn.failed') return '';
	return events.flatMap(spokenTexts).join('\n');
}

type Event = { readonly [key: string]: unknown };

/** Types by which a stream is known; a verdict on one line may have a `type` of its own. */
const STREAM_TYPES = new Set([
	'system',
	'assistant',
	'result',
	'thread.started',
	'turn.started',
	'item.completed',
	'step_start',
	'text',
]);

/** Events that say how it ended. */
const ENDS = new Set(['result', 'turn.completed', 'turn.failed']);

/** In a stream every line is a JSON object with a `type`, and some types are known; anything else is plain text. */
function streamEvents(reply: string): readonly Event[] | null {
	const lines = reply.split('\n').filter((line) => line.trim() !== '');
	const events: Event[] = [];
	for (const line of lines) {
		const event = parseEvent(line);
		if (event === null) return null;
		events.push(event);
	}
	return events.some((event) => STREAM_TYPES.has(String(event['type']))) ? events : null;
}

function parseEvent(line: string): Event | null {
	if (!line.startsWith('{')) return null;
	try {
		const value: unknown = JSON.parse(line);
		return isObject(value) && typeof value['type'] === 'string' ? value : null;
	} catch {
		return null;
	}
}

function spokenTexts(event: Event): readonly string[] {
	switch (event['type']) {
		case 'assistant':
			return messageTexts(event['message']);
		case 'item.completed':
			return isObject(event['item']) && event['item']['type'] === 'agent_message' ? texts(event['item']['text']) : [];
		case 'text':
			return isObject(event['part']) ? texts(event['part']['text']) : texts(event['text']);
		default:
			return [];
	}
}

function messageTexts(message: unknown): readonly string[] {
	if (!isObject(message) || !Array.isArray(message['content'])) return [];
	return message['content'].flatMap((part: unknown) =>
		isObject(part) && part['type'] === 'text' ? texts(part['text']) : [],
	);
}

function texts(value: unknown): readonly string[] {
	return typeof value === 'string' ? [value] : [];
}

function isObject(value: unknown): value is Event {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
