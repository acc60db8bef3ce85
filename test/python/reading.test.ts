/** The Python review reads replies and conditions as the built-in one does: random ones, put to both. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { evaluate, parseExpression } from '../../engine/expression.ts';
import { parseReply } from '../../overlays/review/parse-verdict.ts';
import { garbled } from '../overlays/garbled.ts';
import { hasPython } from './has-python.ts';

const python = fileURLToPath(new URL('../../python', import.meta.url));
const SAMPLE = { numRuns: 3000, seed: 42 };

/** Pieces of replies: verdicts, halves of them, events of a stream, what breaks naive readers. */
const pieces = fc.constantFrom(
	...[
		'{',
		'}',
		'"',
		'\\',
		'[',
		']',
		':',
		',',
		'NaN',
		'null',
		'é🦉',
		'\ufeff',
		'\u001c',
		'"decision"',
		'"GO"',
		'"NO_GO"',
	],
	'{"decision": "GO", "feedback": "x"}',
	'{"decision":"NO_GO","feedback":"y \\" {"}',
	'{"decision": "GO",',
	'"decision": "GO", "decision" : "NO_GO"',
	'"feedback": "f"',
	'"feedback": 1.0',
	'"findings": []}',
	'"findings": [{"severity":"a","issue":"b","line":2.0,"confidence":1e400}]}',
	'"quality_checks": {"code_standards_met": true}}',
	'"review_id": "r/1",',
	'"review_id": "r/2",',
	'{"verdict":"pass","followUpPrompt":""}',
	'{"verdict":"drift","followUpPrompt":"z"}',
	'{"type":"assistant","message":{"content":[{"type":"text","text":"{\\"decision\\": \\"GO\\", \\"feedback\\": \\"s\\"}"}]}}',
	'{"type":"result","result":"hm"}',
	'{"type":"result","subtype":"error_max_turns"}',
	'{"type":"turn.failed"}',
	String.raw`{"decision": "NO_GO", "\u0064ecision": "GO", "feedback": "x"}`,
	'{"decision": "NO_GO", "feedback": "x",}',
	"{'decision': 'NO_GO'",
	'"decision": "NO_GO" | "GO"',
	', decision :\u001c NO_GO.',
	'“Verdict”: drift',
	'"verdict":\ufeff"pass" or "drift"',
);

const text = (part: fc.Arbitrary<string>): fc.Arbitrary<string> =>
	fc
		.tuple(fc.array(part, { minLength: 1, maxLength: 9 }), fc.constantFrom('', ' ', '\n'))
		.map(([parts, between]) => parts.join(between));

const replies = fc.record({
	reply: text(pieces),
	protocol: fc.constantFrom('decision' as const, 'decision' as const, 'drift' as const),
	material: fc.oneof(fc.constant([]), fc.array(text(pieces), { maxLength: 2 })),
});

const paths = fc.constantFrom(
	'review.decision',
	'review.findings',
	'review',
	'a-b.c',
	'checks.t.ok',
	'missing.x',
	'review.toString',
);
const values = fc.constantFrom(
	'GO',
	'NO_GO',
	"'GO'",
	'"x\\"y"',
	'1',
	'2',
	'-2.5',
	'2e0',
	'true',
	'false',
	'null',
	'checks.t.exit',
);
const signs = fc.constantFrom('==', '!=', '>', '>=', '<', '<=');
const comparison = fc.oneof(
	paths,
	fc.tuple(paths, signs, values).map((parts) => parts.join(' ')),
);
const comparisons = fc
	.array(fc.tuple(fc.constantFrom('and', 'or', 'and not', 'or not'), comparison), { maxLength: 3 })
	.chain((rest) => comparison.map((first) => [first, ...rest.flat()].join(' ')));
const scraps = text(
	fc.oneof(paths, values, signs, fc.constantFrom('1x', 'and', 'or', 'not', '(', ')', '=', '&&', 'é')),
);
const conditions = fc.oneof(comparisons, scraps);

const SCOPE = { review: { decision: 'GO', findings: 2 }, checks: { t: { ok: true, exit: 1 } }, 'a-b': { c: false } };

it.runIf(hasPython)('replies', () => {
	const cases = fc.sample(replies, SAMPLE);
	const read = cases.map(({ reply, protocol, material }) => {
		const parsed = parseReply(reply, { protocol, reviewId: 'r/1', material });
		if (!parsed.ok) return parsed.violation;
		const { decision, feedback, qualityChecks, findings } = parsed.verdict;
		return [decision, feedback, qualityChecks, findings];
	});
	expect(inPython(READ_REPLY, cases)).toEqual(read);
	expect(read.filter((one) => typeof one !== 'string').length).toBeGreaterThan(100);
});

it.runIf(hasPython)('garbled verdicts beside good ones', () => {
	const cases = [
		...garbled('decision', '"NO_GO"', 'feedback'),
		...garbled('decision', '"GO"', 'feedback'),
		['the format', '{"decision": "NO_GO" | "GO", "feedback": "…"}'],
		['a blank', '{"decision": <GO or NO_GO>} {"decision": "…",'],
		['prose', 'My "decision": the work is good.'],
		['an odd letter', '{"deciſion":"NO_GO",} {"decıs\u0130on":"NO_GO",}'],
	].flatMap(([, text]) =>
		['GO', 'NO_GO'].map((good) => ({
			reply: `${text}\n{"decision":"${good}","feedback":"f"}`,
			protocol: 'decision' as const,
			material: [],
		})),
	);
	const read = cases.map((one) => {
		const parsed = parseReply(one.reply, { ...one, reviewId: 'r/1' });
		return parsed.ok ? parsed.verdict.decision : parsed.violation;
	});
	const inBoth = inPython(READ_REPLY, cases) as readonly (string | readonly string[])[];
	expect(inBoth.map((one) => (typeof one === 'string' ? one : one[0]))).toEqual(read);
	expect(new Set(read).size).toBe(3);
});

it.runIf(hasPython)('exit conditions', () => {
	const cases = fc.sample(conditions, SAMPLE);
	const held = cases.map((one) => {
		const parsed = parseExpression(one);
		return parsed.ok && evaluate(parsed.expression, SCOPE);
	});
	expect(inPython(READ_CONDITION, cases)).toEqual(held);
	expect(held.filter(Boolean).length).toBeGreaterThan(100);
});

/** What a Python expression about `case` gives for each case, in one process. */
function inPython(program: string, cases: readonly unknown[]): unknown {
	const { stdout, stderr } = spawnSync('python3', ['-c', program], {
		env: { ...process.env, PYTHONPATH: `${python}:${join(python, 'examples')}`, PYTHONUTF8: '1' },
		input: JSON.stringify(cases),
		encoding: 'utf8',
		maxBuffer: 100_000_000,
	});
	expect(stderr).toBe('');
	return JSON.parse(stdout);
}

const READ_REPLY = `
import json, sys
from review_reply import Reading, Violation, parse_reply
def read(case):
    parsed = parse_reply(case["reply"], Reading(case["protocol"], "r/1", case["material"]))
    if isinstance(parsed, Violation):
        return parsed.reason
    return [parsed.decision, parsed.feedback, parsed.quality_checks, parsed.findings]
print(json.dumps([read(case) for case in json.load(sys.stdin)]))
`;

const READ_CONDITION = `
import json, sys
from review_conditions import holds
scope = json.loads('${JSON.stringify(SCOPE)}')
print(json.dumps([holds(case, scope) for case in json.load(sys.stdin)]))
`;
