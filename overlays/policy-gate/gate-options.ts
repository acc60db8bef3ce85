/** The options of `policy_gate`, as written in a workflow. */
import type { OptionProblem } from '../../engine/contract.ts';
import type { JsonObject } from '../../engine/json.ts';

/** What a check can be evidence for. */
export const EVIDENCE_KINDS = ['acceptance', 'tests', 'lint', 'coverage', 'security', 'operational'] as const;
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number];

export type Tier = 'T0' | 'T1' | 'T2';

export interface GateOptions {
	readonly tier?: Tier;
	readonly evidence?: readonly EvidenceKind[];
	readonly coverage_threshold?: number;
	readonly forbidden?: readonly string[];
}

export const DEFAULT_TIER: Tier = 'T1';
export const DEFAULT_COVERAGE = 0.8;

/** What each tier asks for; a workflow can ask for more, never for less. */
const TIERS: { readonly [T in Tier]: readonly EvidenceKind[] } = {
	T0: ['acceptance'],
	T1: ['acceptance', 'tests', 'lint'],
	T2: ['acceptance', 'tests', 'lint', 'security', 'operational'],
};

/** The kinds of evidence that are asked for. Whoever sets a threshold for coverage asks for coverage. */
export function askedFor(options: GateOptions): readonly EvidenceKind[] {
	const asked = new Set([
		...TIERS[options.tier ?? DEFAULT_TIER],
		...(options.evidence ?? []),
		...(options.coverage_threshold === undefined ? [] : (['coverage'] as const)),
	]);
	return EVIDENCE_KINDS.filter((kind) => asked.has(kind));
}

export const gateOptionsSchema: JsonObject = {
	type: 'object',
	additionalProperties: false,
	properties: {
		tier: {
			enum: ['T0', 'T1', 'T2'],
			default: DEFAULT_TIER,
			description:
				'What is at stake. T0 asks for acceptance; T1 also for tests and lint; T2 also for security and operational, and always a person.',
		},
		evidence: {
			type: 'array',
			items: { enum: EVIDENCE_KINDS },
			description: 'Kinds of evidence that are asked for besides those of the tier.',
		},
		coverage_threshold: {
			type: 'number',
			minimum: 0,
			maximum: 1,
			default: DEFAULT_COVERAGE,
			description: 'The least coverage, as a share of one. Setting it asks for evidence of the kind coverage.',
		},
		forbidden: {
			type: 'array',
			items: { type: 'string', minLength: 1 },
			description: 'Files and folders, relative to the project, that the task must not change.',
		},
	},
};

/** What the schema cannot say: a forbidden path that can never match would forbid nothing. */
export function gateProblems({ forbidden = [] }: GateOptions): readonly OptionProblem[] {
	return forbidden.flatMap((path, index) => {
		const message = faultOf(path);
		if (message === null) return [];
		const remedy =
			'name a file or a folder of the project, such as `infra/prod`; all that lies below it is forbidden too';
		return [{ path: ['forbidden', String(index)], message, remedy }];
	});
}

function faultOf(path: string): string | null {
	if (/[*?[\]{}]/.test(path)) return `"${path}" is a pattern; forbidden paths are taken literally`;
	const leaves = path.startsWith('/') || path.includes('\\') || path.split('/').includes('..');
	return leaves ? `"${path}" is no path inside the project` : null;
}
