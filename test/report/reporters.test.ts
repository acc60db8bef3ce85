import { afterEach, expect, test, vi } from 'vitest';
import type { ReportedEvent, RunEvent } from '../../engine/events.ts';
import { liveReporter } from '../../engine/report/live.ts';
import { lineOf, paint, plainReporter } from '../../engine/report/plain.ts';
import { jsonReporter, quietReporter } from '../../engine/report/reporter.ts';
import { AT, hilItem } from '../builders.ts';

const output = { text: '', bytes: 0, sha256: '' };

function at(event: RunEvent): ReportedEvent {
	return { ...event, at: AT };
}

const works = at({ kind: 'attempt_started', task: 'build', attempt: 1, by: 'agent', agent: 'dev' });
const finished = at({
	kind: 'attempt_finished',
	task: 'build',
	attempt: 1,
	agent: 'dev',
	output,
	artifacts: [],
	ms: 1,
});
const done = at({ kind: 'task_completed', task: 'build' });

afterEach(() => {
	vi.useRealTimers();
});

/** What is on the screen after these writes: understands only what the live view uses. */
function screen(written: readonly string[]): readonly string[] {
	const lines: string[] = [''];
	for (const part of written.join('').split(/(\n|\r\x1b\[2K)/)) {
		if (part === '\n') lines.push('');
		else if (part === '\r\x1b[2K') lines[lines.length - 1] = '';
		else lines[lines.length - 1] += part;
	}
	return lines;
}

function live(width = 80) {
	const written: string[] = [];
	const clock = { ms: 0 };
	const options = { color: false, width: () => width, total: 3, now: () => clock.ms };
	return { written, clock, reporter: liveReporter((text) => written.push(text), options) };
}

test('the plain reporter writes a line an event, with its time and task, and nothing for the silent ones', () => {
	const written: string[] = [];
	const reporter = plainReporter((text) => written.push(text), false);
	for (const event of [works, at({ kind: 'task_started', task: 'build' }), done]) reporter.event(event);
	reporter.close();
	expect(written).toEqual(['11:30:00 build: attempt 1: dev works\n', '11:30:00 build: done\n']);
});

test('colour is only paint: without it the same text is left', () => {
	const painted = lineOf(done, true) ?? '';
	expect(painted).toContain('\x1b[32mdone\x1b[0m');
	expect(painted.replaceAll(/\x1b\[\d*m/g, '')).toBe(lineOf(done, false));
	expect(paint('plain', 'x', true)).toBe('x');
});

test('the JSON reporter writes each event as it is, one a line', () => {
	const written: string[] = [];
	jsonReporter((text) => written.push(text)).event(works);
	expect(written).toEqual([`${JSON.stringify(works)}\n`]);
	expect(JSON.parse(written[0] ?? '')).toEqual(works);
});

test('the quiet reporter says nothing', () => {
	expect(quietReporter.event(works)).toBeUndefined();
	expect(quietReporter.clear()).toBeUndefined();
	expect(quietReporter.close()).toBeUndefined();
});

test('the live view keeps one line at the bottom that says who is at work', () => {
	const { reporter, written, clock } = live();
	reporter.event(works);
	expect(screen(written)).toEqual(['11:30:00 build: attempt 1: dev works', '0/3 done · build (dev, 0 ms)']);
	clock.ms = 2500;
	reporter.event(finished);
	expect(screen(written).at(-1)).toBe('0/3 done · build (judging, 0 ms)');
	reporter.close();
});

test('the live view ends clean: nothing but whole lines is left', () => {
	const { reporter, written } = live();
	for (const event of [works, finished, done]) reporter.event(event);
	reporter.close();
	expect(screen(written)).toEqual([
		'11:30:00 build: attempt 1: dev works',
		'11:30:00 build: attempt 1: finished in 1 ms',
		'11:30:00 build: done',
		'',
	]);
});

test('closed while somebody is at work, the live view takes its line away', () => {
	const { reporter, written } = live();
	reporter.event(works);
	reporter.close();
	expect(screen(written).at(-1)).toBe('');
});

test('the live view makes way for what others write', () => {
	const { reporter, written } = live();
	reporter.event(works);
	reporter.clear();
	written.push('\nSIGINT\n');
	reporter.event(finished);
	reporter.close();
	expect(screen(written)).toEqual([
		'11:30:00 build: attempt 1: dev works',
		'',
		'SIGINT',
		'11:30:00 build: attempt 1: finished in 1 ms',
		'',
	]);
});

test('the live view shows whom an overlay asks, and nobody for a task that waits', () => {
	const { reporter, written } = live();
	reporter.event(works);
	const judged = { task: 'build', attempt: 1, hook: 'after', overlay: 'gate' } as const;
	const questions = [{ id: 'r', to: 'agent:rev', brief: { prompt: '' } }] as const;
	reporter.event(at({ kind: 'verdict', ...judged, round: 1, verdict: { kind: 'ask', questions }, content: '' }));
	expect(screen(written).at(-1)).toBe('0/3 done · build (rev, 0 ms)');
	reporter.event(at({ kind: 'hil_opened', ...judged, question: 'q', item: hilItem('hil-1') }));
	expect(screen(written).at(-1)).toBe('');
	reporter.close();
});

test('a narrow terminal gets a shortened line', () => {
	const { reporter, written } = live(25);
	reporter.event(works);
	expect(screen(written).at(-1)).toBe('0/3 done · build (dev, …');
	reporter.close();
});

test.each([2, 10, 20])('on a terminal of %i columns the line of the live view stays one line', (columns) => {
	const { reporter, written } = live(columns);
	reporter.event(works);
	expect(screen(written).at(-1)).toHaveLength(columns - 1);
	reporter.close();
});

test('the live view counts every task that ended', () => {
	const { reporter, written } = live();
	reporter.event(at({ kind: 'task_failed', task: 'a', code: 'X', reason: 'x' }));
	reporter.event(at({ kind: 'task_skipped', task: 'b', reason: 'x' }));
	reporter.event(works);
	expect(screen(written).at(-1)).toMatch(/^2\/3 done · build/);
	reporter.close();
});

test('the time at work goes on though nothing happens', () => {
	vi.useFakeTimers();
	const { reporter, written, clock } = live();
	reporter.event(works);
	clock.ms = 61_000;
	vi.advanceTimersByTime(1000);
	expect(screen(written).at(-1)).toBe('0/3 done · build (dev, 1 min 1 s)');
	reporter.close();
	const before = written.length;
	vi.advanceTimersByTime(5000);
	expect(written).toHaveLength(before);
});
