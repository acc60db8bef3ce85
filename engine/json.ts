/** Any value that survives a trip through JSON. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
	readonly [key: string]: Json | undefined;
}
