/** The facts an overlay is shown. */
import { OUTPUT_CAP } from '../brief/cap.ts';
import type { Hook, Moment } from '../contract.ts';
import type { OverlayPlan, TaskPlan } from '../plan/plan.ts';
import { type Session, taskState } from './session.ts';
import { attemptsJudged, type TaskState, type Work } from './state.ts';
import { changesIn, concerns } from './watched.ts';
import { CONTENT_CAP } from './workspace.ts';

/** Builds the moment for one consultation: plain, deeply frozen data. */
export function momentFor(session: Session, task: TaskPlan, hook: Hook, overlay: OverlayPlan): Moment {
	const state = taskState(session, task.id);
	const attempt = Math.max(state.attempt, 1);
	const { run, workflow } = session.state();
	const work = hook === 'before' ? null : state.work;
	return deepFreeze({
		run,
		workflow,
		hook,
		at: session.world.now().toISOString(),
		task: factsOf(task),
		attempt,
		worker: work?.agent ?? null,
		iteration: 1 + attemptsJudged(state, hook, attempt, overlay.name),
		brief: { prompt: task.description },
		output: { text: work?.text ?? '' },
		artifacts: artifactsOf(session, work),
		diff: diffOf(session, task, work, attempt),
		touched: touchedBy(session, work, overlay.watches ?? []),
		checks: work?.checks ?? [],
		constitution: session.plan.constitutions[task.constitution] ?? {},
		history: state.past[overlay.name] ?? [],
		answers: answersTo(state, hook, attempt, overlay.name),
		failure: state.phase.kind === 'crashed' ? { code: state.phase.code, reason: state.phase.reason } : null,
	});
}

function factsOf(task: TaskPlan): Moment['task'] {
	const { id, agent, description, acceptanceCriteria, inputs, outputs } = task;
	return { id, agent, description, acceptanceCriteria, inputs, outputs };
}

/** Characters that all files of a moment may have together before the others are shown by their beginning only. */
const ALL_CONTENTS = 16 * CONTENT_CAP;

function artifactsOf(session: Session, work: Work | null): Moment['artifacts'] {
	let shown = 0;
	return (work?.artifacts ?? []).map((digest) => {
		const content = session.world.workspace.read(digest.path, shown < ALL_CONTENTS ? CONTENT_CAP : OUTPUT_CAP);
		shown += content?.length ?? 0;
		return { ...digest, content };
	});
}

/** An overlay is told of what it watches itself, not of what others do. */
function touchedBy({ world }: Session, work: Work | null, places: readonly string[]): Moment['touched'] {
	if (places.length === 0 || work?.baseWatched == null || work.watched === null) return [];
	const changed = changesIn(world.readPrompt(work.baseWatched), world.readPrompt(work.watched));
	return changed.map(({ path }) => path).filter((path) => concerns(path, places));
}

function diffOf(session: Session, task: TaskPlan, work: Work | null, attempt: number): string {
	if (work === null) return '';
	return session.world.workspace.diff(work.baseTree, work.tree, `${task.id}-${attempt}`);
}

function answersTo(state: TaskState, hook: Hook, attempt: number, overlay: string): Moment['answers'] {
	if (state.judging?.hook !== hook || state.judging.attempt !== attempt) return {};
	return state.judging.by[overlay]?.answers ?? {};
}

/** Freezes what is not frozen yet; the plan's and the state's parts are shared, so each is walked once only. */
function deepFreeze<T>(value: T): T {
	if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
	for (const part of Object.values(value)) deepFreeze(part);
	return Object.freeze(value);
}
