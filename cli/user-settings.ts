/** The user's own settings, apart from any project's. */
import { configHome } from '../constitution/find.ts';
import type { Terminal } from './terminal.ts';
import { homeFolder } from './user.ts';

/** The folder of them. */
export function userSettings({ env }: Terminal): string {
	return configHome(env, homeFolder(env));
}
