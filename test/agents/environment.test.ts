import { expect, it } from 'vitest';
import { agentEnvironment, secretsOf } from '../../agents/environment.ts';

const parent = {
	PATH: '/bin',
	TZ: 'UTC',
	AWS_KEY: 'aws-key',
	AWS_ID: 'aws-id',
	TOKEN: 'token',
	NODE_OPTIONS: '-x',
	GONE: undefined,
};

it('without an allow-list an agent gets the basic variables only', () => {
	expect(agentEnvironment({ env: [] }, parent, {})).toEqual({ PATH: '/bin', TZ: 'UTC', SDD_AGENT: '1' });
});

it('an allow-list names variables, and a trailing * stands for the rest of a name', () => {
	expect(agentEnvironment({ env: ['AWS_*', 'TOK', 'GONE'] }, parent, {})).toEqual({
		PATH: '/bin',
		TZ: 'UTC',
		AWS_KEY: 'aws-key',
		AWS_ID: 'aws-id',
		SDD_AGENT: '1',
	});
});

it('SDD_* variables are those of this run, whatever is allowed', () => {
	const outer = { SDD_RUN_ID: 'outer', SDD_REVIEW_ID: 'outer', SDD_AGENT: '0' };
	expect(agentEnvironment({ env: ['*'] }, outer, { SDD_RUN_ID: 'inner' })).toEqual({
		SDD_RUN_ID: 'inner',
		SDD_AGENT: '1',
	});
});

it('secrets are the values of what agents are allowed beyond the basic variables', () => {
	expect(secretsOf([{ env: ['AWS_*'] }, { env: ['TOKEN', 'AWS_ID'] }], parent)).toEqual(['aws-key', 'aws-id', 'token']);
	expect(secretsOf([{ env: ['*'] }], { PATH: '/bin', HOME: '/home/x', A: 'same', B: 'same' })).toEqual(['same']);
	expect(secretsOf([{ env: [] }], parent)).toEqual([]);
});
