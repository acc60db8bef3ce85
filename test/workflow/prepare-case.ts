/** Prepares a workflow the way the command does, with everything optional. */
import { checkReplies } from '../../agents/replies.ts';
import { formatDiagnostic } from '../../engine/diagnostic.ts';
import { type Preparation, type Prepared, prepare } from '../../engine/plan/prepare.ts';
import { builtinOverlays } from '../../overlays/index.ts';

/** Prepares `workflow.yaml` of a folder that is project and working directory at once. */
export function prepareIn(folder: string, other: Partial<Preparation> = {}): Promise<Prepared> {
	return prepare({
		file: 'workflow.yaml',
		project: folder,
		cwd: folder,
		definitions: builtinOverlays,
		adapters: ['command', 'scripted'],
		resolveOverlay: async (_name, use) => ({ error: `Cannot find package '${use}'` }),
		checkReplies,
		commandLine: {},
		home: null,
		...other,
	});
}

/** Everything that was said, as on a terminal without colours. */
export function saidBy(prepared: Prepared): string {
	const diagnostics = prepared.ok ? prepared.warnings : prepared.diagnostics;
	return diagnostics.map((one) => `${formatDiagnostic(one, { color: false })}\n`).join('\n');
}
