/** `sdd overlays test`: the conformance suite, against an overlay in any language. */
import type { CheckOutcome, Report } from '../../engine/conformance/checks.ts';
import type { Limits, Subject } from '../../engine/conformance/speaker.ts';
import { LIMITS, runSuite } from '../../engine/conformance/suite.ts';
import { parseDuration } from '../../engine/duration.ts';
import { EXIT, SddError } from '../../engine/errors.ts';
import type { JsonObject } from '../../engine/json.ts';
import { isProcess } from '../../engine/overlay-use.ts';
import { printable } from '../../engine/printable.ts';
import type { Arguments } from '../arguments.ts';
import { type FoundOverlay, findOverlay } from '../find-overlay.ts';
import { loadTrusted, processOptions } from '../hosts.ts';
import { endingAtOnce } from '../signals.ts';
import { asJson, type Terminal } from '../terminal.ts';
import { whereIs } from './overlays.ts';

export async function overlaysTest(terminal: Terminal, args: Arguments): Promise<number> {
	const options = optionsIn(args.value('options'));
	const limits = limitsIn(args.value('timeout'));
	const found = findOverlay(terminal, args.positionals);
	const report = await endingAtOnce(async () => runSuite(await subjectOf(terminal, found, limits), options));
	const where = whereIs(found);
	terminal.out(args.has('json') ? asJson({ overlay: where, ...report }) : reportText(report, where));
	return report.ok ? EXIT.done : EXIT.failed;
}

function optionsIn(text: string | null): JsonObject | null {
	if (text === null) return null;
	try {
		const value = JSON.parse(text) as unknown;
		if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
	} catch {
		// Said below, with what is wanted.
	}
	throw wrongUse('--options needs a JSON object', `for example --options '{"allow": ["MIT"]}'`);
}

function limitsIn(text: string | null): Limits {
	if (text === null) return LIMITS;
	const callMs = parseDuration(text);
	if (callMs === undefined || callMs === 0) {
		throw wrongUse(`--timeout needs a duration, not ${JSON.stringify(text.slice(0, 40))}`, 'for example --timeout 30s');
	}
	return { ...LIMITS, callMs };
}

function wrongUse(what: string, remedy: string): SddError {
	return new SddError('CLI_USAGE', `sdd overlays test: ${what}`, remedy);
}

async function subjectOf(terminal: Terminal, found: FoundOverlay, limits: Limits): Promise<Subject> {
	const { moduleSubject } = await import('../../engine/conformance/module-subject.ts');
	if (found.kind === 'builtin') return moduleSubject(found.definition, limits);
	const project = terminal.project();
	if (!isProcess(found.use)) {
		const loaded = await loadTrusted(terminal, project, found.use);
		return 'error' in loaded ? unusable(loaded.error) : moduleSubject(loaded, limits);
	}
	const [{ processSubject }, { connectOptions }] = [
		await import('../../engine/conformance/process-subject.ts'),
		await import('../../engine/hosts/process-host.ts'),
	];
	const connect = connectOptions(await processOptions(terminal, project, {}), found.use);
	if ('error' in connect) return unusable(`${connect.error}; ${connect.remedy}`);
	return processSubject(connect, terminal.version, limits);
}

/** One that cannot even be started. */
function unusable(words: string): Subject {
	return {
		place: 'module',
		open: async () => ({ ok: false, problem: { check: 'starts', words } }),
		trials: {},
		stray: () => null,
		close: async () => {},
	};
}

function reportText({ name, checks }: Report, where: string): string {
	const title = name === null ? where : `${name} (${where})`;
	const count = (status: CheckOutcome['status']): string =>
		`${checks.filter((one) => one.status === status).length} ${status}`;
	const lines = checks.flatMap(outcomeLines);
	return printable(
		`${[title, ...lines, [count('passed'), count('failed'), count('skipped')].join(', ')].join('\n')}\n`,
	);
}

function outcomeLines({ check, about, status, words }: CheckOutcome): readonly string[] {
	const head = `  ${MARKS[status]}  ${check.padEnd(14)}  ${status === 'skipped' ? `${about}: ${words}` : about}`;
	if (status !== 'failed' || words === null) return [head];
	return [head, ...words.split('\n').map((line) => `           ${line}`)];
}

const MARKS = { passed: 'ok     ', failed: 'FAILED ', skipped: 'skipped' } as const;
