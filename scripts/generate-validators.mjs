/**
 * Compiles the schemas into validators ahead of time, so that nobody pays for a schema compiler at start-up.
 *
 *   generated/validators.mjs       workflow, config, agent; stops at the first error: the usual way
 *   generated/validators-all.mjs   the same, every error: used once something is known to be wrong
 *   generated/verdict.mjs          what an overlay returned
 *   generated/workflow.schema.json for editors
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ajvModule from 'ajv';
import standaloneModule from 'ajv/dist/standalone/index.js';
import { rolldown } from 'rolldown';

const { Ajv } = ajvModule;
const standaloneCode = standaloneModule.default;
const root = fileURLToPath(new URL('..', import.meta.url));
const generated = join(root, 'generated');

await generate();

async function generate() {
	mkdirSync(generated, { recursive: true });
	const { workflow, config: ownConfig, verdict } = await schemas();
	const config = sharing(ownConfig, 'workflow');
	const agent = { $ref: 'workflow#/definitions/agent' };
	write('validators.mjs', compile({ workflow, config, agent }, false));
	write('validators-all.mjs', compile({ workflow, config, agent }, true));
	write('verdict.mjs', compile({ verdict }, false));
	write('validators.d.mts', types(['workflow', 'config', 'agent']));
	write('validators-all.d.mts', types(['workflow', 'config', 'agent']));
	write('verdict.d.mts', types(['verdict']));
	write('workflow.schema.json', `${JSON.stringify(workflow, null, 2)}\n`);
}

/** The schemas live in TypeScript beside templates that are text; a bundle is what plain Node can import. */
async function schemas() {
	const folder = mkdtempSync(join(generated, '.bundle-'));
	try {
		const entry = join(folder, 'entry.ts');
		writeFileSync(entry, entryText());
		const file = join(folder, 'schemas.mjs');
		const bundle = await rolldown({
			input: entry,
			platform: 'node',
			external: (id) => !id.startsWith('.') && !id.startsWith('/') && !id.includes(':\\'),
			moduleTypes: { '.hbs': 'text', '.md': 'text' },
			logLevel: 'silent',
			// Only data is taken from the bundle; whether the code is whole is the type checker's business.
			shimMissingExports: true,
		});
		await bundle.write({ file, format: 'esm', codeSplitting: false });
		await bundle.close();
		return (await import(pathToFileURL(file).href)).schemas;
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

function entryText() {
	const from = (path) => JSON.stringify(join(root, path));
	const overlays = existsSync(join(root, 'overlays/index.ts'))
		? `import { builtinOverlays } from ${from('overlays/index.ts')};`
		: 'const builtinOverlays = [];';
	return `${overlays}
import { configSchema, workflowSchema } from ${from('engine/workflow/schema.ts')};
import { verdictSchema } from ${from('engine/workflow/verdict-schema.ts')};
export const schemas = {
	workflow: workflowSchema(builtinOverlays),
	config: configSchema(builtinOverlays),
	verdict: verdictSchema,
};
`;
}

/** The same schema, with its parts taken from another one that has them too. */
function sharing({ definitions, ...schema }, owner) {
	return JSON.parse(JSON.stringify(schema).replaceAll('"#/definitions/', `"${owner}#/definitions/`));
}

/** What editors show and validators never read. */
function withoutProse(schema) {
	const prose = new Set(['title', 'description', '$schema']);
	const isProse = (key, value) => prose.has(key) && typeof value === 'string';
	return JSON.parse(JSON.stringify(schema, (key, value) => (isProse(key, value) ? undefined : value)));
}

function compile(byName, allErrors) {
	const ajv = new Ajv({
		allErrors,
		allowUnionTypes: true,
		// String lengths in UTF-16 units need no helper at run time.
		unicode: false,
		messages: false,
		logger: false,
		strictRequired: false,
		// Functions called by reference instead of copied in: a fifth of the code to parse.
		inlineRefs: false,
		code: { source: true, esm: true, optimize: 2 },
	});
	for (const [name, schema] of Object.entries(byName)) ajv.addSchema(withoutProse(schema), name);
	const code = standaloneCode(ajv, Object.fromEntries(Object.keys(byName).map((name) => [name, name])));
	if (code.includes('require(')) throw new Error('a schema uses a keyword that needs an ajv helper at run time');
	return `${code}\n`;
}

function types(names) {
	const lines = names.map((name) => `export declare const ${name}: Validator;`);
	return `import type { ErrorObject } from 'ajv';

export interface Validator {
	(value: unknown): boolean;
	errors?: readonly ErrorObject[] | null;
}
${lines.join('\n')}
`;
}

/** Whole or not at all: somebody may be importing the file right now. */
function write(name, text) {
	const unfinished = join(generated, `.${process.pid}-${name}`);
	writeFileSync(unfinished, text);
	renameSync(unfinished, join(generated, name));
}
