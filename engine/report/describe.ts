/** What an event says to a person, in one line; null for those that say nothing new. */
import type { ReportedEvent } from '../events.ts';
import { printableLine, printableReason } from '../printable.ts';

/** A line and how it should look. */
export interface Line {
	/** The task it is about; null for the run itself. */
	readonly task: string | null;
	readonly tone: 'plain' | 'good' | 'bad' | 'warn' | 'dim';
	readonly text: string;
}

/** The line of an event. */
export function describe(event: ReportedEvent): Line | null {
	switch (event.kind) {
		case 'run_started':
			return { task: null, tone: 'dim', text: `run ${event.run} of ${event.workflow}` };
		case 'run_resumed':
			return { task: null, tone: 'dim', text: 'going on where the run was' };
		case 'run_paused':
			return null;
		case 'run_finished':
			return null;
		case 'warning':
			return { task: event.task ?? null, tone: 'warn', text: `warning: ${why(event.message)} [${event.code}]` };
		default:
			return ofTask(event);
	}
}

type TaskEvent = Exclude<
	ReportedEvent,
	{ kind: 'run_started' | 'run_resumed' | 'run_paused' | 'run_finished' | 'warning' }
>;

function ofTask(event: TaskEvent): Line | null {
	const line = (tone: Line['tone'], text: string): Line => ({ task: event.task, tone, text: short(text, WHOLE_LINE) });
	switch (event.kind) {
		case 'task_started':
			return null;
		case 'task_skipped':
			return line('warn', `skipped: ${short(event.reason)}`);
		case 'task_completed':
			return line('good', 'done');
		case 'task_failed':
			return line('bad', `failed: ${why(event.reason)} [${event.code}]`);
		case 'task_reopened':
			return line('dim', 'gone on with: an overlay that broke down is asked again');
		case 'task_cancelled':
			return line('warn', `cancelled: ${short(event.reason)}`);
		case 'attempt_started':
			return line('plain', `attempt ${event.attempt}: ${workerOf(event)}`);
		case 'attempt_finished':
			return event.agent === null ? null : line('dim', `attempt ${event.attempt}: finished in ${seconds(event.ms)}`);
		case 'attempt_failed':
			return line('bad', `attempt ${event.attempt}: ${why(event.reason)} [${event.code}]`);
		case 'attempt_checked':
			return checksLine(event, line);
		case 'retry_scheduled':
			return line('warn', `trying again at ${event.due.slice(11, 19)}`);
		case 'verdict':
			return verdictLine(event, line);
		case 'answered':
			return answerLine(event, line);
		case 'hil_opened':
			return line('warn', `waits for a person (${event.item.trigger}): sdd hil show ${event.item.id}`);
		case 'hil_resolved':
			return line('plain', `${short(event.resolution.by, 40)} decided: ${event.resolution.choice}`);
		case 'approval_voided':
			return line('warn', `the approval is void: ${event.changed.map(({ path }) => path).join(', ')} changed since`);
	}
}

type Of<K extends TaskEvent['kind']> = Extract<TaskEvent, { kind: K }>;
type MakeLine = (tone: Line['tone'], text: string) => Line;

function workerOf(event: Of<'attempt_started'>): string {
	if (event.by === 'human') return "a person's own work";
	return event.by === 'outside' ? 'the files as they are now' : `${event.agent ?? 'agent'} works`;
}

function checksLine(event: Of<'attempt_checked'>, line: MakeLine): Line {
	const words = event.checks.map((check) => `${check.name} ${check.ok ? 'ok' : failureOf(check)}`);
	return line(event.checks.every((check) => check.ok) ? 'dim' : 'warn', `checks: ${words.join(', ')}`);
}

function failureOf({ exit, reason }: Of<'attempt_checked'>['checks'][number]): string {
	return reason ?? `failed (${exit ?? 'not run'})`;
}

function verdictLine({ overlay, verdict }: Of<'verdict'>, line: MakeLine): Line | null {
	const decision = typeof verdict.record?.['decision'] === 'string' ? ` ${verdict.record['decision']}` : '';
	switch (verdict.kind) {
		case 'pass':
			return line('good', `${overlay}:${decision || ' pass'}${verdict.note ? ` ${short(verdict.note)}` : ''}`);
		case 'rework':
			return line('warn', `${overlay}:${decision || ' rework'} ${short(verdict.feedback)}`);
		case 'fail':
			return line('bad', `${overlay}: fail ${why(verdict.reason)}`);
		case 'ask':
			return decision === ''
				? asking(overlay, verdict, line)
				: line('warn', `${overlay}:${decision} ${short(recorded(verdict))}`);
	}
}

/** A review that leads to a question has its feedback on the record. */
function recorded({ record }: Of<'verdict'>['verdict']): string {
	return typeof record?.['feedback'] === 'string' ? record['feedback'] : '';
}

function asking(
	overlay: string,
	verdict: Extract<Of<'verdict'>['verdict'], { kind: 'ask' }>,
	line: MakeLine,
): Line | null {
	const agents = verdict.questions.filter(({ to }) => to !== 'human').map(({ to }) => to.slice('agent:'.length));
	return agents.length === 0 ? null : line('dim', `${overlay} asks ${agents.join(', ')}`);
}

function answerLine(event: Of<'answered'>, line: MakeLine): Line | null {
	const { answer } = event;
	return answer.failed === undefined
		? null
		: line('bad', `${short(answer.by, 40)} gave no answer: ${why(answer.failed.reason)}`);
}

/** File names, checks and choices are others' words too: whatever a line is made of, the whole of it is made safe. */
const WHOLE_LINE = 500;

function why(reason: string): string {
	return printableReason(reason, 160);
}

function short(text: string, width = 160): string {
	return printableLine(text, width);
}

/** Milliseconds as people say them. */
export function seconds(ms: number): string {
	if (ms < 999.5) return `${Math.round(ms)} ms`;
	if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
	const whole = Math.round(ms / 1000);
	return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
