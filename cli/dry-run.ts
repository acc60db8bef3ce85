/** `sdd run --dry-run`: says what would happen. Starts nobody, writes nothing. */
import { EXIT } from '../engine/errors.ts';
import type { Plan } from '../engine/plan/plan.ts';
import { printPlan } from '../engine/plan/print-plan.ts';
import type { RunStart } from '../engine/run/find-run.ts';
import { foldRun } from '../engine/run/read-run.ts';
import { isEnded, PENDING_TASK } from '../engine/run/state.ts';
import type { Arguments } from './arguments.ts';
import { asJson, type Terminal } from './terminal.ts';

export interface DryRun {
	readonly plan: Plan;
	readonly maxParallel: number;
	readonly unfinished: RunStart | null;
	readonly only: ReadonlySet<string> | null;
}

export async function dryRun(terminal: Terminal, args: Arguments, of: DryRun): Promise<number> {
	const { plan, maxParallel, unfinished, only } = of;
	const state = unfinished === null ? null : foldRun(terminal.project(), unfinished.run);
	const isOpen = (id: string): boolean => !isEnded((state?.tasks.get(id) ?? PENDING_TASK).status);
	const tasks = plan.tasks
		.filter((task) => (only === null || only.has(task.id)) && isOpen(task.id))
		.map((task) => task.id);
	if (args.has('json')) {
		terminal.out(
			asJson({
				dry_run: true,
				workflow: plan.workflow,
				run: unfinished?.run ?? null,
				max_parallel: maxParallel,
				tasks,
			}),
		);
		return EXIT.done;
	}
	const which = unfinished === null ? 'would begin a new run' : `would go on with run ${unfinished.run}`;
	terminal.out(
		`${printPlan(plan, { maxParallel })}\n\ndry run: ${which}; still to do: ${tasks.join(', ') || 'nothing'}\n`,
	);
	return EXIT.done;
}
