import { defineOverlay, type Verdict } from 'ai-sdd';

interface Options {
	readonly word: string;
}

export default defineOverlay<Options>({
	name: 'forbidden_word',
	summary: 'Sends work back that says a word.',
	hooks: ['before', 'after'],
	options: {
		type: 'object',
		additionalProperties: false,
		required: ['word'],
		properties: { word: { type: 'string' } },
	},
	create: ({ word }) => ({
		before: (): Verdict => ({ kind: 'pass', amend: { brief: `Never write "${word}".` } }),
		after({ artifacts }): Verdict {
			const found = artifacts.find(({ content }) => content?.includes(word));
			if (found === undefined) return { kind: 'pass', note: 'clean' };
			return { kind: 'rework', feedback: `${found.path} says "${word}"` };
		},
	}),
});
