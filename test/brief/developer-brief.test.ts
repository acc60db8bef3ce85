import { describe, expect, it } from 'vitest';
import builtIn from '../../engine/brief/developer.hbs';
import { type DeveloperFacts, developerBrief, sampleData } from '../../engine/brief/developer-brief.ts';
import { tryTemplate } from '../../engine/brief/render.ts';

const facts: DeveloperFacts = {
	template: null,
	persona: null,
	task: {
		id: 'implement',
		description: 'Implement the login flow',
		acceptanceCriteria: ['invalid passwords are refused', 'tests pass\non Node 20'],
		inputs: ['docs/auth.md'],
		outputs: ['src/auth.ts'],
		stopMarkers: [],
	},
	constitution: { Purpose: 'A shop.\n', Standards: '- no any', Empty: ' ' },
	attempt: 1,
	maxAttempts: 5,
	feedback: null,
	failedChecks: [],
	amendments: [],
};

function brief(more: Partial<DeveloperFacts> = {}): string {
	return developerBrief({ ...facts, nonce: 'n0', ...more });
}

const check = { name: 'tests', kind: 'tests', required: true, ok: false, exit: 1, output: '1 failed', ms: 5 };

describe('a template of the project', () => {
	const tried = (text: string) => () => tryTemplate('mine.hbs', text, sampleData());

	it.each([
		['{{nope}}', '"nope" is not defined'],
		['\n{{#if feedbak}}x{{/if}}', 'line 2: "feedbak" is not defined'],
		['{{task.ide}}', '"task.ide" is not defined'],
		['{{#unless task.constructor}}x{{/unless}}', '"task.constructor" is not defined'],
		['{{#each constitution}}{{title}}{{/each}}', '"title" is not defined'],
		['{{#each task.outputs}}{{path}}{{/each}}', '"path" is not defined'],
		['{{#if attempt}}{{else}}{{nope}}{{/if}}', '"nope" is not defined'],
		['{{#with task}}{{feedback}}{{/with}}', '"feedback" is not defined'],
		['{{#each checks}}{{../nope}}{{/each}}', '"../nope" is not defined'],
		['{{json nope}}', '"nope" is not defined'],
		['{{^feedback}}{{nope}}{{/feedback}}', '"nope" is not defined'],
		['{{#each checks as |one|}}{{one}}{{../nope}}{{/each}}{{one}}', '"../nope" is not defined'],
		['{{indent 2 (lookup task nope)}}', '"nope" is not defined'],
	])('that asks for what is never there is found before it is used: %j', (text, message) => {
		expect(tried(text)).toThrow(message);
	});

	it.each([
		'{{task.id}} {{attempt}} of {{max_attempts}}, {{remaining}} {{last_but_one}} {{rework}} {{nonce}}',
		'{{#if guidance}}{{guidance}}{{else if feedback}}{{feedback}}{{/if}}',
		'{{#each constitution}}{{heading}}{{text}}{{@index}}{{../task.id}}{{/each}}',
		'{{#each files}}{{this}}{{/each}}{{#each task.outputs as |path|}}{{path}}{{/each}}{{task.outputs.[3]}}',
		'{{#with task}}{{id}}{{#each inputs}}{{.}}{{/each}}{{/with}}{{#each task}}{{@key}}{{this}}{{/each}}',
		'{{#each checks}}{{this}}{{/each}}{{#each stop_markers}}{{this}}{{/each}}{{#each amendments}}{{this}}{{/each}}',
		'{{json task}}{{indent 2 task.description}}{{lookup task "id"}}',
		'{{^feedback}}nothing was said in attempt {{attempt}}{{/feedback}}{{#if attempt}}{{else}}x{{/if}}',
		'{{#each constitution as |part|}}{{part.heading}}{{text}}{{#each ../files}}{{part.text}}{{this}}{{/each}}{{/each}}',
	])('may ask for all that there is: %j', (text) => {
		expect(tried(text)).not.toThrow();
	});

	it('has every name that the built-in one uses', () => {
		expect(tried(builtIn)).not.toThrow();
	});
});

