/** The desk at which commanded agents report to the test, and wait to be told what to do. */
import { createServer, type Server, type Socket } from 'node:net';

/** A commanded agent that waits for the test's word. */
export interface AgentCall {
	readonly env: { readonly [name: string]: string };
	readonly argv: readonly string[];
	readonly cwd: string;
	readonly pid: number;
	readonly brief: string;
	/** Resolves when the agent's process is gone. */
	readonly gone: Promise<void>;
	/** Lets it write files, say something and end. */
	answer(told?: {
		readonly say?: string;
		readonly files?: { readonly [path: string]: string };
		readonly exit?: number;
	}): void;
}

interface End {
	readonly code: number | null;
	readonly stdout: string;
	readonly stderr: string;
}

/** Where commanded agents report. */
export interface Desk {
	call(key: string, during: { readonly ended: Promise<End> }): Promise<AgentCall>;
	waiting(): readonly string[];
	close(): Promise<void>;
}

/** Opens a desk at this socket. */
export async function openDesk(path: string): Promise<Desk> {
	const waiting: { key: string; call: AgentCall }[] = [];
	const wanted: { key: string; take(call: AgentCall): void }[] = [];
	const sockets = new Set<Socket>();
	const arrive = (key: string, call: AgentCall): void => {
		const at = wanted.findIndex((one) => one.key === key);
		if (at < 0) waiting.push({ key, call });
		else wanted.splice(at, 1)[0]?.take(call);
	};
	const leave = (call: AgentCall): void => {
		const at = waiting.findIndex((one) => one.call === call);
		if (at >= 0) waiting.splice(at, 1);
	};
	const server: Server = createServer((socket) => {
		sockets.add(socket);
		receive(socket, arrive, leave);
	});
	await new Promise<void>((resolve) => server.listen(path, resolve));
	return {
		call(key, during) {
			const at = waiting.findIndex((one) => one.key === key);
			const there = at < 0 ? undefined : waiting.splice(at, 1)[0];
			if (there !== undefined) return Promise.resolve(there.call);
			return new Promise((resolve, reject) => {
				wanted.push({ key, take: resolve });
				void during.ended.then((end) =>
					reject(new Error(`sdd ended (${end.code}) before ${key} was called:\n${end.stdout}\n${end.stderr}`)),
				);
			});
		},
		waiting: () => waiting.map((one) => one.key),
		close() {
			for (const socket of sockets) socket.destroy();
			return new Promise((resolve) => server.close(() => resolve()));
		},
	};
}

function receive(
	socket: Socket,
	arrive: (key: string, call: AgentCall) => void,
	leave: (call: AgentCall) => void,
): void {
	let text = '';
	const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
	socket.on('error', () => {});
	socket.setEncoding('utf8').on('data', (chunk: string) => {
		text += chunk;
		if (!text.endsWith('\n')) return;
		const about = JSON.parse(text) as Omit<AgentCall, 'gone' | 'answer'>;
		const answer: AgentCall['answer'] = (told = {}) => void socket.write(`${JSON.stringify(told)}\n`);
		const call = { ...about, gone, answer };
		void gone.then(() => leave(call));
		arrive(`${about.env['SDD_TASK_ID']}/${about.env['SDD_ROLE']}`, call);
	});
}

/** The commanded agent; with the argument "stubborn" it takes no notice of SIGTERM. */
export function agentSource(socket: string): string {
	return `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
if (process.argv.includes('stubborn')) process.on('SIGTERM', () => {});
const brief = readFileSync(0, 'utf8');
const socket = connect(${JSON.stringify(socket)});
const { env, pid } = process;
socket.write(JSON.stringify({ env, pid, brief, argv: process.argv.slice(2), cwd: process.cwd() }) + '\\n');
let text = '';
socket.setEncoding('utf8').on('data', (chunk) => {
	text += chunk;
	if (!text.endsWith('\\n')) return;
	const { say = 'done', files = {}, exit = 0 } = JSON.parse(text);
	for (const [path, content] of Object.entries(files)) {
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(path, content);
	}
	process.stdout.write(say, () => process.exit(exit));
});
`;
}
