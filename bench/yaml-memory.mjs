/** Loads a YAML file with js-yaml and nothing else; prints the most memory that took, in KB. */
import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';

const value = load(readFileSync(process.argv[2], 'utf8'));
if (typeof value !== 'object') throw new Error('that is no workflow');
process.stdout.write(String(peakRssKb()));

/** Of this program alone: what getrusage tells begins with the memory of the process that started it. */
function peakRssKb() {
	try {
		return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
	} catch {
		return process.resourceUsage().maxRSS;
	}
}
