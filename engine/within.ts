/** Waits for something, but not for ever. */

/** Whether the promise was fulfilled within that time. */
export async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<false>((resolve) => {
		timer = setTimeout(() => resolve(false), ms);
	});
	const inTime = await Promise.race([promise.then(() => true), late]);
	clearTimeout(timer);
	return inTime;
}
