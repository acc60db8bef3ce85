/** The interpreter that the project's settings name. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadSource } from '../engine/workflow/load.ts';

/** `python:` of `.ai-sdd/ai-sdd.yaml`; null where it says nothing. A file that is wrong has been told of by then. */
export function configuredPython(project: string): string | null {
	const path = join(project, '.ai-sdd/ai-sdd.yaml');
	if (!existsSync(path)) return null;
	const loaded = loadSource(path, '.ai-sdd/ai-sdd.yaml');
	const value = loaded.ok ? (loaded.source.value as { python?: unknown } | null)?.python : undefined;
	return typeof value === 'string' ? value : null;
}
