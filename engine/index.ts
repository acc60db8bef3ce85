/** What overlay authors import from `ai-sdd`. */
export * from './contract.ts';
export type { Json, JsonObject } from './json.ts';
