/** Checks the options of the project's own overlays, whose schemas are known only at run time. Heavy (ajv): reach it by `await import()`. */
import { Ajv, type ValidateFunction } from 'ajv';
import type { OptionProblem, OverlayDefinition } from '../contract.ts';
import type { JsonObject } from '../json.ts';
import { describeOptions } from './describe-shape.ts';

/** What is wrong with these options, by the overlay's own schema. */
export function validateOptions(definition: OverlayDefinition, options: JsonObject): readonly OptionProblem[] {
	const validator = validatorOf(definition);
	if (typeof validator === 'string') {
		return [{ path: [], message: `its options schema is not valid: ${validator}`, remedy: 'correct its definition' }];
	}
	return validator(options) ? [] : describeOptions(definition.options, options, validator.errors ?? []);
}

/** Why a schema of options is no JSON Schema; null if it is one. */
export function problemWithSchema(schema: JsonObject): string | null {
	const validator = compile(schema);
	return typeof validator === 'string' ? validator : null;
}

const compiled = new WeakMap<OverlayDefinition, ValidateFunction | string>();

function validatorOf(definition: OverlayDefinition): ValidateFunction | string {
	const known = compiled.get(definition);
	if (known !== undefined) return known;
	const validator = compile(definition.options);
	compiled.set(definition, validator);
	return validator;
}

/** Not strict: a plugin's schema may carry keywords of its own. */
function compile(schema: JsonObject): ValidateFunction | string {
	try {
		return new Ajv({ allErrors: true, strict: false, logger: false }).compile(schema);
	} catch (error) {
		return (error as Error).message;
	}
}
