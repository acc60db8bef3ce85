/** Catches what code of the project throws when nobody listens: after its verdict, or in a promise it forgot. */
import { SddError } from '../engine/errors.ts';

/** Stops the run at the first one, so that it is left in order; `rethrow` then says what it was. */
export function onStrayError(stop: AbortController): { rethrow(): void; dispose(): void } {
	let stray: { readonly error: unknown } | null = null;
	const catchIt = (error: unknown): void => {
		stray ??= { error };
		stop.abort();
	};
	process.on('uncaughtException', catchIt);
	return {
		rethrow() {
			if (stray !== null) throw asFault(stray.error);
		},
		dispose() {
			process.off('uncaughtException', catchIt);
		},
	};
}

/** Blames what was thrown on an overlay, unless it is of our own making. */
export function asFault(error: unknown): unknown {
	// Our own errors tell enough by themselves, and a bug of ours must look like one.
	if (error instanceof SddError || !comesFromProject(error)) return error;
	const message = error instanceof Error ? error.message : String(error);
	return new SddError(
		'OVERLAY_BROKE_DOWN',
		`code of an overlay threw outside of a verdict: ${message}`,
		'correct the overlay, then `sdd run` goes on',
		{ cause: error },
	);
}

/** What was not thrown in one of our own files is not of our making. */
function comesFromProject(error: unknown): boolean {
	const trace = error instanceof Error ? (error.stack ?? '') : '';
	const thrower = trace.split('\n').find((line) => /^\s+at /.test(line) && !line.includes('node:')) ?? '';
	return !thrower.includes(OWN_FOLDER);
}

const OWN_FOLDER = new URL('.', import.meta.url).pathname;