describe('the first brief', () => {
	it('is the task and what the project asks of everyone', () => {
		expect(brief()).toBe(`# Task: implement

Implement the login flow

## Acceptance criteria

- invalid passwords are refused
- tests pass
  on Node 20

## Inputs

These are in your working directory. Read them before you start.

- docs/auth.md

## Outputs

Leave these behind, at exactly these paths in your working directory. The task is judged by them.

- src/auth.ts

# The project's constitution

## Purpose

A shop.

## Standards

- no any
`);
	});

	it('leaves out what there is none of', () => {
		const task = { id: 't', description: 'Do.', acceptanceCriteria: [], inputs: [], outputs: [], stopMarkers: [] };
		expect(brief({ task, constitution: {} })).toBe('# Task: t\n\nDo.\n');
	});

	it('begins with the persona, byte for byte', () => {
		const persona = '  You are {{odd}} <b>\n\n\tand & so.\r\n ';
		expect(brief({ persona })).toBe(`${persona}\n\n${brief()}`);
	});

	it('holds what overlays added', () => {
		expect(brief({ amendments: ['Mind the gap.', 'And this.'] })).toContain('## Notes\n\nMind the gap.\n\nAnd this.\n');
	});

	it('tells how to stop, if there is a way', () => {
		const text = brief({ task: { ...facts.task, stopMarkers: ['BLOCKED', 'NEED_HELP'] } });
		expect(text).toContain('write `BLOCKED` or `NEED_HELP` on a line of its own');
	});

	it('may come from the project’s own template', () => {
		const template = '{{task.id}} {{attempt}}/{{max_attempts}}{{#each task.outputs}} {{this}}{{/each}}';
		expect(brief({ template })).toBe('implement 1/5 src/auth.ts\n');
	});
});

describe('the brief for rework', () => {
	it('holds the feedback word for word, fenced as somebody else’s words', () => {
		const feedback = '1. `{{x}}` leaks\n\n  2. <b>no</b> tests ';
		const text = brief({ attempt: 2, feedback });
		expect(text).toContain(`<<<data-n0 feedback\n${feedback}\ndata-n0>>>`);
		expect(text).toContain('# Rework: attempt 2 of 5\n');
		expect(text).toContain('After this attempt there are 3 more.\n');
	});

	it('says when one attempt or none is left', () => {
		expect(brief({ attempt: 4, feedback: 'x' })).toContain('After this attempt there is 1 more.\n');
		expect(brief({ attempt: 5, feedback: 'x' })).toContain('This is the last attempt.\n');
	});

	it('shows the failed checks and not the others', () => {
		const passed = { ...check, name: 'lint', ok: true, exit: 0, output: 'fine' };
		const stuck = { ...check, name: 'slow', required: false, exit: null, output: 'stuck' };
		const text = brief({ attempt: 2, failedChecks: [check, passed, stuck] });
		expect(text).toContain('<<<data-n0 output of tests (exit 1, required)\n1 failed\ndata-n0>>>');
		expect(text).toContain('<<<data-n0 output of slow (did not finish)\nstuck\ndata-n0>>>');
		expect(text).not.toContain('lint');
	});

	it('gives a person’s guidance as an instruction, outside any fence', () => {
		expect(brief({ attempt: 2, guidance: 'Use bcrypt.' })).toContain('## Guidance from a person\n\nUse bcrypt.\n');
	});

	it('names the only files a fixer may change', () => {
		expect(brief({ attempt: 2, feedback: 'x', files: ['a.ts', 'b.ts'] })).toContain(
			'Change only these files:\n\n- a.ts\n- b.ts\n',
		);
	});

	it('has another mark each time', () => {
		const marks = [1, 2].map(
			() => /data-[0-9a-z]{21}/.exec(developerBrief({ ...facts, attempt: 2, feedback: 'x' }))?.[0],
		);
		expect(marks[0]).toBeDefined();
		expect(marks[0]).not.toBe(marks[1]);
	});
});
