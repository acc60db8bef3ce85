/** Builders for tests of overlays: a moment with everything ordinary, and a kit that renders for real. */
import { renderTemplate } from '../../engine/brief/render.ts';
import type { Answer, CheckResult, Moment, OverlayKit, Past } from '../../engine/contract.ts';
import { builtinOverlays } from '../../overlays/index.ts';

export const AT = '2026-02-27T11:30:00.000Z';

/** A moment after the first attempt at a task with one artifact. */
export function momentOf(parts: Partial<Moment> = {}): Moment {
	return {
		run: 'run-1',
		workflow: 'auth',
		hook: 'after',
		at: AT,
		task: {
			id: 'implement',
			agent: 'dev',
			description: 'Implement the login flow',
			acceptanceCriteria: ['invalid passwords are refused'],
			inputs: [],
			outputs: ['src/auth.ts'],
		},
		attempt: 1,
		worker: 'dev',
		iteration: 1,
		brief: { prompt: 'Implement the login flow' },
		output: { text: 'I wrote it.' },
		artifacts: [{ path: 'src/auth.ts', sha256: 'a1', bytes: 20, content: 'export const auth = 1;' }],
		touched: [],
		diff: '+export const auth = 1;',
		checks: [],
		constitution: { Purpose: 'PURPOSE-TEXT', Rules: 'RULES-TEXT', Standards: 'STANDARDS-TEXT' },
		history: [],
		answers: {},
		failure: null,
		...parts,
	};
}

/** What an agent replied. */
export function replied(value: string, parts: Partial<Answer> = {}): Answer {
	return { by: 'reviewer', value, at: AT, promptSha256: 'p1', ...parts };
}

/** What a person chose. */
export function chose(choice: string, notes?: string): Answer {
	return { by: 'ann', value: choice, at: AT, via: 'cli', item: 'hil-1', ...(notes === undefined ? {} : { notes }) };
}

/** A check that ran. */
export function checkOf(parts: Partial<CheckResult> = {}): CheckResult {
	return { name: 'tests', kind: 'tests', required: true, ok: true, exit: 0, output: '', ms: 5, ...parts };
}

/** A NO_GO of an earlier attempt, as the overlay's past shows it. */
export function earlier(iteration: number, feedback: string): Past {
	const record = { iteration, decision: 'NO_GO', feedback };
	return { hook: 'after', attempt: iteration, verdict: 'rework', text: feedback, record };
}

const TEMPLATES: { readonly [name: string]: string } = Object.assign(
	{},
	...builtinOverlays.map(({ templates }) => templates ?? {}),
);

export const kit: OverlayKit = {
	render: (name, data) => renderTemplate(name, TEMPLATES[name] ?? '', data),
};
