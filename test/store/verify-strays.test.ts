/** What no journal explains is named; what cannot be read does not hide the rest. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
	archivedLogFile,
	briefFile,
	headsFile,
	itemFile,
	journalDir,
	logFile,
	planFile,
	reportFile,
	runDir,
	runsDir,
	stateDir,
	workflowStateFile,
} from '../../engine/store/layout.ts';
import { segmentPath } from '../../engine/store/segments.ts';
import { type VerifyOptions, verifyAll, verifyRun } from '../../engine/store/verify.ts';
import { finishedRun, notesOf, problemsOf, RUN, record, STATE } from './audited.ts';
import { said, temporaryFolders } from './rig.ts';

const newFolder = temporaryFolders();
const LOG = `${JSON.stringify({ run_id: RUN, overlay: 'gate' })}\n`;

function put(path: string, text: string = LOG): void {
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, text);
}

/** A finished run of which one log lies in its place. */
async function logged(): Promise<{ readonly project: string; readonly options: VerifyOptions }> {
	const project = await finishedRun(newFolder());
	const path = logFile(project, 'logs', 'implement');
	put(path);
	return { project, options: { views: (_, run) => (run === RUN ? [{ path, expected: LOG }] : []) } };
}

const unexplained = (file: string) => `stray ${STATE}/${file}: the journal of run ${RUN} does not explain it`;
const unowned = (file: string) => `stray ${STATE}/${file}: no run wrote this: it does not say of which run it is`;

describe('a log that no journal explains', () => {
	it('is named, in whatever folder of logs and under whatever name', async () => {
		const { project, options } = await logged();
		expect(problemsOf(verifyAll(project, options))).toEqual([]);
		put(logFile(project, 'logs', 'other'));
		put(logFile(project, 'new-logs', 'implement'));
		put(archivedLogFile(project, 'logs', RUN, 'implement'));
		put(join(stateDir(project), 'logs/archive/x.json'));
		put(join(stateDir(project), 'logs/notes.txt'), 'hello');
		put(join(stateDir(project), 'logs/folder/x.json'));
		symlinkSync(join(stateDir(project), 'new-logs'), join(stateDir(project), 'linked'));
		expect(problemsOf(verifyAll(project, options))).toEqual([
			unexplained('linked/implement.json'),
			unexplained(`logs/archive/${RUN}/implement.json`),
			unexplained('logs/archive/x.json'),
			unowned('logs/folder'),
			unowned('logs/notes.txt'),
			unexplained('logs/other.json'),
			unexplained('new-logs/implement.json'),
		]);
	});

	it('is named by the audit of one run if it says that it is of that run', async () => {
		const { project, options } = await logged();
		await record(project, [said('a')], undefined, 'run-2');
		put(logFile(project, 'logs', 'other'));
		put(logFile(project, 'logs', 'broken'), '{');
		expect(problemsOf(verifyRun(project, RUN, options))).toEqual([unexplained('logs/other.json')]);
		expect(problemsOf(verifyRun(project, 'run-2', options))).toEqual([]);
	});

	it('is only noted where it cannot be told what the overlay kept', async () => {
		const { project, options } = await logged();
		put(logFile(project, 'gates', 'implement'));
		const result = verifyAll(project, { ...options, whyUnknown: (run, overlay) => `${run} ${overlay}` });
		expect(problemsOf(result)).toEqual([]);
		expect(notesOf(result)).toEqual([
			`${STATE}/gates/implement.json: it was not compared with the journal: ${RUN} gate`,
		]);
	});

	it('is not blamed on a run whose journal is damaged', async () => {
		const { project, options } = await logged();
		put(logFile(project, 'logs', 'other'));
		writeFileSync(segmentPath(journalDir(project, RUN), 1), '{}\n');
		expect(problemsOf(verifyAll(project, options)).filter((one) => one.startsWith('stray'))).toEqual([]);
	});

	it('is nothing that a killed process left, nor a report', async () => {
		const { project, options } = await logged();
		put(join(stateDir(project), 'logs/.tmp-123-abcdefghij'), 'half');
		put(join(stateDir(project), 'logs/.DS_Store'), '');
		put(reportFile(project, 'implement'), '# implement');
		const result = verifyAll(project, options);
		expect(problemsOf(result)).toEqual([]);
		expect(notesOf(result)).toEqual([
			`${STATE}/logs/.DS_Store: this is not a log, and sdd did not write it`,
			`${STATE}/logs/.tmp-123-abcdefghij: a process that was killed left this file behind; it can be removed`,
		]);
	});
});

describe('what names a run that is missing', () => {
	it('is named, though neither runs nor heads are left', async () => {
		const { project, options } = await logged();
		put(workflowStateFile(project));
		rmSync(runsDir(project), { recursive: true });
		rmSync(headsFile(project));
		expect(problemsOf(verifyAll(project, options))).toEqual([
			`hil ${STATE}/hil/hil-1.json: the run ${RUN} that asked it is missing`,
			`stray ${STATE}/workflow-state.json: it is of run ${RUN}, which is missing`,
			`stray ${STATE}/logs/implement.json: it is of run ${RUN}, which is missing`,
		]);
	});

	it('is named once for each file, beside the heads', async () => {
		const { project, options } = await logged();
		rmSync(runDir(project, RUN), { recursive: true });
		expect(problemsOf(verifyAll(project, options)).map((one) => one.split(' ')[0])).toEqual(['head', 'hil', 'stray']);
	});
});

describe('what cannot be read is one problem among the others:', () => {
	const replaced: readonly (readonly [string, (project: string) => string, string])[] = [
		['a view', (project) => logFile(project, 'logs', 'implement'), 'view'],
		['the heads', headsFile, 'head'],
		['the plan', (project) => planFile(project, RUN), 'plan'],
		['a brief', (project) => briefFile(runDir(project, RUN), 'a'.repeat(64)), 'brief'],
		['an item', (project) => itemFile(project, 'hil-1'), 'hil'],
		['a segment', (project) => segmentPath(journalDir(project, RUN), 1), 'journal'],
	];

	it.each(replaced)('%s that is a folder', async (_, pathIn, kind) => {
		const { project, options } = await logged();
		put(logFile(project, 'logs', 'broken'), '{');
		const path = pathIn(project);
		rmSync(path, { force: true });
		mkdirSync(path);
		const said = problemsOf(verifyAll(project, options));
		expect(said.some((one) => one.startsWith(`${kind} `))).toBe(true);
		expect(said).toContain(unowned('logs/broken.json'));
	});

	it('a folder of logs that is a file', async () => {
		const { project, options } = await logged();
		rmSync(dirname(logFile(project, 'logs', 'implement')), { recursive: true });
		put(join(stateDir(project), 'logs'), '');
		expect(problemsOf(verifyAll(project, options))).toEqual([
			expect.stringMatching(/^view .*logs\/implement\.json: cannot read .*: a file is in the way of a folder/),
		]);
	});
});
