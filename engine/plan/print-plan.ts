/** Shows a plan to people: as text, and as a Mermaid drawing. */
import { escaped } from '../diagnostic.ts';
import { formatDuration } from '../duration.ts';
import type { Json } from '../json.ts';
import { useText } from '../overlay-use.ts';
import type { AgentPlan, CheckPlan, OverlayPlan, Plan, RetryPlan, TaskPlan } from './plan.ts';

/** The plan as text: agents, then tasks in order with what limits and judges each. */
export function printPlan(plan: Plan, options: { readonly maxParallel: number }): string {
	const head = `Workflow ${plan.workflow} (${plan.file}): ${count(plan.tasks.length, 'task')}, at most ${options.maxParallel} at once`;
	const width = Math.max(0, ...plan.agents.map((agent) => agent.name.length));
	const templates = Object.keys(plan.templates);
	const lines = [
		head,
		...(templates.length > 0 ? [`Prompt templates replaced: ${templates.join(', ')}`] : []),
		'',
		'Agents',
		...plan.agents.map((agent) => `  ${agent.name.padEnd(width)}  ${agentText(agent)}`),
		'',
		'Tasks, in the order in which they become possible',
		...plan.tasks.flatMap((task, index) => taskLines(task, index + 1)),
	];
	return lines.map(escaped).join('\n');
}

/** The plan's graph as a Mermaid flowchart. */
export function planMermaid(plan: Plan): string {
	const names = new Map(plan.tasks.map((task, index) => [task.id, `t${index + 1}`]));
	const boxes = plan.tasks.map((task) => `  ${names.get(task.id)}["${task.id}<br/>${mermaidText(boxNote(task))}"]`);
	const arrows = plan.tasks.flatMap((task) =>
		task.dependsOn.map((upstream) => `  ${names.get(upstream)} --> ${names.get(task.id)}`),
	);
	return ['flowchart TD', ...boxes, ...arrows].join('\n');
}

function agentText(agent: AgentPlan): string {
	const facts = [
		agent.adapter,
		...(agent.model === null ? [] : [`model ${agent.model}`]),
		...(agent.readOnly ? ['read only'] : []),
		...(agent.timeoutMs === null ? [] : [`timeout ${formatDuration(agent.timeoutMs)}`]),
		...(agent.persona === null ? [] : ['with a persona']),
		...(agent.env.length === 0 ? [] : [`environment ${agent.env.join(' ')}`]),
	];
	return agent.run === null ? facts.join(', ') : `${facts.join(', ')}: ${commandText(agent.run)}`;
}

function taskLines(task: TaskPlan, place: number): readonly string[] {
	const body = [
		...(task.dependsOn.length > 0 ? [`after ${task.dependsOn.join(', ')}`] : []),
		...(task.when === null ? [] : [`only when ${task.when.source}`]),
		limitsText(task),
		...(task.inputs.length > 0 ? [`reads ${task.inputs.join(', ')}`] : []),
		...(task.outputs.length > 0 ? [`writes ${task.outputs.join(', ')}`] : []),
		...task.checks.map(checkText),
		...judgeLines(task.overlays),
	];
	return [`  ${place}. ${task.id}: ${firstLine(task.description)}`, ...body.map((line) => `     ${line}`)];
}

function limitsText(task: TaskPlan): string {
	const limits = `agent ${task.agent}, timeout ${formatDuration(task.timeoutMs)}, at most ${count(task.maxAttempts, 'attempt')}`;
	return task.retry.times === 0 ? limits : `${limits}, ${retryText(task.retry)}`;
}

function retryText({ times, backoffMs, factor, maxBackoffMs }: RetryPlan): string {
	const many = times === 1 ? '1 retry' : `${times} retries`;
	const grows =
		times > 1 && factor !== 1 ? `, each wait ${factor} times the last, up to ${formatDuration(maxBackoffMs)}` : '';
	return `${many} after a crash (wait ${formatDuration(backoffMs)}${grows})`;
}

function checkText(check: CheckPlan): string {
	const need = check.required ? 'required' : 'advisory';
	return `check ${check.name} (${check.kind}, ${need}, timeout ${formatDuration(check.timeoutMs)}): ${commandText(check.run)}`;
}

function judgeLines(overlays: readonly OverlayPlan[]): readonly string[] {
	if (overlays.length === 0) return ['judged by nobody'];
	return overlays.map((overlay, index) => `judge ${index + 1}: ${overlayText(overlay)}`);
}

function overlayText(overlay: OverlayPlan): string {
	const from = overlay.use === null ? '' : ` from ${useText(overlay.use)}`;
	const options = Object.entries(overlay.options).map(([name, value]) => `${name} ${valueText(value ?? null)}`);
	const limits = [`timeout ${formatDuration(overlay.timeoutMs)}`, `on error ${overlay.onError}`];
	return `${overlay.name}${from} (${overlay.hooks.join(', ')}); ${[...options, ...limits].join(', ')}`;
}

function valueText(value: Json): string {
	return typeof value === 'string' && /^[\w./-]+$/.test(value) ? value : JSON.stringify(value);
}

function commandText(run: readonly string[] | string): string {
	return typeof run === 'string'
		? run
		: run.map((part) => (/^[\w./:=@%+,-]+$/.test(part) ? part : JSON.stringify(part))).join(' ');
}

function firstLine(text: string): string {
	const [first = '', ...more] = text.trim().split('\n');
	return more.length > 0 || first.length > 100 ? `${first.slice(0, 100)} …` : first;
}

function count(n: number, noun: string): string {
	return n === 1 ? `1 ${noun}` : `${n} ${noun}s`;
}

function boxNote(task: TaskPlan): string {
	return [task.agent, ...task.overlays.map((overlay) => overlay.name)].join(' · ');
}

/** Quotes, brackets and the like would end a label or start markup. */
function mermaidText(text: string): string {
	return escaped(text).replaceAll(/["#<>&[\]{}|;]/g, (character) => `#${character.charCodeAt(0)};`);
}
