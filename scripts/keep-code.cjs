/**
 * Loaded ahead of a built `sdd`: when the command is over, writes what V8 made of each chunk beside it. Several commands,
 * one after another, each add what only they use.
 */
const { mkdirSync, renameSync, writeFileSync } = require('node:fs');
const { basename, dirname, join } = require('node:path');
const vm = require('node:vm');

const scripts = new Map();

vm.Script = class extends vm.Script {
	constructor(source, options) {
		super(source, options);
		scripts.set(options.filename, this);
	}
};

process.once('exit', () => {
	for (const [file, script] of scripts) {
		const folder = join(dirname(file), `code-${process.version}-${process.platform}-${process.arch}`);
		const path = join(folder, `${basename(file)}.code`);
		mkdirSync(folder, { recursive: true });
		writeFileSync(`${path}.new`, script.createCachedData());
		renameSync(`${path}.new`, path);
	}
});
