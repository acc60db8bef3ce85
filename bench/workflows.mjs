/** The workflows that are run: graphs of tasks that do nothing, with scripted or command agents. */

/** The text of a workflow; a task is `{id, agent?, after?}`, an agent is what stands after its name in YAML. */
export function workflow(tasks, { agents = SCRIPTED, maxParallel = 8 } = {}) {
	const lines = ['version: "1"', 'name: bench', `max_parallel: ${maxParallel}`, 'agents:'];
	for (const [name, agent] of Object.entries(agents)) lines.push(`  ${name}: ${agent}`);
	lines.push('tasks:');
	for (const { id, agent = 'dev', after = [], more = [] } of tasks) {
		lines.push(`  ${id}:`, `    agent: ${agent}`, '    description: Do nothing');
		if (after.length > 0) lines.push(`    depends_on: [${after.join(', ')}]`);
		for (const line of more) lines.push(`    ${line}`);
	}
	return `${lines.join('\n')}\n`;
}

const SCRIPTED = { dev: '{ adapter: scripted, replies: replies.yaml }' };

/** Replies for a scripted agent: "done" at once, or after a delay by task. */
export function replies(delays = {}) {
	const lines = Object.entries(delays).map(([id, ms]) => `${id}: { text: done, delay: ${ms} }`);
	return `${['"*": done', ...lines].join('\n')}\n`;
}

/** Each task depends on the one before it. */
export function chain(n) {
	return numbered(n, (i) => (i === 0 ? [] : [i - 1]));
}

/** One task, all the others beside each other, and one that needs them all. */
export function fanOut(n) {
	const middle = Array.from({ length: n - 2 }, (_, i) => i + 1);
	return numbered(n, (i) => (i === 0 ? [] : i === n - 1 ? middle : [0]));
}

/** Layers of ten; each task needs three of the layer before. */
export function layered(n) {
	return numbered(n, (i) => {
		const layer = Math.floor(i / 10);
		return layer === 0 ? [] : [0, 3, 7].map((step) => (layer - 1) * 10 + ((i + step) % 10));
	});
}

function numbered(n, dependencies) {
	const name = (i) => `task-${i}`;
	return Array.from({ length: n }, (_, i) => ({ id: name(i), after: dependencies(i).map(name) }));
}
