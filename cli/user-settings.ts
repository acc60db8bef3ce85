/** The user's own settings, apart from any project's. */
import { homedir } from 'node:os';
import { configHome } from '../constitution/find.ts';
import type { Terminal } from './terminal.ts';

/** The folder of them. */
export function userSettings({ env }: Terminal): string {
	return configHome(env, env['HOME'] ?? homedir());
}
