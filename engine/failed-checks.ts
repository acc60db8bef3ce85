/** What checks forbid. */
import type { CheckResult } from './contract.ts';

/** The names of the required checks that failed. */
export function failedRequired(checks: readonly CheckResult[]): readonly string[] {
	return checks.filter((check) => check.required && !check.ok).map((check) => check.name);
}
