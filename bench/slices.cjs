/**
 * Loaded into `sdd run` ahead of everything else: measures the disk while the run goes on.
 *
 * Whenever the journal has been synced so many times, the run is held and the same number of appends of the same sizes, each
 * with its fdatasync, is made in a file of its own: that is the floor. So both meet the same disk at the same time. What
 * the floor took is taken off the run's time. The result goes as JSON into the file that SDD_BENCH_RESULT names.
 */
const fs = require('node:fs');

const { fdatasyncSync, writeSync } = fs;
const resultFile = process.env.SDD_BENCH_RESULT;
const sliceLength = Number(process.env.SDD_BENCH_SLICE);
const floorFile = `${resultFile}.floor`;
const floorFd = fs.openSync(floorFile, 'a');
const run = { firstSync: 0, syncs: 0, bytes: 0 };
const floor = { ms: 0, bytes: 0 };
let unsynced = 0;
let sizes = [];

fs.writeSync = (...args) => {
	const written = writeSync(...args);
	run.bytes += written;
	unsynced += written;
	return written;
};

fs.fdatasyncSync = (fd) => {
	if (run.syncs === 0) run.firstSync = performance.now();
	run.syncs++;
	fdatasyncSync(fd);
	sizes.push(unsynced);
	unsynced = 0;
	if (sizes.length === sliceLength) measureFloor();
};

function measureFloor() {
	const blocks = sizes.map((size) => Buffer.alloc(size, 'x'));
	sizes = [];
	const since = performance.now();
	for (const block of blocks) {
		floor.bytes += writeSync(floorFd, block);
		fdatasyncSync(floorFd);
	}
	floor.ms += performance.now() - since;
}

process.once('exit', () => {
	// Since the process began: loading, validating and planning are in it.
	const wallMs = performance.now() - floor.ms;
	const runMs = wallMs - run.firstSync;
	const bytes = bytesWritten();
	measureFloor();
	fs.closeSync(floorFd);
	fs.rmSync(floorFile);
	const rssKb = peakRssKb();
	fs.writeFileSync(resultFile, JSON.stringify({ wallMs, runMs, bytes, rssKb, syncs: run.syncs, floorMs: floor.ms }));
});

/** Of this program alone: what getrusage tells begins with the memory of the process that started it. */
function peakRssKb() {
	try {
		return Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]);
	} catch {
		return process.resourceUsage().maxRSS;
	}
}

/** By whatever way, where the kernel counts it. */
function bytesWritten() {
	try {
		return Number(/wchar: (\d+)/.exec(fs.readFileSync('/proc/self/io', 'utf8'))[1]) - floor.bytes;
	} catch {
		return run.bytes;
	}
}
