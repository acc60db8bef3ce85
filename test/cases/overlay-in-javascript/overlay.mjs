/** Asks another agent; a person decides when it objects. */
export default {
	name: 'second_opinion',
	summary: 'Asks another agent for its opinion.',
	hooks: ['after'],
	options: {
		type: 'object',
		additionalProperties: false,
		required: ['agent'],
		properties: { agent: { type: 'string' } },
	},
	agents: ({ options }) => [options.agent],
	create: ({ agent }) => ({
		after({ answers: { opinion, settle } }) {
			if (opinion === undefined) {
				return { kind: 'ask', questions: [{ id: 'opinion', to: `agent:${agent}`, brief: { prompt: 'What do you think?' } }] };
			}
			if (opinion.value.trim() === 'fine') return { kind: 'pass' };
			if (settle === undefined) {
				const prompt = `It was said: ${opinion.value.trim()}`;
				return { kind: 'ask', questions: [{ id: 'settle', to: 'human', brief: { prompt }, choices: ['ship', 'stop'] }] };
			}
			return settle.value === 'ship' ? { kind: 'pass' } : { kind: 'fail', reason: `stopped by ${settle.by}` };
		},
	}),
};
