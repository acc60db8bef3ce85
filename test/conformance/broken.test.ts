import { expect, test } from 'vitest';
import type { CheckName, Report } from '../../engine/conformance/checks.ts';
import { processSubject } from '../../engine/conformance/process-subject.ts';
import type { Limits } from '../../engine/conformance/speaker.ts';
import { runSuite } from '../../engine/conformance/suite.ts';
import { BROKEN, commandFor, ENV } from '../hosts/processes.ts';

/** No limit that a busy machine could reach. */
const PATIENT: Limits = { startMs: 20_000, callMs: 20_000, graceMs: 10_000 };
/** For those that let the limit pass on purpose. */
const HASTY: { readonly [file: string]: Limits } = {
	'never-answers-initialize.sh': { ...PATIENT, startMs: 1500 },
	'never_answers.py': { ...PATIENT, callMs: 600, graceMs: 1000 },
	'ignores_cancellation.py': { ...PATIENT, callMs: 600, graceMs: 1000 },
	'loses_calls.py': { ...PATIENT, callMs: 600, graceMs: 1000 },
	'stays_after_shutdown.py': { ...PATIENT, graceMs: 1000 },
	'stays_without_host.py': { ...PATIENT, graceMs: 1000 },
};

function suiteFor(file: string): Promise<Report> {
	const options = { command: commandFor(file), cwd: BROKEN, env: ENV, stderrPath: null };
	return runSuite(processSubject(options, '0.0.0', HASTY[file] ?? PATIENT), null);
}

function failures({ checks }: Report): { readonly [check: string]: string | null } {
	return Object.fromEntries(
		checks.filter(({ status }) => status === 'failed').map(({ check, words }) => [check, words]),
	);
}

test('an overlay that does everything right passes every check, though it is written without our package', async () => {
	const report = await suiteFor('works.py');
	expect(failures(report)).toEqual({});
	expect(report).toMatchObject({ name: 'broken', ok: true });
	expect(report.checks.filter(({ status }) => status === 'skipped')).toEqual([
		{
			check: 'questions',
			about: 'its questions come to an end, and one that is answered is not asked again',
			status: 'skipped',
			words: 'it asked nothing at the standard moments',
		},
	]);
});

const after = 'at after \\(an ordinary one\\): ';

