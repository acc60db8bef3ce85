/** Which environment variables an agent gets: the basic ones, those its definition allows, and ours. */
import type { AgentPlan } from '../engine/plan/plan.ts';

/** Environment variables by name. */
export interface Variables {
	readonly [name: string]: string | undefined;
}

/** The environment of one agent run; `own` are the SDD_* variables, which nothing can replace. */
export function agentEnvironment(
	agent: Pick<AgentPlan, 'env'>,
	parent: Variables,
	own: { readonly [name: string]: string },
): { readonly [name: string]: string } {
	const env: { [name: string]: string } = {};
	for (const name of Object.keys(parent)) {
		const value = parent[name];
		if (value !== undefined && (isBasic(name) || isAllowed(name, agent.env))) env[name] = value;
	}
	return Object.assign(env, own, { SDD_AGENT: '1' });
}

/**
 * Values that must not be written down: those of the variables that agents get beyond the basic ones, and of those whose names
 * say that they are secret, as checks and overlays get the whole environment.
 */
export function secretsOf(agents: readonly Pick<AgentPlan, 'env'>[], parent: Variables): readonly string[] {
	const patterns = agents.flatMap((agent) => agent.env);
	const names = Object.keys(parent).filter((name) => !isBasic(name));
	const values = names.flatMap((name) => {
		const value = parent[name] ?? '';
		return isAllowed(name, patterns) || (SECRET_NAME.test(name) && !COMMON_WORD.test(value)) ? [value] : [];
	});
	return [...new Set(values)].filter((value) => value !== '');
}

const SECRET_NAME = /(?:TOKEN|PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIALS?|(?:^|_|API)KEY)$/i;
/** `postgres`, `true`, `1`: masked, they would blot out half of what people are to read. */
const COMMON_WORD = /^(?:[a-z]*|[A-Z]*|.{0,7})$/;

const BASIC: ReadonlySet<string> = new Set([
	'PATH',
	'HOME',
	'USER',
	'LOGNAME',
	'SHELL',
	'LANG',
	'TERM',
	'TMPDIR',
	'TZ',
	// Without it nothing starts on Windows.
	'SystemRoot',
]);

function isBasic(name: string): boolean {
	return BASIC.has(name) || name.startsWith('LC_');
}

/** SDD_* of an outer run would lie about this one: no allow-list lets them in. */
function isAllowed(name: string, patterns: readonly string[]): boolean {
	if (name.startsWith('SDD_')) return false;
	return patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
}
