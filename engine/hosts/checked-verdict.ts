/** What an overlay returned is never trusted unread. */
import type { Hook, Verdict } from '../contract.ts';
import type { Consulted } from './host.ts';

/** Only plain data that fits the schema is a verdict; anything else fails closed, whatever `on_error` says. */
export async function checkedVerdict(hook: Hook, value: unknown): Promise<Consulted> {
	const plain = plainCopy(value);
	const { verdict } = await import('../../generated/verdict.mjs');
	if (verdict(plain)) return { ok: true, verdict: plain as Verdict };
	const error = verdict.errors?.[0];
	const where = error === undefined ? '' : `: ${describe(error)}`;
	return {
		ok: false,
		code: 'OVERLAY_BAD_VERDICT',
		reason: `its answer at ${hook} is not a verdict${where}`,
		transport: false,
	};
}

function plainCopy(value: unknown): unknown {
	try {
		return JSON.parse(JSON.stringify(value));
	} catch {
		return undefined;
	}
}

interface SchemaError {
	readonly instancePath: string;
	readonly keyword: string;
	readonly params: Readonly<Record<string, unknown>>;
}

function describe({ instancePath, keyword, params }: SchemaError): string {
	const at = instancePath === '' ? 'it' : `"${instancePath.slice(1)}"`;
	const { additionalProperty, missingProperty, type, allowedValues } = params;
	if (additionalProperty !== undefined) return `${at} has the unknown member "${String(additionalProperty)}"`;
	if (missingProperty !== undefined) return `${at} lacks "${String(missingProperty)}"`;
	if (type !== undefined) return `${at} is not of type ${String(type)}`;
	if (Array.isArray(allowedValues)) return `${at} is none of ${allowedValues.join(', ')}`;
	return `${at} does not fit (${keyword})`;
}
