/** The conformance suite: one list of checks for overlays in any language. Loads ajv: reach it by `await import()`. */
import type { OverlayDefinition } from '../contract.ts';
import type { JsonObject } from '../json.ts';
import { problemWithSchema, validateOptions } from '../workflow/validate-options.ts';
import { CHECKS, type CheckName, type CheckOutcome, type Problem, type Report } from './checks.ts';
import { exampleOptions } from './example-options.ts';
import type { About, Limits, Subject } from './speaker.ts';
import { type Skipped, TRIALS, type Trial } from './trials.ts';

/** How long an overlay under test may take. */
export const LIMITS: Limits = { startMs: 5000, callMs: 10_000, graceMs: 2000 };

/** Makes every check; `given` are the options to consult it with, or null to make some up. */
export async function runSuite(subject: Subject, given: JsonObject | null): Promise<Report> {
	const book = openBook();
	try {
		const about = await introduce(subject, book);
		if (about !== null) await examine(subject, about, given, book);
		return { name: about?.name ?? null, ...book.report(about !== null) };
	} finally {
		await subject.close();
	}
}

/** Starts it for the first time; null if it cannot be spoken to. */
async function introduce(subject: Subject, book: Book): Promise<About | null> {
	const opened = await subject.open();
	if (!opened.ok) {
		book.failed(opened.problem);
		return null;
	}
	await opened.speaker.close();
	book.passed('starts');
	book.passed('handshake');
	return opened.speaker.about;
}

async function examine(subject: Subject, about: About, given: JsonObject | null, book: Book): Promise<void> {
	const options = given ?? exampleOptions(about.options);
	book.note('options_schema', problemWithOptions(about, options, given !== null));
	for (const check of Object.keys(CHECKS) as CheckName[]) {
		const own = subject.trials[check];
		const common = TRIALS[check];
		if (own !== undefined) book.note(check, await own());
		else if (common !== undefined) book.note(check, await onFresh(subject, options, common));
	}
	const stray = subject.stray();
	if (stray !== null) book.failed({ check: 'clean_stdout', words: stray });
	book.passed('clean_stdout');
	if (subject.place === 'process') return book.passed('one_answer');
	for (const check of ['version', 'one_answer', 'shutdown', 'host_gone'] as const) {
		book.note(check, { skipped: 'only for overlays in a process of their own' });
	}
}

function problemWithOptions({ name, options: schema }: About, options: JsonObject, isGiven: boolean): Problem | null {
	const wrong = problemWithSchema(schema);
	if (wrong !== null) return { check: 'options_schema', words: `its options are no JSON Schema: ${wrong}` };
	const definition = { name, options: schema } as OverlayDefinition;
	const [first] = validateOptions(definition, options);
	if (first === undefined) return null;
	const told = `${first.message} (${JSON.stringify(options)})`;
	const words = isGiven
		? `the options that were given do not fit its schema: ${told}`
		: `no options could be made up that fit its schema; give some with --options: ${told}`;
	return { check: 'options_schema', words };
}

async function onFresh(
	subject: Subject,
	options: JsonObject,
	run: (trial: Trial) => Promise<Problem | Skipped | null>,
): Promise<Problem | Skipped | null> {
	const opened = await subject.open();
	if (!opened.ok) return opened.problem;
	try {
		return await run({ speaker: opened.speaker, options });
	} finally {
		await opened.speaker.close();
	}
}

/** What is known of each check so far; what was said first stands. */
interface Book {
	passed(check: CheckName): void;
	failed(problem: Problem): void;
	/** How the trial of a check came out; it may have shown that another one fails. */
	note(check: CheckName, result: Problem | Skipped | null): void;
	report(isKnown: boolean): Omit<Report, 'name'>;
}

function openBook(): Book {
	const outcomes = new Map<CheckName, Omit<CheckOutcome, 'check' | 'about'>>();
	const write = (check: CheckName, status: CheckOutcome['status'], words: string | null): void => {
		if (!outcomes.has(check)) outcomes.set(check, { status, words });
	};
	const failed = ({ check, words }: Problem): void => {
		// That it started once does not mean that it starts.
		if (outcomes.get(check)?.status === 'passed') outcomes.delete(check);
		write(check, 'failed', words);
	};
	return {
		passed: (check) => write(check, 'passed', null),
		failed,
		note(check, result) {
			if (result === null) return write(check, 'passed', null);
			if ('skipped' in result) return write(check, 'skipped', result.skipped);
			failed(result);
			if (result.check !== check) write(check, 'skipped', `could not be made: see ${result.check}`);
		},
		report(isKnown) {
			const why = isKnown ? 'could not be made' : 'could not be made, as the overlay could not be spoken to';
			const checks = (Object.keys(CHECKS) as CheckName[]).map((check) => {
				const outcome = outcomes.get(check) ?? { status: 'skipped' as const, words: why };
				return { check, about: CHECKS[check], ...outcome };
			});
			return { ok: checks.every(({ status }) => status !== 'failed'), checks };
		},
	};
}
