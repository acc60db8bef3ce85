/** Who calls. In a container that may be a bare number: nobody with a name or a home. */
import { homedir, userInfo } from 'node:os';

/** The user's name, as it is recorded. */
export function userName(): string {
	return orElse(() => userInfo().username, `uid ${process.getuid?.() ?? 'unknown'}`);
}

/** The user's home; the root, as for a shell, where there is none. */
export function homeFolder(env: { readonly [name: string]: string | undefined }): string {
	return env['HOME'] || orElse(homedir, '/');
}

function orElse(ask: () => string, otherwise: string): string {
	try {
		return ask();
	} catch {
		return otherwise;
	}
}
