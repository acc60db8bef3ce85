/** The options of `policy_gate`, as written in a workflow. */
import type { Attachment, OptionProblem } from '../../engine/contract.ts';
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

type GatedTask = Pick<Attachment<GateOptions>['task'], 'outputs' | 'checks'>;

/** What the schema cannot say: what can never match would forbid nothing, and what no check shows can never pass. */
export function gateProblems(options: GateOptions, task: GatedTask): readonly OptionProblem[] {
	const { forbidden = [] } = options;
	return [...forbidden.flatMap((path, index) => aboutForbidden(path, index, task)), ...missingKinds(options, task)];
}

function aboutForbidden(path: string, index: number, { outputs }: GatedTask): readonly OptionProblem[] {
	const place = { path: ['forbidden', String(index)] };
	const message = faultOf(path);
	if (message !== null) {
		const remedy =
			'name a file or a folder of the project, such as `infra/prod`; all that lies below it is forbidden too';
		return [{ ...place, message, remedy }];
	}
	const output = outputs.find((one) => overlap(bare(one), bare(path)));
	if (output === undefined) return [];
	const why = `"${path}" is forbidden, but the task is to write "${output}"`;
	return [{ ...place, message: why, remedy: 'take one of them out: the task could never pass' }];
}

function faultOf(path: string): string | null {
	if (/[*?[\]{}]/.test(path)) return `"${path}" is a pattern; forbidden paths are taken literally`;
	if (bare(path) === '') return `"${path}" is the whole project, in which no task could write anything`;
	const leaves = path.startsWith('/') || path.includes('\\') || path.split('/').includes('..');
	return leaves ? `"${path}" is no path inside the project` : null;
}

/** Without `./`, and without a slash at the end. */
function bare(path: string): string {
	return path
		.split('/')
		.filter((part) => part !== '' && part !== '.')
		.join('/');
}

function overlap(one: string, other: string): boolean {
	return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

/** No attempt can bring evidence that no check collects: a workflow that asks for it is run in vain. */
function missingKinds(options: GateOptions, { checks }: GatedTask): readonly OptionProblem[] {
	const missing = askedFor(options).filter((kind) => !checks.some((check) => check.kind === kind));
	if (missing.length === 0) return [];
	const kinds = missing.join(', ');
	const message = `no check of the task is evidence of ${kinds}, so this gate can never pass`;
	const remedy = `add checks with \`kind: ${missing[0]}\`${missing.length > 1 ? ' and so on' : ''}, or ask for a lower tier`;
	return [{ path: options.tier === undefined ? [] : ['tier'], message, remedy, isWarning: true }];
}
