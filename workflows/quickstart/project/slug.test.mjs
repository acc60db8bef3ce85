import assert from 'node:assert/strict';
import test from 'node:test';
import { slug } from './slug.mjs';

test('words are joined by hyphens, in lower case', () => {
	assert.equal(slug('Hello World'), 'hello-world');
});

test('punctuation leaves no hyphen at either end', () => {
	assert.equal(slug('  Ready? Steady. Go!  '), 'ready-steady-go');
});
