/** The work as agents that judge it are shown it: all that others wrote is cut to size and fenced. */
import { capText, DIFF_CAP, OUTPUT_CAP } from '../../engine/brief/cap.ts';
import { fence } from '../../engine/brief/fence.ts';
import type { Artifact, Moment } from '../../engine/contract.ts';

/** What a template can say of the task and of the work, under the names that all overlays' templates use. */
export function shownWork(moment: Moment, nonce: string): { readonly [name: string]: unknown } {
	const shown = (label: string, text: string, cap: number) => fence(label, capText(text, cap), nonce);
	return {
		nonce,
		task: { id: moment.task.id, description: moment.task.description },
		criteria: moment.task.acceptanceCriteria,
		standards: moment.constitution['Standards'] ?? '',
		artifacts: moment.artifacts.map((artifact) => ({
			path: nameOf(artifact.path),
			sha256: artifact.sha256,
			body: shown(nameOf(artifact.path), artifactText(artifact), OUTPUT_CAP),
		})),
		diff: shown('diff', moment.diff, DIFF_CAP),
		output: shown('output', moment.output.text === '' ? '(nothing)' : moment.output.text, OUTPUT_CAP),
		checks: moment.checks.map((check) => ({
			...check,
			output: shown(`check ${check.name}`, check.output, OUTPUT_CAP),
		})),
	};
}

const PLAIN = /^[\p{L}\p{M}\p{N}._/@+~#()[\]-]+$/u;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** A file's name stands outside of the blocks, and in a folder the coder chose it: whatever could be read as text is quoted, on one line. */
function nameOf(path: string): string {
	if (PLAIN.test(path)) return path;
	return JSON.stringify(path).replaceAll(UNPRINTABLE, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
}

function artifactText(artifact: Artifact): string {
	return artifact.content ?? `(not text: ${artifact.bytes} bytes)`;
}