test.concurrent.each<[string, { readonly [C in CheckName]?: RegExp }]>([
	['exits-at-once.sh', { starts: /^its process exited with code 7; .*:\nthe licence server is not configured$/ }],
	['never-answers-initialize.sh', { starts: /^no answer to initialize within 1s500ms; .*:\nstill thinking$/ }],
	['does_not_parse.py', { starts: /^its process exited with code 1; [\s\S]*SyntaxError/ }],
	['prints_at_start.py', { clean_stdout: /^it wrote something that is no JSON to stdout: "licences 1\.0"$/ }],
	[
		'prints_to_stdout.py',
		{ clean_stdout: /^it wrote something that is no JSON to stdout: "checking the licences \.\.\."$/ },
	],
	['sends_100_mb.py', { clean_stdout: /^it wrote a line of more than 33554432 bytes$/ }],
	['answers_twice.py', { one_answer: /^it answered the request \d+ twice$/ }],
	['answers_unknown_id.py', { one_answer: /^it answered the request 4711, which nobody made$/ }],
	['speaks_protocol_99.py', { handshake: /^it speaks protocol 99, and this sdd speaks 1 to 1$/ }],
	['wrong_hooks.py', { handshake: /^"afterwards" is not a hook; there are before, checkpoint, after, failed$/ }],
	[
		'bad_options_schema.py',
		{
			options_schema:
				/^its options are no JSON Schema: schema is invalid: data\/type must be equal to one of the allowed values/,
		},
	],
	[
		'takes_any_protocol.py',
		{ version: /^offered only protocol 99, it answered \{"protocol":1,.*\}; it must answer with an error$/ },
	],
	[
		'dies_of_another_protocol.py',
		{
			version:
				/^offered only protocol 99, it did not answer with an error: its process exited with code 1; [\s\S]*AssertionError/,
		},
	],
	[
		'typo_in_verdict.py',
		{ verdicts: new RegExp(`^${after}its answer at after is not a verdict: it has the unknown member "aproved"$`) },
	],
	[
		'throws.mjs',
		{
			verdicts: new RegExp(`^${after}it answered with an error: cannot do after; .*:\nError: no such table: licences$`),
		},
	],
	[
		'never_answers.py',
		{
			verdicts: new RegExp(`^${after}no answer to after within 600ms, and it did not heed the cancellation$`),
			questions: /no answer to after within 600ms/,
			concurrency: /^of 16 calls at once 16 got no verdict: /,
			cancellation:
				/^at after: it did not end a call within 1s after \$\/cancel: answer it, with an error or a verdict$/,
		},
	],
	[
		'ignores_cancellation.py',
		{
			verdicts: new RegExp(`^${after}no answer to after within 600ms, and it did not heed the cancellation; .*:\nbusy`),
			questions: /no answer to after within 600ms/,
			concurrency: /^of 16 calls at once 16 got no verdict: /,
			cancellation: /^at after: it did not end a call within 1s after \$\/cancel/,
			// It sleeps in its only thread, and hears nothing else either.
		},
	],
	[
		'dies_while_judging.py',
		{
			verdicts: new RegExp(`^${after}its process exited with code 3; .*:\nSegmentation fault, as it were$`),
			questions: /its process exited with code 3/,
			concurrency: /its process exited with code 3/,
			cancellation: /its process exited with code 3/,
		},
	],
	[
		'reworks_before.py',
		{ verdicts: /^at before \(an ordinary one\): it said "rework", but before takes only pass, ask, fail$/ },
	],
	[
		'passes_unknown_hooks.py',
		{
			unknown_hook:
				/^asked at "before", which it does not declare, it answered \{"kind":"pass"\}; it must answer with an error$/,
		},
	],
	[
		'asks_again.py',
		{ questions: /^at after \(attempt 1, agreeing answers\): it asked "sure" again, though it was answered$/ },
	],
	[
		'loses_calls.py',
		{
			concurrency:
				/^of 16 calls at once 15 got no verdict: at after \(call 1 of 16 at once\): no answer to after within 600ms/,
		},
	],
	[
		'stays_after_shutdown.py',
		{
			shutdown: /^it was still running 1s after it was sent shutdown and its stdin was closed, and had to be killed$/,
			host_gone: /.*/,
		},
	],
	[
		'stays_without_host.py',
		{ host_gone: /^it was still running 1s after its stdin was closed, and had to be killed$/ },
	],
	[
		'forks_children.py',
		{ shutdown: /^it ended, but left processes running that it had started$/, host_gone: /left processes running/ },
	],
	[
		'forks_a_daemon.py',
		{
			shutdown: /^it ended, but left processes running that it had started and that had left its process group$/,
			host_gone: /left processes running/,
		},
	],
])('%s is caught by name', async (file, expected) => {
	const report = await suiteFor(file);
	expect(report.ok).toBe(false);
	const found = failures(report);
	expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort());
	for (const [check, words] of Object.entries(expected)) expect(found[check]).toMatch(words);
});

test('what could not be checked is said, never counted as passed', async () => {
	const { checks } = await suiteFor('exits-at-once.sh');
	const others = checks.filter(({ check }) => check !== 'starts');
	expect(new Set(others.map(({ status, words }) => `${status}: ${words}`))).toEqual(
		new Set(['skipped: could not be made, as the overlay could not be spoken to']),
	);
	const later = await suiteFor('prints_to_stdout.py');
	expect(later.checks.find(({ check }) => check === 'verdicts')).toMatchObject({
		status: 'skipped',
		words: 'could not be made: see clean_stdout',
	});
});

test('a command that is not there is told in words', async () => {
	const options = { command: ['no-such-program'], cwd: BROKEN, env: ENV, stderrPath: null };
	const report = await runSuite(processSubject(options, '0.0.0', { startMs: 1, callMs: 1, graceMs: 1 }), null);
	expect(failures(report)).toEqual({
		starts: 'it could not be started: "no-such-program" was not found on the PATH',
	});
});
