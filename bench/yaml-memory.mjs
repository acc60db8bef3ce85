/** Loads a YAML file with js-yaml and nothing else; prints the most memory that took, in KB. */
import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';

const value = load(readFileSync(process.argv[2], 'utf8'));
if (typeof value !== 'object') throw new Error('that is no workflow');
process.stdout.write(String(process.resourceUsage().maxRSS));
