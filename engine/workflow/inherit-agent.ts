/** Follows `extends`: an agent's keys over those of the one it extends, field by field. Pure. */
import { quote } from '../diagnostic.ts';
import { didYouMean } from '../suggest.ts';
import type { Complaint } from './source.ts';
import type { AgentDefinition } from './workflow.ts';
import type { AgentEntry } from './workflow-file.ts';

/** An agent with all it inherits, or what is wrong in its line. */
export type Inherited =
	| { readonly ok: true; readonly entry: AgentEntry }
	| {
			readonly ok: false;
			readonly complaint: Complaint;
			/** The agent whose `extends` is to be corrected: the same one, whoever leads there. */
			readonly at: string;
	  };

/** An agent with all it inherits; or why there is no end to it. */
export function inheritAgent(name: string, agents: ReadonlyMap<string, AgentDefinition>): Inherited {
	const line: string[] = [];
	let entry: AgentEntry = {};
	for (let next: string | undefined = name; next !== undefined; ) {
		if (line.includes(next)) return circle(line.slice(line.indexOf(next)));
		const found = agents.get(next);
		if (found === undefined) {
			return { ok: false, at: line.at(-1)!, complaint: unknownParent(line.at(-1)!, next, agents) };
		}
		if (line.length === LONGEST) return { ok: false, at: name, complaint: tooLong(name) };
		line.push(next);
		entry = { ...found.entry, ...entry };
		next = found.entry.extends;
	}
	return { ok: true, entry };
}

/** More is taken for a mistake, and would take long to follow for every agent. */
const LONGEST = 50;

function tooLong(name: string): Complaint {
	const message = `agent ${quote(name)} extends more than ${LONGEST} agents, one after another`;
	return { code: 'WORKFLOW_VALUE', message, remedy: 'have it extend one that is nearer to the end of the line' };
}

function circle(members: readonly string[]): Inherited {
	const at = [...members].sort()[0]!;
	const start = members.indexOf(at);
	const line = [...members.slice(start), ...members.slice(0, start), at];
	const message = `agents extend each other in a circle: ${line.join(' → ')}`;
	return {
		ok: false,
		at,
		complaint: { code: 'AGENT_EXTENDS_CYCLE', message, remedy: 'remove one of these `extends`' },
	};
}

function unknownParent(name: string, parent: string, agents: ReadonlyMap<string, unknown>): Complaint {
	return {
		code: 'AGENT_EXTENDS_UNKNOWN',
		message: `agent ${quote(name)} extends ${quote(parent)}, which is not defined`,
		remedy: 'define it, or remove `extends`',
		guess: () =>
			didYouMean(
				parent,
				[...agents.keys()].filter((one) => one !== name),
			),
	};
}
