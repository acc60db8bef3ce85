/** Watches how much running processes have written, with one timer for all of them. */

/** Looks at one process's output files and acts when they have grown too large. */
export type Look = () => void;

const LOOK_EVERY_MS = 100;
const looks = new Set<Look>();
let timer: NodeJS.Timeout | null = null;

/** Calls `look` about ten times a second until `unwatch`. The timer alone keeps no process alive. */
export function watch(look: Look): void {
	looks.add(look);
	timer ??= setInterval(lookAtAll, LOOK_EVERY_MS).unref();
}

/** Stops calling `look`. */
export function unwatch(look: Look): void {
	looks.delete(look);
}

function lookAtAll(): void {
	// The timer is stopped here and not in `unwatch`, so that a thousand short processes do not start a thousand timers.
	if (looks.size === 0 && timer !== null) {
		clearInterval(timer);
		timer = null;
	}
	for (const look of looks) look();
}
