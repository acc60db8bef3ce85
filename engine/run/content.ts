/** The identity of what is judged. */
import { createHash } from 'node:crypto';
import type { Digest } from '../events.ts';

/** One digest over a task's artifacts: it changes when any of them does. */
export function contentDigest(artifacts: readonly Pick<Digest, 'path' | 'sha256'>[]): string {
	if (artifacts.length === 0) return EMPTY;
	const hash = createHash('sha256');
	for (const { path, sha256 } of artifacts) hash.update(`${path}\0${sha256}\n`);
	return hash.digest('hex');
}

/** sha256 of nothing: the content of a task that declares no outputs. */
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** What differs between the content that was judged and the content there is now. */
export function changes(
	was: readonly Digest[],
	now: readonly Digest[],
): readonly { readonly path: string; readonly was: string; readonly now: string | null }[] {
	const current = new Map(now.map((digest) => [digest.path, digest.sha256]));
	const known = new Set(was.map((digest) => digest.path));
	const changed = was.flatMap(({ path, sha256 }) => {
		const found = current.get(path) ?? null;
		return found === sha256 ? [] : [{ path, was: sha256, now: found }];
	});
	const added = now.flatMap(({ path, sha256 }) => (known.has(path) ? [] : [{ path, was: '', now: sha256 }]));
	return [...changed, ...added];
}
