import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import type { Overlay, OverlayDefinition, Verdict } from '../../engine/contract.ts';
import { createOverlayHost } from '../../engine/hosts/overlay-host.ts';
import type { OverlayPlan } from '../../engine/plan/plan.ts';
import { overlayPlan } from '../builders.ts';
import { momentOf } from '../overlays/moment.ts';

const never = new AbortController().signal;
const pass: Verdict = { kind: 'pass' };

function definition(create: OverlayDefinition['create'], parts: Partial<OverlayDefinition> = {}): OverlayDefinition {
	return { name: 'gate', summary: '', hooks: ['after'], options: {}, create, ...parts };
}

function hostOf(
	one: OverlayDefinition | undefined,
	templates: { readonly [name: string]: string } = {},
	overlays: readonly OverlayPlan[] = [],
) {
	return createOverlayHost({ definitionOf: () => one, overlays, templates });
}

/** Consults an overlay that does this at `after`. */
function consult(after: NonNullable<Overlay['after']>, plan = overlayPlan('gate'), signal = never) {
	return hostOf(definition(() => ({ after }))).consult(plan, 'after', momentOf(), signal);
}

test('a well-formed verdict is passed on as plain data', async () => {
	const verdict = { kind: 'rework', feedback: 'no', record: { at: new Date(0) } } as unknown as Verdict;
	expect(await consult(() => verdict)).toEqual({
		ok: true,
		verdict: { kind: 'rework', feedback: 'no', record: { at: '1970-01-01T00:00:00.000Z' } },
	});
});

test('a verdict may come later', async () => {
	expect(await consult(async () => pass)).toEqual({ ok: true, verdict: pass });
});

test.each<[string, unknown]>([
	['its answer at after is not a verdict: it must be an object, not null', null],
	['its answer at after is not a verdict: it is a function, not an object', () => pass],
	['its answer at after is not a verdict: it returned nothing', undefined],
	['its answer at after is not a verdict: it lacks "kind"', {}],
	[
		'its answer at after is not a verdict: "kind" is "approve", but must be one of pass, rework, ask, fail',
		{ kind: 'approve' },
	],
	['its answer at after is not a verdict: it has the unknown member "approved"', { kind: 'pass', approved: true }],
	['its answer at after is not a verdict: it lacks "feedback"', { kind: 'rework' }],
	['its answer at after is not a verdict: it lacks "reason"', { kind: 'fail' }],
	['its answer at after is not a verdict: "questions" is empty', { kind: 'ask', questions: [] }],
	[
		'its answer at after is not a verdict: "questions/0" lacks "brief"',
		{ kind: 'ask', questions: [{ id: 'q', to: 'human' }] },
	],
	[
		'its answer at after is not a verdict: "questions/0/to" is "everyone", but must be human or agent:<name>',
		{ kind: 'ask', questions: [{ id: 'q', to: 'everyone', brief: { prompt: '' } }] },
	],
	[
		'its answer at after is not a verdict: "questions/0/id" is "a b", but must be an id: 1 to 64 letters, digits, ".", "_" and "-", a letter or digit first',
		{ kind: 'ask', questions: [{ id: 'a b', to: 'human', brief: { prompt: '' } }] },
	],
	[
		'its answer at after is not a verdict: "questions/0/choices" is only for questions to a person',
		{ kind: 'ask', questions: [{ id: 'q', to: 'agent:rev', brief: { prompt: '' }, choices: ['yes'] }] },
	],
	[
		'its answer at after is not a verdict: "questions/0/role" is only for questions to an agent',
		{ kind: 'ask', questions: [{ id: 'q', to: 'human', brief: { prompt: '' }, role: 'reviewer' }] },
	],
	['its answer at after is not a verdict: "feedback" is empty', { kind: 'rework', feedback: '' }],
	['its answer at after is not a verdict: "note" must be a text, not 1', { kind: 'pass', note: 1 }],
	['its answer at after is not a verdict: "record" must be an object, not a list', { kind: 'pass', record: [] }],
	[
		'its answer at after is not a verdict: it is no JSON: Do not know how to serialize a BigInt',
		{ kind: 'pass', record: { n: 1n } },
	],
	[
		'its answer at after is not a verdict: it is nested too deeply: more than 200 levels',
		{ kind: 'pass', record: nested(300) },
	],
	[
		'its answer at after is not a verdict: it is nested too deeply: more than 200 levels',
		{ kind: 'pass', record: nested(200_000) },
	],
	[
		'its answer at after is not a verdict: "amend/brief" has no effect at after; only "amend/output" has',
		{ kind: 'pass', amend: { brief: 'b' } },
	],
])('%s', async (reason, answer) => {
	expect(await consult(() => answer as Verdict)).toEqual({
		ok: false,
		code: 'OVERLAY_BAD_VERDICT',
		reason,
		transport: false,
	});
});

function nested(levels: number): unknown {
	let value: unknown = 1;
	for (let level = 0; level < levels; level++) value = { value };
	return value;
}

