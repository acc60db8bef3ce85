/** Every command, as data: what it takes, and what its help says. */

export interface OptionSpec {
	/** Without the dashes. */
	readonly name: string;
	/** What stands for its value in the help; a flag has none. */
	readonly value?: string;
	readonly summary: string;
}

export interface CommandSpec {
	/** One word, or two for a command in a group (`hil accept`). */
	readonly name: string;
	readonly summary: string;
	/** Positional arguments as the help shows them: `<x>` is needed, `[x]` is not, `…` repeats. */
	readonly arguments: readonly string[];
	readonly options: readonly OptionSpec[];
	/** More to say in the command's own help. */
	readonly details?: string;
}

const JSON_OPTION: OptionSpec = { name: 'json', summary: 'one JSON document on stdout' };
const TRUST: OptionSpec = {
	name: 'trust-overlays',
	summary: "start the project's own overlays without asking, also those never run on this machine",
};
const NOTES: OptionSpec = { name: 'notes', value: 'text', summary: 'why, or guidance for the coder; it is recorded' };
const BY: OptionSpec = { name: 'by', value: 'name', summary: 'who decides (default: your user name)' };
const PROMPTS: readonly OptionSpec[] = [
	{ name: 'developer-prompt', value: 'file', summary: "template of the coder's brief" },
	{ name: 'reviewer-prompt', value: 'file', summary: "template of the reviewer's brief" },
	{ name: 'stubs', value: 'file', summary: 'scripted replies in place of every agent' },
	{ name: 'review-max-fix-attempts', value: 'n', summary: 'fixes after a review before a person is asked' },
	TRUST,
];

function decision(name: string, summary: string, details: string): CommandSpec {
	return { name: `hil ${name}`, summary, arguments: ['<id>'], options: [NOTES, BY, JSON_OPTION], details };
}

