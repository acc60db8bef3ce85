/** sha256, the one hash of the store. */
import * as crypto from 'node:crypto';

/** The sha256 of a text (as UTF-8) or of bytes, in lower-case hex. */
export const sha256: (data: string | Uint8Array) => string =
	typeof crypto.hash === 'function'
		? (data) => crypto.hash('sha256', data)
		: (data) => crypto.createHash('sha256').update(data).digest('hex');
