/** Checks the overlays of every task: that they exist, have what they need, and get along with each other. */
import type { OptionProblem } from '../contract.ts';
import { quote } from '../diagnostic.ts';
import { didYouMean } from '../suggest.ts';
import { unknownAgent } from './check-agents.ts';
import { type MergedOverlay, placeOf } from './merge-overlays.ts';
import { attachmentOf, placeOfOption, placeOfValue, type ResolvedOverlay, type ResolvedTask } from './resolve-tasks.ts';
import { type Complaint, errorAt, type Place, type Problem, warningAt } from './source.ts';
import { isWritten, type Workflow } from './workflow.ts';

const COMMON = new Set(['enabled', 'use', 'timeout', 'on_error', 'options']);

/** Notes what is wrong with any overlay of any task. */
export async function checkOverlays(
	workflow: Workflow,
	tasks: readonly ResolvedTask[],
	surroundings: {
		readonly definitions: readonly { readonly name: string }[];
		readonly findings: { readonly problems: Problem[] };
	},
): Promise<void> {
	const known = surroundings.definitions.map((definition) => definition.name);
	const { problems } = surroundings.findings;
	for (const task of tasks) {
		const note: Note = (place, complaint, { isWarning = false, ...about } = {}) =>
			problems.push({ ...(isWarning ? warningAt : errorAt)(place, complaint), ...about });
		for (const overlay of task.overlays) {
			checkName(overlay, known, note);
			if (overlay.enabled && overlay.definition !== null) await checkAttached(overlay, task, workflow, note);
		}
		checkConflicts(task, note);
	}
}

type Note = (
	place: Place,
	complaint: Complaint,
	about?: { readonly task?: string; readonly isWarning?: boolean },
) => void;

function checkName({ merged, use, definition }: ResolvedOverlay, known: readonly string[], note: Note): void {
	const name = quote(merged.name);
	// A `use` that was too wrong to keep has been told already.
	if (use === null && definition === null && !isWrittenAnywhere(merged, 'use')) {
		const meant = didYouMean(merged.name, known);
		const remedy = `name its module with \`use:\`; the built-in overlays are ${known.join(', ')}`;
		const guess = meant === undefined ? remedy : `did you mean "${meant}"?`;
		note(placeOf(merged, []), { code: 'OVERLAY_UNKNOWN', message: `there is no overlay ${name}`, remedy: guess });
	}
	if (use === null) return;
	for (const key of Object.keys(merged.entry).filter((one) => !COMMON.has(one))) {
		const message = `unknown key ${quote(key)} in overlay ${name}`;
		const remedy = "put an overlay's own options below `options:`";
		note({ ...placeOf(merged, [key]), on: 'key' }, { code: 'OVERLAY_OPTION', message, remedy });
	}
}

/** What only the overlay itself knows; asked only once its options have the shape it expects. */
async function checkAttached(
	overlay: ResolvedOverlay,
	task: ResolvedTask,
	workflow: Workflow,
	note: Note,
): Promise<void> {
	const misshapen = overlay.use === null ? missingOptions(overlay) : await wrongOptions(overlay);
	for (const { path, ...problem } of misshapen) note(placeOfOption(overlay, path), problem);
	// One that lacks what was too wrong to keep would only stumble over that.
	if (misshapen.length > 0 || lackingOptions(overlay).length > 0) return;
	try {
		askOverlay(overlay, task, workflow, note);
	} catch (error) {
		const message = `overlay ${quote(overlay.merged.name)} broke down while it was checked: ${String(error)}`;
		note(placeOf(overlay.merged, []), { code: 'OVERLAY_MODULE', message, remedy: 'correct its definition' });
	}
}

function askOverlay(overlay: ResolvedOverlay, task: ResolvedTask, workflow: Workflow, note: Note): void {
	const { definition, options, merged } = overlay;
	if (definition!.hooks.every((hook) => hook === 'checkpoint'))
		note(placeOf(merged, []), neverConsulted(merged.name), { isWarning: true });
	const attachment = attachmentOf(task, overlay);
	definition!.worker?.(options);
	for (const problem of definition!.problems?.(attachment) ?? []) {
		const place = placeOfOption(overlay, problem.path);
		const about = place.pointer[0] === 'tasks' ? {} : { task: task.id };
		note(place, said(problem), { ...about, isWarning: problem.isWarning ?? false });
	}
	for (const path of definition!.watches?.(options) ?? []) {
		const fault = faultOfWatched(path);
		if (fault === null) continue;
		const message = `overlay ${quote(merged.name)} watches ${quote(path)}, which is ${fault}`;
		note(placeOfValue(overlay, path), {
			code: 'OVERLAY_OPTION',
			message,
			remedy: 'name a file or folder of the project',
		});
	}
	for (const name of definition!.agents?.(attachment) ?? []) {
		const complaint = unknownAgent(name, `overlay ${quote(merged.name)} of task ${quote(task.id)}`, workflow);
		if (complaint !== undefined) note(placeOfValue(overlay, name), complaint);
	}
}

