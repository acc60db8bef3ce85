/** Checks a file's shape with the validators compiled ahead; only if it is wrong are words for it loaded. */
import type { OverlayDefinition } from '../contract.ts';
import type { Problem, Source } from './source.ts';

/** The kinds of YAML file there are. */
export type FileKind = 'workflow' | 'config' | 'agent';

/** Above these, looking for every error at once could take long. */
const MANY_TASKS = 2000;
const MUCH_TEXT = 1024 * 1024;

/** What is wrong with the shape of a file; empty when nothing is. */
export async function checkShape(
	kind: FileKind,
	source: Source,
	definitions: readonly OverlayDefinition[],
): Promise<readonly Problem[]> {
	const first = (await import('../../generated/validators.mjs'))[kind];
	if (first(source.value)) return [];
	const { describeShape } = await import('./describe-shape.ts');
	const described = whyFirstOnly(source) !== null ? describeShape(kind, source, first.errors ?? [], definitions) : [];
	if (described.length > 0) return described;
	const all = (await import('../../generated/validators-all.mjs'))[kind];
	all(source.value);
	return describeShape(kind, source, all.errors ?? [], definitions);
}

/** Why only the first problem with the shape of a file is looked for; null when all are. */
export function whyFirstOnly(source: Source): string | null {
	if (source.text.length > MUCH_TEXT) return `the file has more than ${MUCH_TEXT} characters`;
	const { tasks } = source.value as { readonly tasks?: unknown };
	const isLarge = tasks !== null && typeof tasks === 'object' && Object.keys(tasks).length > MANY_TASKS;
	return isLarge ? `the file has more than ${MANY_TASKS} tasks` : null;
}
