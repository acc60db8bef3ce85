/** The lines of the plain reporter, and below them one that says who is at work: for a terminal. */
import type { ReportedEvent } from '../events.ts';
import { seconds } from './describe.ts';
import { lineOf, paint } from './plain.ts';
import type { Reporter, Write } from './reporter.ts';

export interface LiveOptions {
	readonly color: boolean;
	/** Columns of the terminal, asked each time: people resize windows. */
	width(): number;
	readonly total: number;
	/** Tasks that had ended before this process began. */
	readonly ended?: readonly string[];
	now?(): number;
}

/** Keeps one status line at the bottom; `close` takes it away. */
export function liveReporter(write: Write, options: LiveOptions): Reporter {
	const busy = new Map<string, { readonly what: string; readonly since: number }>();
	const now = options.now ?? Date.now;
	const ended = new Set(options.ended);
	let shown = false;
	const erase = (): void => {
		if (shown) write('\r\x1b[2K');
		shown = false;
	};
	const draw = (): void => {
		erase();
		if (busy.size === 0) return;
		write(paint('dim', statusLine(busy, ended.size, options, now()), options.color));
		shown = true;
	};
	const timer = setInterval(draw, 1000);
	timer.unref();
	return {
		event(event) {
			count(ended, event);
			follow(busy, event, now());
			const text = lineOf(event, options.color);
			if (text !== null) {
				erase();
				write(`${text}\n`);
			}
			draw();
		},
		clear: erase,
		close() {
			clearInterval(timer);
			erase();
		},
	};
}

/** A task whose approval is void, or that is gone on with, is under way again. */
function count(ended: Set<string>, event: ReportedEvent): void {
	if (!('task' in event) || event.task === undefined) return;
	if (endsTask(event)) ended.add(event.task);
	else if (event.kind === 'approval_voided' || event.kind === 'task_reopened') ended.delete(event.task);
}

function endsTask({ kind }: ReportedEvent): boolean {
	return kind === 'task_completed' || kind === 'task_failed' || kind === 'task_skipped' || kind === 'task_cancelled';
}

/** Who is at work, as far as the events say. */
function follow(busy: Map<string, { what: string; since: number }>, event: ReportedEvent, at: number): void {
	if (!('task' in event) || event.task === undefined) return;
	if (endsTask(event) || event.kind === 'hil_opened' || event.kind === 'retry_scheduled') busy.delete(event.task);
	else if (event.kind === 'attempt_started') busy.set(event.task, { what: event.agent ?? 'a person', since: at });
	else if (event.kind === 'attempt_finished') busy.set(event.task, { what: 'judging', since: at });
	else if (event.kind === 'verdict' && event.verdict.kind === 'ask') {
		const asked = event.verdict.questions.map(({ to }) => to.replace('agent:', '')).join(', ');
		busy.set(event.task, { what: asked, since: at });
	}
}

function statusLine(
	busy: Map<string, { what: string; since: number }>,
	ended: number,
	options: LiveOptions,
	at: number,
): string {
	const parts = [...busy].map(([task, { what, since }]) => `${task} (${what}, ${seconds(at - since)})`);
	const text = `${ended}/${options.total} done · ${parts.join(' · ')}`;
	// A line that wraps could not be erased whole.
	const width = Math.max(1, options.width() - 1);
	return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