function neverConsulted(name: string): Complaint {
	return {
		code: 'OVERLAY_MODULE',
		message: `overlay ${quote(name)} never judges: its only hook is checkpoint, and no task has one in this version`,
		remedy: 'give it a hook that is called: before, after or failed',
	};
}

function faultOfWatched(path: string): string | null {
	const parts = path.split('/');
	if (path.startsWith('/') || parts.includes('..')) return 'no path inside the project';
	// This very command writes there all the time, and so does git: no approval would hold.
	return parts.every((part) => part === '' || part === '.') ? 'the whole project' : null;
}

function said({ message, remedy }: OptionProblem): Complaint {
	return { code: 'OVERLAY_OPTION', message, remedy };
}

type WrongOption = Complaint & { readonly path: readonly string[] };

/** A built-in's options have their shape already, but defaults and task may both have left one out. */
function missingOptions(overlay: ResolvedOverlay): readonly WrongOption[] {
	const { merged } = overlay;
	return lackingOptions(overlay)
		.filter((key) => !isWrittenAnywhere(merged, key))
		.map((key) => ({
			path: [],
			code: 'OVERLAY_OPTION',
			message: `overlay ${quote(merged.name)} needs ${quote(key)}`,
			remedy: `add \`${key}:\` beside \`enabled\`, or to the overlay's defaults`,
		}));
}

function lackingOptions({ definition, options }: ResolvedOverlay): readonly string[] {
	const { required = [] } = definition!.options as { readonly required?: readonly string[] };
	return required.filter((key) => !Object.hasOwn(options, key));
}

/** An option that was too wrong to keep has been told already. */
function isWrittenAnywhere({ layers, name }: MergedOverlay, key: string): boolean {
	return layers.some((layer) => isWritten(layer.source, [...layer.pointer, name, key]));
}

async function wrongOptions({ definition, options, merged }: ResolvedOverlay): Promise<readonly WrongOption[]> {
	const { validateOptions } = await import('./validate-options.ts');
	return validateOptions(definition!, options).map(({ path, message, remedy }) => ({
		path,
		code: 'OVERLAY_OPTION',
		message: `overlay ${quote(merged.name)}: ${message}`,
		remedy,
	}));
}

function checkConflicts(task: ResolvedTask, note: Note): void {
	const enabled = task.overlays.filter((overlay) => overlay.enabled);
	if (enabled.length < 2) return;
	for (const [index, overlay] of enabled.entries()) {
		for (const other of enabled.slice(index + 1)) {
			if (exclude(overlay, other)) note(placeOf(other.merged, []), conflict(overlay, other, task.id));
			else if (shareLog(overlay, other)) note(placeOf(other.merged, []), oneLog(overlay, other, task.id));
		}
	}
}

function exclude(a: ResolvedOverlay, b: ResolvedOverlay): boolean {
	const names = (one: ResolvedOverlay, other: ResolvedOverlay) =>
		one.definition?.conflictsWith?.includes(other.merged.name) ?? false;
	return names(a, b) || names(b, a);
}

function conflict(a: ResolvedOverlay, b: ResolvedOverlay, task: string): Complaint {
	const [one, other] = [a, b].map((overlay) => quote(overlay.merged.name));
	return {
		code: 'OVERLAY_CONFLICT',
		message: `overlays ${one} and ${other} exclude each other on task ${quote(task)}`,
		remedy: 'disable one of them here',
	};
}

/** Each would replace what the other has written, and an audit take that for an edit. */
function shareLog(a: ResolvedOverlay, b: ResolvedOverlay): boolean {
	const folder = a.definition?.log?.folder;
	return folder !== undefined && folder === b.definition?.log?.folder;
}

function oneLog(a: ResolvedOverlay, b: ResolvedOverlay, task: string): Complaint {
	const [one, other] = [a, b].map((overlay) => quote(overlay.merged.name));
	return {
		code: 'OVERLAY_CONFLICT',
		message: `overlays ${one} and ${other} would both keep the log ${a.definition?.log?.folder}/${task}.json`,
		remedy: 'name another folder in the `log` of one of them, or disable one of them here',
	};
}
