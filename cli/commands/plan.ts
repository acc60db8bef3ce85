/** `sdd plan`: what would run. */
import { EXIT, SddError } from '../../engine/errors.ts';
import { planToDisk } from '../../engine/plan/plan-file.ts';
import type { Arguments } from '../arguments.ts';
import type { Terminal } from '../terminal.ts';
import { overridesIn, prepareWorkflow, printDiagnostics, refuse } from '../wiring.ts';

export async function plan(terminal: Terminal, args: Arguments): Promise<number> {
	if (args.has('json') && args.has('mermaid'))
		throw new SddError('CLI_USAGE', 'sdd plan: --json and --mermaid contradict each other', 'choose one of them');
	const prepared = await prepareWorkflow(terminal, args.positionals[0] ?? '', overridesIn(args));
	if (!prepared.ok) return refuse(terminal, args, prepared.diagnostics);
	printDiagnostics(terminal, prepared.warnings);
	if (args.has('json')) terminal.out(`${planToDisk(prepared.plan).trimEnd()}\n`);
	else {
		const { planMermaid, printPlan } = await import('../../engine/plan/print-plan.ts');
		const text = args.has('mermaid') ? planMermaid(prepared.plan) : printPlan(prepared.plan, prepared);
		terminal.out(`${text}\n`);
	}
	return EXIT.done;
}
