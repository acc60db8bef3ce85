/** Takes out of a text what differs from run to run, so that the rest can be compared. */

/** Times, ids, hashes, durations and the project's path become words. */
export function normalise(text: string, project: string): string {
	const items = new Map<string, string>();
	return text
		.replaceAll(project, '<project>')
		.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z?/g, '<time>')
		.replaceAll(/^\d\d:\d\d:\d\d /gm, '<time> ')
		.replaceAll(/(trying again at )\d\d:\d\d:\d\d/g, '$1<time>')
		.replaceAll(/\b[0-9a-f]{64}\b/g, '<sha256>')
		.replaceAll(/\bhil-[0-9a-f]{12}\b/g, (id) => numbered(items, id))
		.replaceAll(RUN_ID, '<run>')
		.replaceAll(/(finished in )[\d.]+ (ms|s)\b/g, '$1<duration>')
		.replaceAll(/"ms":\d+/g, '"ms":<ms>');
}

const RUN_ID = /\b\d{8}-\d{6}-[a-z0-9]+\b/g;

/** The same id is the same word throughout, in order of appearance. */
function numbered(known: Map<string, string>, id: string): string {
	const word = known.get(id) ?? `<item-${known.size + 1}>`;
	known.set(id, word);
	return word;
}
