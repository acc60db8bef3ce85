/**
 * Stands in for a reviewing agent, and really reviews: runs the tests, holds the code against the Standards in its brief,
 * and answers with a verdict as JSON on stdout.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const brief = readFileSync(0, 'utf8');
const code = readFileSync('.quickstart/slug.mjs', 'utf8');

const tests = spawnSync(process.execPath, ['--test', '--test-reporter=tap', '.quickstart/slug.test.mjs'], {
	encoding: 'utf8',
});
const testsPass = tests.status === 0;

const standards = /## Standards\n([\s\S]*?)(?=\n#{1,2} |$)/.exec(brief)?.[1] ?? '';
const wantsDocs = /document|comment|explain/i.test(standards);
const isDocumented = !wantsDocs || /\/\*\*/.test(code);

const complaints = [
	...(testsPass ? [] : [`The tests fail:\n\n${failures(tests.stdout)}`]),
	...(isDocumented ? [] : ['The Standards ask for documented code, and slug() has no comment.']),
];

console.log(
	JSON.stringify({
		decision: complaints.length === 0 ? 'GO' : 'NO_GO',
		feedback: complaints.length === 0 ? 'The tests pass and the code meets the Standards.' : complaints.join('\n\n'),
		quality_checks: {
			acceptance_criteria_met: testsPass,
			code_standards_met: isDocumented,
			test_coverage_adequate: true,
			security_review_passed: true,
		},
	}),
);

/** The failing tests: their names, and what was expected and found. */
function failures(tap) {
	const lines = tap.split('\n').map((line) => line.trim());
	return lines.filter((line) => /^(not ok|error:|expected:|actual:)/.test(line)).join('\n');
}
