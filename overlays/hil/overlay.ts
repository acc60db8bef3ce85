/** `hil`: a person approves a task before any agent works on it. */
import { defineOverlay, type Moment, type Verdict } from '../../engine/contract.ts';
import { rejected, why } from '../shared/person.ts';

export interface HilOptions {
	readonly message?: string;
}

export const hil = defineOverlay<HilOptions>({
	name: 'hil',
	summary: 'Asks a person for approval before the task starts.',
	hooks: ['before'],
	order: 10,
	options: {
		type: 'object',
		additionalProperties: false,
		properties: {
			message: {
				type: 'string',
				minLength: 1,
				description: 'What the person is asked; the task itself is always shown.',
			},
		},
	},
	create: (options) => ({ before: (moment) => judge(moment, options) }),
});

function judge(moment: Moment, options: HilOptions): Verdict {
	const answer = moment.answers['approve'];
	if (answer === undefined) return askForApproval(moment, options);
	return answer.value === 'accept'
		? { kind: 'pass', note: `approved by ${answer.by}${why(answer)}` }
		: rejected(answer);
}

function askForApproval(moment: Moment, options: HilOptions): Verdict {
	const question = options.message ?? `May "${moment.task.id}" start?`;
	return {
		kind: 'ask',
		questions: [
			{
				id: 'approve',
				to: 'human',
				brief: { prompt: question },
				choices: ['accept', 'reject'],
				trigger: 'approval_required',
				context: {
					description: moment.task.description,
					acceptance_criteria: moment.task.acceptanceCriteria,
					outputs: moment.task.outputs,
				},
			},
		],
	};
}
