import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../engine/json.ts';
import { redactor } from '../../engine/store/redact.ts';

const redact = redactor([]);

/** Put together here, so that no scanner takes this file for one that leaks. */
const fake = {
	openai: `sk-${'proj-A1b2C3d4'.repeat(3)}`,
	github: `ghp_${'a1B2c3D4e5'.repeat(4)}`,
	fineGrained: `github_pat_${'11ABCDEFG0'.repeat(4)}`,
	aws: `AKIA${'ABCDEFGH12345678'}`,
	slack: `xoxb-${'123456789012-abcdef'}`,
	google: `AIza${'SyA-1234567890abcdefghijklmnopqrstu'}`,
	gitlab: `glpat-${'abcDEF123456_-xyzABC'}`,
	npm: `npm_${'a1B2c3D4e5'.repeat(4)}`,
	stripe: `sk_live_${'a1B2c3D4e5f6G7h8'}`,
	jwt: `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${'dozjgNryP4J3jVmNHl0w5N'}`,
};

describe('the redactor', () => {
	it.each(Object.entries(fake))('takes out a key of the kind %s', (_, secret) => {
		expect(redact.text(`use ${secret}, please`)).toBe('use [redacted], please');
		expect(redact.text(secret)).toBe('[redacted]');
	});

	it('takes out bearer tokens and keeps the word', () => {
		expect(redact.text('Authorization: Bearer abcDEF1234567890xyz')).toBe('Authorization: Bearer [redacted]');
	});

	it('takes out private keys, whole or cut off', () => {
		const body = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQ==\n';
		const block = `-----BEGIN RSA PRIVATE KEY-----\n${body}-----END RSA PRIVATE KEY-----`;
		expect(redact.text(`a\n${block}\nb`)).toBe('a\n[redacted]\nb');
		expect(redact.text(`a\n-----BEGIN PRIVATE KEY-----\n${body}`)).toBe('a\n[redacted]');
	});

	it.each([
		['password=hunter22', 'password=[redacted]'],
		['DB_PASSWORD=hunter22 other=1', 'DB_PASSWORD=[redacted] other=1'],
		['{"api_key": "abc123def"}', '{"api_key": "[redacted]"}'],
		['{\\"token\\": \\"abc123def\\"}', '{\\"token\\": \\"[redacted]\\"}'],
		["secret = 'x9-y8-z7'", "secret = '[redacted]'"],
		['password: hunter22', 'password: [redacted]'],
		['postgres://app:s3cret!@db/x', 'postgres://app:[redacted]@db/x'],
		['curl https://x/?token=abc123def&b=1', 'curl https://x/?token=[redacted]&b=1'],
	])('takes out what is assigned to a secret: %s', (text, clean) => {
		expect(redact.text(text)).toBe(clean);
	});

	it('takes out exact values, also where they are escaped, and the longer of two that overlap', () => {
		const { text } = redactor(['quo"te-1', 'abcdef', 'abcdefgh', 'short']);
		expect(text('x abcdefgh y abcdef z')).toBe('x [redacted] y [redacted] z');
		expect(text(JSON.stringify({ a: 'quo"te-1' }))).toBe('{"a":"[redacted]"}');
		expect(text('a short word')).toBe('a short word');
	});

	it.each([
		'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
		'The token is refreshed when the password has expired; see the secret section.',
		'password: must have eight characters',
		'const token = await fetchToken(secret);',
		'if (password === other.password) return token;',
		'max_tokens=100000 token=self.token',
		'risk-sk-assessment and ask-someone',
		'commit 1f3a9c0 by ann: tokenizer: fix lexer',
		'bearer of good news',
		'see https://example.org:8080/path@2x',
		'if (text.startsWith("-----BEGIN PRIVATE KEY-----")) refuse();',
		'20261118-084002-a1b2c3',
	])('leaves alone: %s', (text) => {
		expect(redact.text(text)).toBe(text);
	});

	it('leaves its own work alone', () => {
		const once = redact.text(`password=hunter22 token: ${fake.github} api_key="${fake.openai}"`);
		expect(redact.text(once)).toBe(once);
	});

	it('leaves the source of this project alone', () => {
		for (const name of ['durable', 'journal-writer', 'hil-store', 'run-lock', 'redact']) {
			const source = readFileSync(new URL(`../../engine/store/${name}.ts`, import.meta.url), 'utf8');
			expect(redact.text(source)).toBe(source);
		}
	});

	it('goes through a JSON value, and returns the same object where there is nothing to do', () => {
		const clean = { a: ['b', 1, null, { c: true }] };
		expect(redact.value(clean)).toBe(clean);
		const dirty = { a: ['b', `x ${fake.aws}`], c: { d: 1 } };
		const result = redact.value(dirty);
		expect(result).toEqual({ a: ['b', 'x [redacted]'], c: { d: 1 } });
		expect(result.c).toBe(dirty.c);
		expect(dirty.a[1]).toContain(fake.aws);
	});

	it('survives a value nested beyond reason', () => {
		let deep: Json = 'x';
		for (let i = 0; i < 100_000; i++) deep = [deep];
		expect(() => redact.value(deep)).not.toThrow();
	});

	it.each([
		['sk-'],
		['eyJ'],
		['eyJaaaaaaaa.'],
		['token='],
		['token=a,'],
		['password: '],
		['"secret":"'],
		['://a:'],
		['://'],
		['bearer '],
		['-----BEGIN PRIVATE KEY-----'],
		['-----BEGIN '],
		['secret_access_key'],
		['AKIA'],
		['ghp_aaaa'],
		['a'],
		[' '],
	])('does not choke on a megabyte of %j', { timeout: 10_000 }, (piece) => {
		const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
		// Quadratic time would be minutes, and end in a timeout.
		expect(redact.text(`${text} password=hunter22`)).toMatch(/\[redacted\]$/);
	});
});
