/** What an overlay returned is never trusted unread. */
import { ALLOWED_AMENDMENTS, type Amendment, type Hook, type Verdict } from '../contract.ts';
import { isTooDeep, MAX_DEPTH } from '../json.ts';
import { printableLine } from '../printable.ts';
import type { Consulted } from './host.ts';

/** Only plain data that fits the schema is a verdict; anything else fails closed, whatever `on_error` says. */
export async function checkedVerdict(hook: Hook, value: unknown): Promise<Consulted> {
	const copy = plainCopy(value);
	if (!copy.ok) return refused(hook, copy.problem);
	const { verdict } = await import('../../generated/verdict.mjs');
	if (!verdict(copy.plain)) return refused(hook, describe(verdict.errors?.[0], copy.plain));
	const plain = copy.plain as Verdict;
	const misplaced = misplacedAmendment(hook, plain);
	return misplaced === null ? { ok: true, verdict: plain } : refused(hook, misplaced);
}

function refused(hook: Hook, problem: string): Consulted {
	const reason = `its answer at ${hook} is not a verdict: ${problem}`;
	return { ok: false, code: 'OVERLAY_BAD_VERDICT', reason, transport: false };
}

type Copy = { readonly ok: true; readonly plain: unknown } | { readonly ok: false; readonly problem: string };

function plainCopy(value: unknown): Copy {
	if (value === undefined) return { ok: false, problem: 'it returned nothing' };
	try {
		const text = JSON.stringify(value) as string | undefined;
		if (text === undefined) return { ok: false, problem: `it is a ${typeof value}, not an object` };
		const plain: unknown = JSON.parse(text);
		return isTooDeep(plain) ? TOO_DEEP : { ok: true, plain };
	} catch (error) {
		const message = error instanceof Error ? error.message : String(error);
		if (message.includes('call stack')) return TOO_DEEP;
		return { ok: false, problem: `it is no JSON: ${printableLine(message.split('\n')[0] ?? '')}` };
	}
}

const TOO_DEEP: Copy = { ok: false, problem: `it is nested too deeply: more than ${MAX_DEPTH} levels` };

/** What has no effect at a hook is refused there: its author would wait for it in vain. */
function misplacedAmendment(hook: Hook, verdict: Verdict): string | null {
	const amended = verdict.kind === 'pass' ? (Object.keys(verdict.amend ?? {}) as readonly (keyof Amendment)[]) : [];
	const allowed = ALLOWED_AMENDMENTS[hook];
	const wrong = amended.find((name) => !allowed.includes(name));
	if (wrong === undefined) return null;
	const instead = allowed.length === 0 ? 'nothing can be amended there' : `only "amend/${allowed.join(', ')}" has`;
	return `"amend/${wrong}" has no effect at ${hook}; ${instead}`;
}

interface SchemaError {
	readonly instancePath: string;
	readonly keyword: string;
	readonly params: Readonly<Record<string, unknown>>;
}

function describe(error: SchemaError | undefined, plain: unknown): string {
	if (error === undefined) return 'it does not fit';
	const { instancePath, keyword, params } = error;
	const at = instancePath === '' ? 'it' : `"${instancePath.slice(1)}"`;
	const found = shown(valueAt(plain, instancePath));
	switch (keyword) {
		case 'additionalProperties':
			return `${at} has the unknown member "${printableLine(String(params['additionalProperty']))}"`;
		case 'required':
			return `${at} lacks "${String(params['missingProperty'])}"`;
		case 'type':
			return `${at} must be ${TYPES[String(params['type'])] ?? String(params['type'])}, not ${found}`;
		case 'enum':
			return `${at} is ${found}, but must be one of ${(params['allowedValues'] as readonly unknown[]).join(', ')}`;
		case 'minLength':
		case 'minItems':
			return `${at} is empty`;
		case 'false schema':
			return `${at} is only for questions to ${FOR_PEOPLE.test(instancePath) ? 'a person' : 'an agent'}`;
		default:
			return `${at} is ${found}, but must be ${instancePath.endsWith('/to') ? 'human or agent:<name>' : AN_ID}`;
	}
}

const FOR_PEOPLE = /\/(?:choices|trigger|context)$/;
const AN_ID = 'an id: 1 to 64 letters, digits, ".", "_" and "-", a letter or digit first';

const TYPES: { readonly [type: string]: string } = {
	string: 'a text',
	number: 'a number',
	integer: 'a whole number',
	array: 'a list',
	object: 'an object',
};

function valueAt(plain: unknown, instancePath: string): unknown {
	const steps = instancePath.split('/').slice(1);
	return steps.reduce<unknown>((value, step) => (value as { readonly [name: string]: unknown } | null)?.[step], plain);
}

function shown(value: unknown): string {
	if (Array.isArray(value)) return 'a list';
	if (typeof value === 'object' && value !== null) return 'an object';
	return printableLine(JSON.stringify(value)).slice(0, 80);
}
