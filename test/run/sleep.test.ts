import { getEventListeners } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { sleep } from '../../engine/run/sleep.ts';

afterEach(() => {
	vi.useRealTimers();
});

test('it wakes when the time is over, and leaves nothing behind', async () => {
	vi.useFakeTimers();
	const { signal } = new AbortController();
	const slept = sleep(60_000, signal);
	vi.advanceTimersByTime(60_000);
	await slept;
	expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('it wakes at once when the run is stopped', async () => {
	vi.useFakeTimers();
	const stop = new AbortController();
	const slept = sleep(60_000, stop.signal);
	stop.abort();
	await slept;
	expect(vi.getTimerCount()).toBe(0);
	await sleep(60_000, stop.signal);
});
