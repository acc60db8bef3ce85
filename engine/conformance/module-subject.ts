/** An overlay that lives in this process, under test: a built-in, or a TypeScript or JavaScript module. */
import { HOOKS, type Hook, type Moment, type Overlay, type OverlayDefinition } from '../contract.ts';
import { formatDuration } from '../duration.ts';
import { createOverlayHost } from '../hosts/overlay-host.ts';
import type { JsonObject } from '../json.ts';
import type { OverlayPlan } from '../plan/plan.ts';
import { within } from '../within.ts';
import type { Limits, Speaker, Subject } from './speaker.ts';

/** Puts a definition to the test. */
export function moduleSubject(definition: OverlayDefinition, limits: Limits): Subject {
	const stdout = watchStdout();
	return {
		place: 'module',
		open: async () => ({ ok: true, speaker: speakerOf(definition, limits) }),
		trials: {},
		stray: stdout.printed,
		close: async () => stdout.restore(),
	};
}

function speakerOf(definition: OverlayDefinition, { callMs, graceMs }: Limits): Speaker {
	const { name, hooks, options: schema } = definition;
	const seen: Seen = { overlay: null, last: Promise.resolve() };
	const host = createOverlayHost({ definitionOf: () => observed(definition, seen), overlays: [], templates: {} });
	const consult = (hook: Hook, moment: Moment, options: JsonObject, signal: AbortSignal) => {
		const plan: OverlayPlan = { name, use: null, hooks, options, order: 50, timeoutMs: callMs, onError: 'fail' };
		return host.consult(plan, hook, frozen(moment), signal);
	};
	const never = new AbortController().signal;
	return {
		about: { name, hooks, options: schema },
		consult: (hook, moment, options) => consult(hook, moment, options, never),
		async cancel(hook, moment, options) {
			const stop = new AbortController();
			const call = consult(hook, moment, options, stop.signal);
			setImmediate(() => stop.abort());
			await call;
			if (await within(seen.last, graceMs)) return null;
			const words = `at ${hook}: it was still at work ${formatDuration(graceMs)} after the signal that it is given was aborted`;
			return { check: 'cancellation', words };
		},
		async overreach(moment, options) {
			// The overlay must have been created to see what it offers; what it says to this moment is looked at elsewhere.
			await consult(hooks[0] ?? 'after', moment, options, never);
			const extra = HOOKS.find((hook) => seen.overlay?.[hook] !== undefined && !hooks.includes(hook));
			if (extra === undefined) return null;
			return `create() returns a function for "${extra}", which "hooks" does not declare: it would never be called`;
		},
		close: async () => {},
	};
}

interface Seen {
	overlay: Overlay | null;
	/** Settles when the last call's function has ended, whoever still waits for it. */
	last: Promise<unknown>;
}

function observed(definition: OverlayDefinition, seen: Seen): OverlayDefinition {
	return {
		...definition,
		create(options, kit) {
			const overlay = definition.create(options, kit);
			seen.overlay = overlay;
			const hooks = HOOKS.flatMap((hook) => {
				const judge = overlay[hook];
				if (judge === undefined) return [];
				const watched: typeof judge = (moment, call) => {
					const verdict = Promise.resolve(judge(moment, call));
					seen.last = verdict.catch(() => {});
					return verdict;
				};
				return [[hook, watched] as const];
			});
			return Object.fromEntries(hooks);
		},
	};
}

/** As in a run: an overlay cannot change what the next one sees. */
function frozen<Value>(value: Value): Value {
	if (typeof value !== 'object' || value === null) return value;
	for (const member of Object.values(value)) frozen(member);
	return Object.freeze(value);
}

/** Takes what is printed meanwhile, as `sdd run --json` has nothing but events on stdout. */
function watchStdout(): { printed(): string | null; restore(): void } {
	const { stdout } = process;
	const usual = stdout.write;
	let text: string | null = null;
	stdout.write = (chunk: string | Uint8Array): boolean => {
		text ??= String(chunk).trim().slice(0, 200);
		return true;
	};
	return {
		printed: () => (text === null ? null : `it wrote to stdout: ${JSON.stringify(text)}; console.error goes to stderr`),
		restore() {
			stdout.write = usual;
		},
	};
}
