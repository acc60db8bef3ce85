/** Breaks down, or answers nonsense, as its options say. */
export default {
	name: 'broken',
	summary: 'Never says anything sensible.',
	hooks: ['after'],
	options: { type: 'object', properties: { how: { enum: ['throws', 'hangs', 'nonsense'] } } },
	create: ({ how }) => ({
		after() {
			if (how === 'throws') throw new Error('out of order');
			return how === 'hangs' ? new Promise(() => {}) : { kind: 'approved' };
		},
	}),
};