test('a throw is a breakdown that names the hook', async () => {
	const broken = { ok: false, code: 'OVERLAY_BROKE_DOWN', reason: 'it threw at after: boom', transport: false };
	const boom = (): never => {
		throw new Error('boom');
	};
	expect(await consult(boom)).toEqual(broken);
	expect(await consult(() => Promise.reject(new Error('boom')))).toEqual(broken);
	expect(await consult(() => Promise.reject('boom'))).toEqual(broken);
});

test('an overlay that cannot be created is a breakdown, and is tried anew the next time', async () => {
	let tries = 0;
	const host = hostOf(
		definition(() => {
			if (++tries === 1) throw new Error('not yet');
			return { after: () => pass };
		}),
	);
	const plan = overlayPlan('gate');
	expect(await host.consult(plan, 'after', momentOf(), never)).toMatchObject({
		ok: false,
		reason: 'it could not be created: not yet',
		transport: true,
	});
	expect(await host.consult(plan, 'after', momentOf(), never)).toEqual({ ok: true, verdict: pass });
});

test('an overlay is created once per entry of the plan, with that entry’s options', async () => {
	const seen: unknown[] = [];
	const host = hostOf(
		definition((options) => {
			seen.push(options);
			return { after: () => pass };
		}),
	);
	const [one, other] = [overlayPlan('gate', { options: { n: 1 } }), overlayPlan('gate', { options: { n: 2 } })];
	for (const plan of [one, one, other]) await host.consult(plan, 'after', momentOf(), never);
	expect(seen).toEqual([{ n: 1 }, { n: 2 }]);
});

test('a definition that is gone, or lacks the hook it declares, is a breakdown', async () => {
	const plan = overlayPlan('gate');
	expect(await hostOf(undefined).consult(plan, 'after', momentOf(), never)).toMatchObject({
		ok: false,
		reason: 'it could not be created: no definition of the overlay "gate" is loaded',
	});
	expect(await hostOf(definition(() => ({}))).consult(plan, 'after', momentOf(), never)).toMatchObject({
		ok: false,
		reason: 'it threw at after: it declares the hook after, but create() returned no function for it',
	});
});

test('an overlay that takes too long is told to stop, and its verdict no longer counts', async () => {
	let told = false;
	const slow = (_moment: unknown, { signal }: { readonly signal: AbortSignal }): Promise<Verdict> =>
		new Promise((resolve) => {
			signal.addEventListener('abort', () => {
				told = true;
				resolve(pass);
			});
		});
	expect(await consult(slow, overlayPlan('gate', { timeoutMs: 5 }))).toEqual({
		ok: false,
		code: 'OVERLAY_TIMEOUT',
		reason: 'no verdict at after within 5ms',
		transport: true,
	});
	expect(told).toBe(true);
});

test('a stopped run does not wait for an overlay', async () => {
	const stop = new AbortController();
	const consulted = consult(() => new Promise(() => {}), overlayPlan('gate'), stop.signal);
	stop.abort();
	expect(await consulted).toEqual({
		ok: false,
		code: 'AGENT_CANCELLED',
		reason: 'the run was stopped',
		transport: true,
	});
	expect(await consult(() => new Promise(() => {}), overlayPlan('gate'), stop.signal)).toMatchObject({
		code: 'AGENT_CANCELLED',
	});
});

test('consultations leave nothing behind on the run’s signal, which lives as long as the run', async () => {
	const { signal } = new AbortController();
	for (let i = 0; i < 30; i++) await consult(() => pass, overlayPlan('gate'), signal);
	expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('an overlay renders its own template, or the project’s in its place', async () => {
	const rendered: string[] = [];
	const one = definition(
		(_options, kit) => ({
			after() {
				rendered.push(kit.render('greeting', { name: 'ann' }));
				return pass;
			},
		}),
		{ templates: { greeting: 'Hello {{name}}' } },
	);
	await hostOf(one).consult(overlayPlan('gate'), 'after', momentOf(), never);
	await hostOf(one, { greeting: 'Moin {{name}}' }).consult(overlayPlan('gate'), 'after', momentOf(), never);
	expect(rendered).toEqual(['Hello ann', 'Moin ann']);
});

test('an overlay cannot render what it has no template for', async () => {
	const one = (templates?: { readonly [name: string]: string }): OverlayDefinition =>
		definition(
			(_options, kit) => ({ after: () => ({ kind: 'pass', note: kit.render('greeting', {}) }) }),
			templates === undefined ? {} : { templates },
		);
	const plan = (): OverlayPlan => overlayPlan('gate');
	expect(await hostOf(one({ other: '' })).consult(plan(), 'after', momentOf(), never)).toMatchObject({
		reason: 'it threw at after: the overlay "gate" has no template "greeting"',
	});
	expect(await hostOf(one(), { greeting: 'x' }).consult(plan(), 'after', momentOf(), never)).toMatchObject({
		reason: 'it threw at after: an overlay that renders must declare its templates',
	});
});

test('the host knows which overlays keep a log', () => {
	const log = { folder: 'logs', name: 'log', closing: () => ({}) };
	const host = hostOf(
		definition(() => ({}), { log }),
		{},
		[overlayPlan('gate')],
	);
	expect(host.logOf('gate')).toBe(log);
	expect(host.logOf('other')).toBeNull();
});
