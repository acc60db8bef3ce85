/**
 * Loaded into `sdd run` ahead of everything else: measures the disk while the run goes on.
 *
 * Whenever the journal has been synced so many times, the run is held and the same number of appends of the same sizes, each with
 * its fdatasync, is made in a file of its own: that is the floor. So both meet the same disk at the same time. What the floor took
 * is taken off the run's time. The result goes as JSON into the file named by SDD_BENCH_RESULT.
 */
const fs = require('node:fs');

const { SDD_BENCH_RESULT: resultFile, SDD_BENCH_SLICE: slice } = process.env;
const { fdatasyncSync, writeSync } = fs;
const sliceLength = Number(slice);
const floorFile = `${resultFile}.floor`;
const floorFd = fs.openSync(floorFile, 'a');
let first = 0;
let floorMs = 0;
let syncs = 0;
let bytes = 0;
let unsynced = 0;
let sizes = [];

fs.writeSync = (...args) => {
	const written = writeSync(...args);
	bytes += written;
	unsynced += written;
	return written;
};

fs.fdatasyncSync = (fd) => {
	if (first === 0) first = performance.now();
	fdatasyncSync(fd);
	syncs++;
	sizes.push(unsynced);
	unsynced = 0;
	if (sizes.length >= sliceLength) measureFloor();
};

function measureFloor() {
	const blocks = sizes.map((size) => Buffer.alloc(size, 120));
	sizes = [];
	const since = performance.now();
	for (const block of blocks) {
		writeSync(floorFd, block);
		fdatasyncSync(floorFd);
	}
	floorMs += performance.now() - since;
}

process.once('exit', () => {
	const end = performance.now();
	const runMs = end - first - floorMs;
	if (sliceLength > 0) measureFloor();
	fs.closeSync(floorFd);
	fs.rmSync(floorFile);
	const { maxRSS } = process.resourceUsage();
	const result = { runMs, wallMs: end - (runMs < 0 ? 0 : floorMsWithin(end)), floorMs, syncs, bytes, maxRssKb: maxRSS };
	fs.writeFileSync(resultFile, JSON.stringify(result));
});
