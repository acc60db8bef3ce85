/** The required checks that failed: what they forbid, only a person may overrule. */
import type { CheckResult } from './contract.ts';
import type { JsonObject } from './json.ts';

/** The names of the required checks that failed. */
export function failedRequired(checks: readonly CheckResult[]): readonly string[] {
	return checks.filter((check) => check.required && !check.ok).map((check) => check.name);
}

/** What the decision in a record overruled, as a line for people; none where it overruled nothing. */
export function overruledIn({ failed_checks: failed }: JsonObject): readonly string[] {
	return Array.isArray(failed) && failed.length > 0 ? [`although required checks failed: ${failed.join(', ')}`] : [];
}
