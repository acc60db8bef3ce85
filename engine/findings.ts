/** Findings in words, for those who are to do something about them. */
import type { Finding } from './contract.ts';
import type { Json, JsonObject } from './json.ts';

/** What a judge said, with the problems it listed below. */
export function withFindings(feedback: string, findings: readonly Finding[]): string {
	return [feedback, findings.map(inWords).join('\n')].filter((part) => part !== '').join('\n\n');
}

/** The findings in a record; whatever else stands there under that name is none. */
export function findingsIn({ findings }: JsonObject): readonly Finding[] {
	return Array.isArray(findings) ? (findings as readonly Json[]).filter(isFinding) : [];
}

function inWords({ file, line, severity, issue, details, fix }: Finding): string {
	const place = file === undefined ? '' : ` in ${file}${line === undefined ? '' : `:${line}`}`;
	const more = [details ?? '', fix === undefined || fix === '' ? '' : `Fix: ${fix}`].filter((part) => part !== '');
	return [`- ${severity}${place}: ${issue}`, ...more].join('\n').replaceAll('\n', '\n  ');
}

function isFinding(value: Json): value is JsonObject & Finding {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
	const { severity, issue } = value as JsonObject;
	return typeof severity === 'string' && typeof issue === 'string';
}
