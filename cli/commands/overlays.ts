/** `sdd overlays list | describe`: which overlays there are, and what each takes. */
import type { OverlayDefinition } from '../../engine/contract.ts';
import { EXIT, SddError } from '../../engine/errors.ts';
import type { JsonObject } from '../../engine/json.ts';
import { useText } from '../../engine/overlay-use.ts';
import { printable, printableLine } from '../../engine/printable.ts';
import { builtinOverlays } from '../../overlays/index.ts';
import type { Arguments } from '../arguments.ts';
import { BUILT_IN, type FoundOverlay, findOverlay, ownOverlays } from '../find-overlay.ts';
import { type LoadedOverlay, loadOverlay } from '../hosts.ts';
import { optionRows } from '../option-rows.ts';
import { asJson, type Terminal, table } from '../terminal.ts';

export async function overlaysList(terminal: Terminal, args: Arguments): Promise<number> {
	const found = await allOverlays(terminal);
	const good = found.flatMap(({ where, loaded }) => ('error' in loaded ? [] : [{ where, ...shortFacts(loaded) }]));
	const bad = found.flatMap(({ where, loaded }) => ('error' in loaded ? [{ where, ...loaded }] : []));
	if (args.has('json')) terminal.out(asJson({ overlays: good, broken: bad }));
	else {
		const rows = good.map(({ name, where, hooks, order, summary }) => [
			printableLine(name, 64),
			where,
			hooks.join(', '),
			String(order),
			printableLine(summary, 100),
		]);
		terminal.out(table([['name', 'where', 'hooks', 'order', 'summary'], ...rows]));
		for (const { where, error, remedy } of bad)
			terminal.err(`${where}: ${printable(error)}\n${remedy === undefined ? '' : `  remedy: ${printable(remedy)}\n`}`);
	}
	return bad.length > 0 ? EXIT.failed : EXIT.done;
}

interface Listed {
	readonly where: string;
	readonly loaded: LoadedOverlay;
}

async function allOverlays(terminal: Terminal): Promise<readonly Listed[]> {
	const project = terminal.project();
	const builtins = builtinOverlays.map((loaded) => ({ where: BUILT_IN, loaded }));
	const own: Listed[] = [];
	for (const use of ownOverlays(project)) own.push({ where: use, loaded: await loadForList(terminal, project, use) });
	const ordered = [...builtins].sort((a, b) => orderOf(a.loaded) - orderOf(b.loaded));
	return [...ordered, ...own];
}

/** One that may not be started is no reason to hide the others. */
async function loadForList(terminal: Terminal, project: string, use: string): Promise<LoadedOverlay> {
	try {
		return await loadOverlay(terminal, project, use);
	} catch (error) {
		if (!(error instanceof SddError)) throw error;
		return { error: error.message, remedy: error.remedy };
	}
}

function shortFacts(definition: OverlayDefinition) {
	const { name, hooks, summary } = definition;
	return { name, hooks, order: orderOf(definition), summary };
}

/** Where an overlay judges that does not say. */
const USUAL_ORDER = 50;

function orderOf({ order }: OverlayDefinition): number {
	return order ?? USUAL_ORDER;
}

export async function overlaysDescribe(terminal: Terminal, args: Arguments): Promise<number> {
	const found = findOverlay(terminal, args.positionals);
	const facts = factsOf(await definitionOf(terminal, found), whereIs(found));
	terminal.out(args.has('json') ? asJson(facts) : describeText(facts));
	return EXIT.done;
}

/** How messages name the place of an overlay. */
export function whereIs(found: FoundOverlay): string {
	return found.kind === 'builtin' ? BUILT_IN : useText(found.use);
}

async function definitionOf(terminal: Terminal, found: FoundOverlay): Promise<OverlayDefinition> {
	if (found.kind === 'builtin') return found.definition;
	const loaded = await loadOverlay(terminal, terminal.project(), found.use);
	if (!('error' in loaded)) return loaded;
	const remedy = loaded.remedy ?? 'try it with `sdd overlays test`';
	throw new SddError('OVERLAY_MODULE', `${useText(found.use)}: ${loaded.error}`, remedy);
}

interface Facts {
	readonly name: string;
	readonly where: string;
	readonly version: string | null;
	readonly summary: string;
	readonly hooks: readonly string[];
	readonly order: number;
	readonly conflicts_with: readonly string[];
	readonly templates: readonly string[];
	/** The folder of its log below `.ai-sdd/state/`. */
	readonly log: string | null;
	readonly options: JsonObject;
}

function factsOf(definition: OverlayDefinition, where: string): Facts {
	const { version, conflictsWith, templates, log, options } = definition;
	return {
		...shortFacts(definition),
		where,
		version: version ?? null,
		conflicts_with: conflictsWith ?? [],
		templates: Object.keys(templates ?? {}),
		log: log?.folder ?? null,
		options,
	};
}

function describeText(facts: Facts): string {
	const { name, where, version, summary, hooks, order, conflicts_with: conflicts, templates, log } = facts;
	const lines = [
		['hooks', hooks.join(', ')],
		['order', String(order)],
		...(version === null ? [] : [['version', version]]),
		...(conflicts.length === 0 ? [] : [['conflicts with', conflicts.join(', ')]]),
		...templates.map((template) => ['template', `${template} (replaced by .ai-sdd/prompts/${template}.hbs)`]),
		...(log === null ? [] : [['log', `.ai-sdd/state/${log}/<task>.json`]]),
	];
	const options = optionRows(facts.options);
	const head = [['option', 'type', 'needed', 'default', 'meaning'], ...options];
	return printable(
		[
			`${name} (${where})${summary === '' ? '' : `\n${summary}`}\n`,
			table(lines),
			options.length > 0 ? table(head) : isOpen(facts.options) ? NOT_SAID : 'It takes no options.\n',
		].join('\n'),
	);
}

const NOT_SAID = 'It does not say which options it takes: any are handed on.\n';

/** Whether options that a schema does not name are let through. */
function isOpen({ additionalProperties }: JsonObject): boolean {
	return additionalProperties !== false;
}
