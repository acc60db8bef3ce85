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

it('a variable whose name says that it is secret is one, unless its value is a common word', () => {
	const secret = {
		NPM_TOKEN: 'npm-4711-x',
		api_key: 'Sesame-123',
		DB_PASSWORD: 'pass word 1',
		PGPASSWORD: 'pg-4711-x',
		CLIENT_SECRET: 'c0ffee-c0ffee',
		GOOGLE_CREDENTIALS: '{"a": 1}',
	};
	const others = {
		MONKEY: 'see-no-evil-1',
		KEYBOARD: 'de-latin1-nodeadkeys',
		ADMIN_PASSWORD: 'postgres',
		TEST_TOKEN: 'short-1',
		EMPTY_KEY: '',
		TOKENS: 'a-list-of-them',
		GONE_KEY: undefined,
	};
	expect(secretsOf([], { ...secret, ...others })).toEqual(Object.values(secret));
});
