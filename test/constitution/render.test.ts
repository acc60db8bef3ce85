import { expect, it } from 'vitest';
import { constitutionJson, renderConstitution } from '../../constitution/render.ts';
import { SddError } from '../../engine/errors.ts';

const merged = {
	sections: { Purpose: 'Ship it.', Standards: '- a\n- b\u001b[31m' },
	sources: { Purpose: ['constitution.md'], Standards: ['built-in defaults', 'src/constitution.md'] },
};

it('every section is printed with its sources, without escape sequences', () => {
	expect(renderConstitution(merged)).toBe(
		'## Purpose\n(from constitution.md)\n\nShip it.\n\n' +
			'## Standards\n(from built-in defaults < src/constitution.md)\n\n- a\n- b',
	);
});

it('one section can be asked for, whatever the case of its letters', () => {
	expect(renderConstitution(merged, { section: 'purpose ' })).toBe('## Purpose\n(from constitution.md)\n\nShip it.');
});

it('as JSON there is one entry a section', () => {
	expect(constitutionJson(merged, { section: 'Purpose' })).toEqual({
		sections: [{ heading: 'Purpose', text: 'Ship it.', sources: ['constitution.md'] }],
	});
});

it.each([
	['standrads', 'did you mean "Standards"?'],
	['history', 'there are Purpose, Standards'],
])('a section that is not there (%s) is told with a remedy', (section, remedy) => {
	const ask = () => renderConstitution(merged, { section });
	expect(ask).toThrow(SddError);
	expect(ask).toThrow(`the constitution has no section "${section}"`);
	expect(ask).toThrow(expect.objectContaining({ code: 'CLI_USAGE', remedy }));
});
