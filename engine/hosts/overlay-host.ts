/** Consults overlays that live in this process: the built-ins and the project's TypeScript or JavaScript modules. */
import { setMaxListeners } from 'node:events';
import type { Hook, Moment, Overlay, OverlayDefinition, OverlayLog } from '../contract.ts';
import { formatDuration } from '../duration.ts';
import type { OverlayPlan } from '../plan/plan.ts';
import { checkedVerdict } from './checked-verdict.ts';
import type { Consulted, OverlayHost } from './host.ts';

/** What a host needs to know. */
export interface HostOptions {
	/** The definition behind a planned overlay. */
	definitionOf(overlay: OverlayPlan): OverlayDefinition | undefined;
	/** All planned overlays. */
	readonly overlays: Iterable<OverlayPlan>;
	/** The project's own texts of prompt templates, by name. */
	readonly templates: { readonly [name: string]: string };
}

/** Makes the host. An overlay is created once per distinct plan entry. */
export function createOverlayHost(options: HostOptions): OverlayHost {
	const living = new WeakMap<OverlayPlan, Overlay>();
	const logs = new Map<string, OverlayLog>();
	for (const overlay of options.overlays) {
		const log = options.definitionOf(overlay)?.log;
		if (log !== undefined) logs.set(overlay.name, log);
	}
	return {
		logOf: (name) => logs.get(name) ?? null,
		async consult(plan, hook, moment, signal) {
			let overlay = living.get(plan);
			if (overlay === undefined) {
				try {
					overlay = await create(options, plan);
				} catch (error) {
					return brokeDown('it could not be created', error, true);
				}
				living.set(plan, overlay);
			}
			try {
				return await call(overlay, plan, hook, moment, signal);
			} catch (error) {
				return brokeDown(`it threw at ${hook}`, error, false);
			}
		},
	};
}

async function create(options: HostOptions, plan: OverlayPlan): Promise<Overlay> {
	const definition = options.definitionOf(plan);
	if (definition === undefined) throw new Error(`no definition of the overlay "${plan.name}" is loaded`);
	// Handlebars is loaded here, and only for overlays that come with templates, as rendering itself is not async.
	const texts = { ...definition.templates, ...options.templates };
	const { renderTemplate } = definition.templates === undefined ? NO_TEMPLATES : await import('../brief/render.ts');
	return definition.create(plan.options, {
		render(template, data) {
			const text = texts[template];
			if (text === undefined) throw new Error(`the overlay "${plan.name}" has no template "${template}"`);
			return renderTemplate(template, text, data);
		},
	});
}

const NO_TEMPLATES = {
	renderTemplate(): string {
		throw new Error('an overlay that renders must declare its templates');
	},
};

async function call(
	overlay: Overlay,
	plan: OverlayPlan,
	hook: Hook,
	moment: Moment,
	signal: AbortSignal,
): Promise<Consulted> {
	const judge = overlay[hook];
	if (judge === undefined) throw new Error(`it declares the hook ${hook}, but create() returned no function for it`);
	const within = new AbortController();
	let timer: NodeJS.Timeout | undefined;
	let cancel = (): void => {};
	const late = new Promise<Consulted>((resolve) => {
		timer = setTimeout(() => {
			within.abort();
			const reason = `no verdict at ${hook} within ${formatDuration(plan.timeoutMs)}`;
			resolve({ ok: false, code: 'OVERLAY_TIMEOUT', reason, transport: true });
		}, plan.timeoutMs);
	});
	const stopped = new Promise<Consulted>((resolve) => {
		cancel = () => {
			within.abort();
			resolve({ ok: false, code: 'AGENT_CANCELLED', reason: 'the run was stopped', transport: true });
		};
		if (signal.aborted) cancel();
		// One signal serves all the calls of a run: node would take so many listeners for a leak.
		setMaxListeners(0, signal);
		signal.addEventListener('abort', cancel);
	});
	try {
		const verdict = Promise.resolve(judge(moment, { signal: within.signal })).then((value) =>
			checkedVerdict(hook, value),
		);
		return await Promise.race([verdict, late, stopped]);
	} finally {
		clearTimeout(timer);
		// The signal lives as long as the run: whoever is through with it must let go.
		signal.removeEventListener('abort', cancel);
	}
}

/** A judge that cannot be reached is a matter of transport; one that throws while it judges has judged badly. */
function brokeDown(what: string, error: unknown, transport: boolean): Consulted {
	const message = error instanceof Error ? error.message : String(error);
	return { ok: false, code: 'OVERLAY_BROKE_DOWN', reason: `${what}: ${message}`, transport };
}
