/**
 * Stands in for a coding agent: reads its brief from stdin and writes files. Its first attempt has a bug; once the
 * brief carries feedback about the hyphens at the ends, it repairs it.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const brief = readFileSync(0, 'utf8');

const draft = `/** The last part of a web address, made from a title. */
export function slug(title) {
	return title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}
`;

const repaired = `/** The last part of a web address, made from a title. */
export function slug(title) {
	return title
		.toLowerCase()
		.replaceAll(/[^a-z0-9]+/g, '-')
		.replaceAll(/^-|-$/g, '');
}
`;

if (process.env.SDD_TASK_ID === 'document') {
	writeFileSync('.quickstart/README.md', "# slug\n\n`slug('Hello World')` gives `hello-world`.\n");
	console.log('wrote .quickstart/README.md');
} else {
	const isToldOfTheBug = brief.includes('ready-steady-go');
	writeFileSync('.quickstart/slug.mjs', isToldOfTheBug ? repaired : draft);
	console.log(isToldOfTheBug ? 'trimmed the hyphens that the review found' : 'wrote .quickstart/slug.mjs');
}
