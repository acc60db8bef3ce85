/** The standard moments: what any overlay must have an answer to. */
import type { Answer, Hook, Moment, Question } from '../contract.ts';

const AT = '2026-01-01T00:00:00.000Z';
const SHA = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae';

/** The moments at a hook, by a name for people. */
export function momentsAt(hook: Hook): { readonly [name: string]: Moment } {
	const ordinary = hook === 'before' ? untouched() : worked(hook);
	const always = { 'an ordinary one': ordinary, 'odd texts': odd(ordinary) };
	if (hook === 'before') return always;
	const check = { name: 'tests', kind: 'tests', required: true, ok: false, exit: 1, output: '1 failed', ms: 12 };
	return {
		...always,
		'nothing came of it': { ...ordinary, output: { text: '' }, artifacts: [], diff: '' },
		'a check failed': { ...ordinary, checks: [check, { ...check, name: 'lint', kind: 'lint', required: false }] },
		'a file that is not text': {
			...ordinary,
			artifacts: [{ path: 'logo.png', sha256: SHA, bytes: 3, content: null }],
		},
	};
}

function untouched(): Moment {
	return {
		run: '20260101-000000-abcdef',
		workflow: 'conformance',
		hook: 'before',
		at: AT,
		task: {
			id: 'implement',
			agent: 'dev',
			description: 'Implement the login flow',
			acceptanceCriteria: ['invalid passwords are refused'],
			inputs: ['docs/auth.md'],
			outputs: ['src/auth.ts'],
		},
		attempt: 1,
		worker: null,
		iteration: 1,
		brief: { prompt: 'Implement the login flow' },
		output: { text: '' },
		artifacts: [],
		diff: '',
		touched: [],
		checks: [],
		constitution: { Standards: 'Tests for every branch.' },
		history: [],
		answers: {},
		failure: null,
	};
}

function worked(hook: Hook): Moment {
	const isFailed = hook === 'failed';
	return {
		...untouched(),
		hook,
		worker: 'dev',
		output: { text: 'I wrote src/auth.ts.' },
		artifacts: isFailed ? [] : [{ path: 'src/auth.ts', sha256: SHA, bytes: 22, content: 'export const auth = 1;' }],
		diff: isFailed ? '' : '+export const auth = 1;',
		checks: isFailed ? [] : KINDS.map(passed),
		failure: isFailed ? { code: 'AGENT_EXIT', reason: 'dev exited with code 1' } : null,
	};
}

/** One of each, so that a gate has all the evidence that it may ask for. */
const KINDS = ['tests', 'acceptance', 'lint', 'coverage', 'security', 'operational'];

function passed(kind: string): Moment['checks'][number] {
	const output = kind === 'coverage' ? 'coverage: 100%' : 'ok';
	return { name: kind, kind, required: true, ok: true, exit: 0, output, ms: 12 };
}

/** What breaks readers of lines and of ASCII: separators that are no newline, astral characters, a long line, quotes. */
function odd(moment: Moment): Moment {
	const text = `\u2028\u2029\u0000\u001b[31m "quoted" \\ 😀 ${'é'.repeat(70_000)}\r\n\n`;
	return {
		...moment,
		task: { ...moment.task, description: text },
		output: { text },
		diff: text,
		constitution: { Ünïcode: text },
	};
}

/** How those who are asked behave. */
export const MOODS = ['agreeing', 'refusing', 'failing'] as const;
export type Mood = (typeof MOODS)[number];

/** An answer to a question by somebody in that mood; people do not fail, they refuse. */
export function answerTo(question: Question, mood: Mood): Answer {
	if (question.to === 'human') {
		const choices = question.choices ?? ['accept', 'reject'];
		const value = (mood === 'agreeing' ? choices[0] : choices.at(-1)) ?? 'accept';
		return { by: 'ann', value, at: AT, via: 'cli', item: 'hil-0123456789ab', notes: 'as discussed' };
	}
	const by = question.to.slice('agent:'.length);
	if (mood === 'failing')
		return { by, value: null, at: AT, failed: { code: 'AGENT_EXIT', reason: 'it exited with code 1' } };
	const reply = mood === 'agreeing' ? { decision: 'GO', feedback: 'fine' } : { decision: 'NO_GO', feedback: 'not yet' };
	return { by, value: JSON.stringify(reply), at: AT, promptSha256: SHA };
}
