import { isAbsolute, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as layout from '../../engine/store/layout.ts';
import { errorOf } from './rig.ts';

const SHA = 'a'.repeat(64);

describe('the layout', () => {
	it('puts everything below .ai-sdd/state', () => {
		const shown = (path: string) => relative('/p', path);
		expect(shown(layout.journalDir('/p', 'run-1'))).toBe('.ai-sdd/state/runs/run-1/journal');
		expect(shown(layout.planFile('/p', 'run-1'))).toBe('.ai-sdd/state/runs/run-1/plan.json');
		expect(shown(layout.briefFile(layout.runDir('/p', 'run-1'), SHA))).toBe(
			`.ai-sdd/state/runs/run-1/briefs/${SHA}.md`,
		);
		expect(shown(layout.workflowStateFile('/p'))).toBe('.ai-sdd/state/workflow-state.json');
		expect(shown(layout.logFile('/p', 'review-logs', 'implement'))).toBe('.ai-sdd/state/review-logs/implement.json');
		expect(shown(layout.archivedLogFile('/p', 'review-logs', 'run-1', 'implement'))).toBe(
			'.ai-sdd/state/review-logs/archive/run-1/implement.json',
		);
		expect(shown(layout.reportFile('/p', 'implement'))).toBe('.ai-sdd/state/reports/implement.md');
		expect(shown(layout.itemFile('/p', 'hil-1'))).toBe('.ai-sdd/state/hil/hil-1.json');
		expect(shown(layout.resolutionFile('/p', 'hil-1'))).toBe('.ai-sdd/state/hil/hil-1.resolution.json');
		expect(shown(layout.ackFile('/p', 'hil-1'))).toBe('.ai-sdd/state/hil/hil-1.ack.json');
		expect(shown(layout.headsFile('/p'))).toBe('.ai-sdd/state/heads.ndjson');
		expect(shown(layout.lockDir('/p'))).toBe('.ai-sdd/state/run.lock');
		expect(shown(layout.holderFile('/p'))).toBe('.ai-sdd/state/run.holder.json');
	});

	const BAD = [
		'',
		'.',
		'..',
		'../x',
		'a/b',
		'a\\b',
		'/etc',
		'A',
		'ä',
		'a.b',
		'a\0',
		'a\n',
		'-a',
		'_a',
		'a'.repeat(300),
	];

	it.each(BAD)('lets no id lead outside: %j', (id) => {
		const makers = [
			() => layout.runDir('/p', id),
			() => layout.logFile('/p', 'review-logs', id),
			() => layout.logDir('/p', id),
			() => layout.archivedLogFile('/p', 'review-logs', id, 'implement'),
			() => layout.reportFile('/p', id),
			() => layout.itemFile('/p', id),
			() => layout.resolutionFile('/p', id),
			() => layout.ackFile('/p', id),
			() => layout.briefFile('/p', id),
		];
		for (const make of makers) expect(errorOf(make).code).toBe('STORE_BAD_ID');
	});

	it('says which id is wrong and what ids look like', () => {
		const error = errorOf(() => layout.runDir('/p', '../x'));
		expect(error.message).toBe('"../x" is not a valid run id');
		expect(error.remedy).toBe(
			'ids are lower-case letters, digits, "-" and "_", beginning with a letter or digit, 64 characters at most',
		);
		expect(error.exit).toBe(2);
	});

	it('keeps the logs of overlays out of its own folders', () => {
		for (const own of ['runs', 'hil', 'reports'])
			expect(errorOf(() => layout.logDir('/p', own)).code).toBe('STORE_BAD_ID');
		expect(isAbsolute(layout.logDir('/p', 'pair-logs'))).toBe(true);
		expect(layout.stateDir('/p')).toBe(join('/p', '.ai-sdd', 'state'));
	});
});
