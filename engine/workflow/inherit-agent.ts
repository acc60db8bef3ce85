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
			return { ok: false, at: line.at(-1)!, complaint: unknownParent(line.at(-1)!, next, [...agents.keys()]) };
		}
		line.push(next);
		entry = { ...found.entry, ...entry };
		next = found.entry.extends;
	}
	return { ok: true, entry };
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

function unknownParent(name: string, parent: string, known: readonly string[]): Complaint {
	const others = known.filter((one) => one !== name);
	const meant = didYouMean(parent, others);
	return {
		code: 'AGENT_EXTENDS_UNKNOWN',
		message: `agent ${quote(name)} extends ${quote(parent)}, which is not defined`,
		remedy: meant === undefined ? 'define it, or remove `extends`' : `did you mean "${meant}"?`,
	};
}
