/** What commands know of the world they were called in. */
import { SddError } from '../engine/errors.ts';
import { findProject } from '../engine/plan/find-project.ts';
import { writeOut } from './write-out.ts';

export interface Terminal {
	readonly cwd: string;
	readonly env: { readonly [name: string]: string | undefined };
	readonly version: string;
	/** Results; with `--json` nothing but the document. */
	out(text: string): void;
	/** Prose: progress, warnings, errors. */
	err(text: string): void;
	/** Whether results go to a person's terminal. */
	readonly isTty: boolean;
	/** Whether a person sits there, who reads the results and can type. */
	readonly isAttended: boolean;
	/** Whether they can be asked: a question would spoil the document of `--json`. */
	readonly canAsk: boolean;
	/** Whether results may have colours. */
	readonly color: boolean;
	/** Whether prose may: the two need not go to the same place. */
	readonly proseColor: boolean;
	width(): number;
	/** The root of the project the user stands in. */
	project(): string;
	/** Whether the user has said that the project's own overlays may be started. */
	readonly trustsOverlays: boolean;
	/** Asks a question and waits for a line; `stop` when the user ends it instead. */
	ask(question: string): Promise<string>;
}

/** What the command line says to every command. */
interface Said {
	readonly trustsOverlays?: boolean;
	/** `--json`. */
	readonly wantsDocument?: boolean;
}

/** The terminal of this process. */
export function openTerminal(version: string, said: Said = {}): Terminal {
	const { env } = process;
	// Asked only when somebody wants to know: the answer loads Node's streams.
	const isTty = (): boolean => process.stdout.isTTY === true;
	const isAttended = (): boolean => isTty() && process.stdin.isTTY === true;
	const wantsColor = (): boolean => (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
	const cwd = currentFolder();
	return {
		cwd,
		env,
		version,
		out: (text) => writeOut('stdout', text),
		err: (text) => writeOut('stderr', text),
		get isTty() {
			return isTty();
		},
		get isAttended() {
			return isAttended();
		},
		get canAsk() {
			return said.wantsDocument !== true && isAttended();
		},
		get color() {
			return wantsColor() && isTty();
		},
		get proseColor() {
			return wantsColor() && process.stderr.isTTY === true;
		},
		// Some pseudo-terminals say 0.
		width: () => process.stdout.columns || 80,
		project: () => findProject(cwd),
		trustsOverlays: said.trustsOverlays ?? false,
		ask,
	};
}

function currentFolder(): string {
	try {
		return process.cwd();
	} catch (error) {
		const what = `the folder you are in cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}): it may have been removed`;
		throw new SddError('CLI_USAGE', what, 'go to the folder of your project, and run the command there', {
			cause: error,
		});
	}
}

async function ask(question: string): Promise<string> {
	const { createInterface } = await import('node:readline');
	const lines = createInterface({ input: process.stdin, output: process.stdout });
	return await new Promise((resolve) => {
		// Readline takes Ctrl-C for itself; the run must hear of it too, and before the question counts as answered.
		lines.on('SIGINT', () => {
			if (!process.emit('SIGINT', 'SIGINT')) process.kill(process.pid, 'SIGINT');
			lines.close();
		});
		lines.on('close', () => resolve('stop'));
		lines.question(question, (answer) => {
			resolve(answer.trim());
			lines.close();
		});
	});
}

/** A JSON document for `--json`. */
export function asJson(value: unknown): string {
	return `${JSON.stringify(value, null, 2)}\n`;
}

/** Rows in columns; the last column is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
	const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
	const lines = rows.map((row) =>
		row
			.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
			.join('  ')
			.trimEnd(),
	);
	return `${lines.join('\n')}\n`;
}