export const COMMANDS: readonly CommandSpec[] = [
	{
		name: 'run',
		summary: 'run a workflow, or go on with its unfinished run',
		arguments: ['<workflow.yaml>'],
		options: [
			{ name: 'fresh', summary: 'begin a new run; an unfinished one is cancelled' },
			{ name: 'frozen', summary: 'go on with the plan the unfinished run began with, though the workflow changed' },
			{ name: 'task', value: 'id', summary: 'only this task and what it depends on' },
			{ name: 'dry-run', summary: 'show what would run; starts nobody, writes nothing' },
			{ name: 'step', summary: 'stop after each task (on a terminal: ask)' },
			{ name: 'wait', summary: 'stay until people have answered, instead of leaving with exit code 3' },
			{ name: 'max-parallel', value: 'n', summary: 'tasks at once' },
			...PROMPTS,
			{ name: 'json', summary: 'events as NDJSON on stdout' },
			{ name: 'plain', summary: 'plain lines, also on a terminal' },
			{ name: 'quiet', summary: 'only errors and the exit code' },
			{ name: 'yes', summary: 'go on with the frozen plan without asking when the workflow changed' },
		],
		details: `Exit codes: 0 done · 1 a task failed · 2 the file or the usage is wrong · 3 waiting for a person ·
4 paused (--step) · 70 a bug in sdd · 130 interrupted. Whatever happened, \`sdd run\` again goes on from there.`,
	},
	{
		name: 'plan',
		summary: 'show what would run: order, agents, overlays, limits',
		arguments: ['<workflow.yaml>'],
		options: [
			{ name: 'max-parallel', value: 'n', summary: 'tasks at once' },
			...PROMPTS,
			JSON_OPTION,
			{ name: 'mermaid', summary: 'the graph as a Mermaid flowchart' },
		],
	},
	{
		name: 'validate',
		summary: 'check workflow files: every problem, where, and what to do',
		arguments: ['[paths…]'],
		options: [{ name: 'strict', summary: 'warnings count as errors' }, TRUST, JSON_OPTION],
		details: 'Without paths: every .yaml and .yml file in the folder workflows/.',
	},
	{ name: 'status', summary: 'where the tasks of a run stand', arguments: ['[run]'], options: [JSON_OPTION] },
	{
		name: 'runs',
		summary: 'the runs of this project, the newest first',
		arguments: [],
		options: [{ name: 'all', summary: 'not only the newest twenty' }, JSON_OPTION],
	},
	{
		name: 'logs',
		summary: 'what happened to a task, and what its agents wrote',
		arguments: ['<task>'],
		options: [{ name: 'run', value: 'id', summary: 'of this run (default: the newest)' }, JSON_OPTION],
	},
	{
		name: 'hil list',
		summary: 'the questions that wait for a person',
		arguments: [],
		options: [{ name: 'all', summary: 'also those that are decided or whose run is over' }, JSON_OPTION],
	},
	{ name: 'hil show', summary: 'one question with its whole history', arguments: ['<id>'], options: [JSON_OPTION] },
	{ name: 'hil ack', summary: 'note that you have seen it', arguments: ['<id>'], options: [BY, JSON_OPTION] },
	decision('accept', 'take the work as it is', 'The task is completed; the log says who accepted it, when and why.'),
	decision('rework', 'one more round', 'The coder gets your --notes as guidance. Not offered beyond the hard cap.'),
	decision('takeover', 'do the work yourself', 'Edit the files, then `sdd run`: what lies there is reviewed again.'),
	decision('reject', 'give it up', 'The task fails, and what depends on it is skipped.'),
	{
		name: 'hil decide',
		summary: 'any choice that the question offers',
		arguments: ['<id>', '<choice>'],
		options: [NOTES, BY, JSON_OPTION],
		details: 'For overlays that offer choices of their own; `sdd hil show` lists them.',
	},
	{ name: 'audit list', summary: 'the tasks that were judged, by run', arguments: [], options: [JSON_OPTION] },
	{
		name: 'audit show',
		summary: 'every iteration of a task: who judged what, when, on which content',
		arguments: ['<task>'],
		options: [{ name: 'run', value: 'id', summary: 'of this run (default: the newest)' }, JSON_OPTION],
	},
	{
		name: 'audit verify',
		summary: 'prove that journals, logs and decisions are as they were recorded',
		arguments: ['[run]'],
		options: [
			{ name: 'anchor', value: 'hash', summary: 'a head that you kept: it must still be in a journal' },
			{ name: 'repair', summary: 'write views that differ from their journal anew' },
			JSON_OPTION,
		],
		details: 'Exit code 1 if anything was changed, removed, reordered or cut off.',
	},
	{
		name: 'constitution',
		summary: "the project's merged constitution, and where each part comes from",
		arguments: [],
		options: [
			{ name: 'task', value: 'id', summary: 'as it holds for this task of the workflow' },
			{ name: 'workflow', value: 'file', summary: 'the workflow of --task (default: that of the newest run)' },
			{ name: 'section', value: 'name', summary: 'only this section' },
			JSON_OPTION,
		],
	},
	{
		name: 'overlays list',
		summary: "the built-in overlays, and the project's own in .ai-sdd/overlays/",
		arguments: [],
		options: [TRUST, JSON_OPTION],
	},
	{
		name: 'overlays describe',
		summary: 'what an overlay does: its hooks, its place, its options',
		arguments: ['<overlay>'],
		options: [TRUST, JSON_OPTION],
		details: 'The overlay: a name, or a file.',
	},
	{
		name: 'overlays test',
		summary: 'hold an overlay, in any language, to the contract',
		arguments: ['<overlay>', '[args…]'],
		options: [
			{
				name: 'options',
				value: 'json',
				summary: 'the options to consult it with (default: the least its schema asks for)',
			},
			{ name: 'timeout', value: 'time', summary: 'how long it may take over one verdict (default: 10s)' },
			JSON_OPTION,
		],
		details: `The overlay: a name, a file, or a command that speaks the protocol: sdd overlays test -- node judge.mjs.
It is started, which runs its code. Exit code 1 if any check failed.`,
	},
	{
		name: 'overlays new',
		summary: 'scaffold an overlay in .ai-sdd/overlays/; never overwrites',
		arguments: ['<name>'],
		options: [
			{ name: 'python', summary: 'in Python, with a unittest' },
			{ name: 'typescript', summary: 'in TypeScript' },
			JSON_OPTION,
		],
	},
	{ name: 'schema', summary: 'the JSON Schema of the workflow file', arguments: [], options: [] },
];
