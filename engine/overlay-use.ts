/** Where an overlay that is not built in comes from. */

/** A file relative to the project, a package's name, or a command that speaks the overlay protocol. */
export type OverlayUse = string | { readonly command: readonly string[] };

/** Whether it runs in a process of its own: a command, or a Python file. */
export function isProcess(use: OverlayUse): boolean {
	return typeof use !== 'string' || use.endsWith('.py');
}

/** How messages and plans name it; two uses with the same text are the same. */
export function useText(use: OverlayUse): string {
	return typeof use === 'string' ? use : use.command.join(' ');
}
