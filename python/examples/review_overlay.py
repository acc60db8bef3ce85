"""``agentic_review`` in Python: the same judge as the built-in one, as a test of this project proves by their journals.

    after ─▶ ask reviewer ─▶ GO ──────────────────────────────▶ pass
                          ├▶ NO_GO, reviews left ─────────────▶ rework with the feedback
                          ├▶ NO_GO, none left ─▶ ask a person ─▶ accept: pass · rework, takeover: rework · reject: fail
                          └▶ no clear verdict ────────────────▶ fail, ask once more, or ask a person

It needs ``review_reply.py``, ``review_prompt.py`` and ``review_conditions.py`` beside it. What a process cannot do, and the
built-in does: check at load that coder and reviewer are two agents, and ask for more attempts than five (`max_attempts` does).
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from review_conditions import holds
from review_prompt import review_prompt
from review_reply import Parsed, Reading, ReviewVerdict, Violation, parse_reply
from sdd_overlay import Answer, Ask, Log, Moment, Overlay, Question, Verdict, ask, fail, passed, rework

DEFAULT_MAX_ITERATIONS = 3
HARD_CAP = 5

overlay = Overlay(
    "agentic_review",
    summary="Has another agent review every attempt until it says GO; a person decides when the reviews run out.",
    version="1.0.0",
    order=30,
    conflicts_with=["paired_workflow"],
    log=Log(
        "review-logs",
        "review_log",
        ["iteration", "decision", "feedback", "timestamp", "task_id", "reviewer_agent", "coder_agent"],
    ),
    options={
        "type": "object",
        "additionalProperties": False,
        "required": ["reviewer_agent"],
        "properties": {
            "coder_agent": {"type": "string"},
            "reviewer_agent": {"type": "string"},
            "max_iterations": {"type": "integer", "minimum": 1, "maximum": 1000, "default": DEFAULT_MAX_ITERATIONS},
            "exit_conditions": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
            "reviewer_context": {"enum": ["history", "fresh"], "default": "history"},
            "on_contract_violation": {"enum": ["fail", "retry", "hil"], "default": "fail"},
            "protocol": {"enum": ["decision", "drift"], "default": "decision"},
        },
    },
)

Options = Dict[str, Any]


@overlay.after
def judge(moment: Moment, options: Options) -> Verdict:
    decision = moment.answers.get("decide")
    if decision is not None:
        return obey(moment, options, decision)
    reply = reply_in(moment)
    if reply is None:
        return ask_reviewer(moment, options, "review", None)
    if reply.failed is not None:
        reason = f'the reviewer "{options["reviewer_agent"]}" failed: {reply.failed["reason"]}'
        return fail(reason, code=reply.failed["code"])
    verdict = parse(moment, options, reply)
    if isinstance(verdict, Violation):
        return refuse(moment, options, verdict.reason)
    return weigh(moment, options, reply, verdict)


def reply_in(moment: Moment) -> Optional[Answer]:
    return moment.answers.get("review-again") or moment.answers.get("review")


def parse(moment: Moment, options: Options, reply: Answer) -> Parsed:
    return parse_reply(str(reply.value), Reading(options.get("protocol", "decision"), review_id(moment), material_of(moment)))


def material_of(moment: Moment) -> List[str]:
    """Everything in a review that others than the reviewer wrote."""
    unmarked = "\n".join(line[1:] if line[:1] in ("+", "-") else line for line in moment.diff.split("\n"))
    contents = [artifact.content for artifact in moment.artifacts if artifact.content is not None]
    return [*contents, moment.output, unmarked, *(check.output for check in moment.checks)]


def review_id(moment: Moment) -> str:
    return f"{moment.run}/{moment.task.id}/{moment.iteration}"


def ask_reviewer(moment: Moment, options: Options, question: str, complaint: Optional[str]) -> Ask:
    limit = max_iterations(options)
    prompt = review_prompt(moment, options, limit, review_id(moment), complaint)
    to = f"agent:{options['reviewer_agent']}"
    return ask(Question(question, to, prompt, role="reviewer", review_id=review_id(moment)))


def refuse(moment: Moment, options: Options, violation: str) -> Verdict:
    """A reply without one clear verdict is a contract violation: never a GO."""
    reason = f'contract violation by the reviewer "{options["reviewer_agent"]}": {violation}'
    policy = options.get("on_contract_violation", "fail")
    if policy == "retry" and "review-again" not in moment.answers:
        return ask_reviewer(moment, options, "review-again", violation)
    if policy == "hil":
        return ask_person(moment, options, "contract_violation", reason)
    return fail(reason, code="REVIEW_CONTRACT_VIOLATION")


def weigh(moment: Moment, options: Options, reply: Answer, verdict: ReviewVerdict) -> Verdict:
    """A GO passes only if no required check failed and every exit condition holds."""
    vetoes = vetoes_of(moment, options, verdict)
    record = iteration_record(moment, options, reply, verdict, vetoes)
    if verdict.decision == "GO" and not vetoes:
        return passed(verdict.feedback, record=record)
    feedback = feedback_with(verdict, vetoes)
    if moment.iteration < max_iterations(options):
        return rework(feedback, findings=verdict.findings, record=record)
    reviews = f"{moment.iteration} review{'' if moment.iteration == 1 else 's'}"
    question = f"{reviews} without a GO. The last one said: {feedback}"
    return ask_person(moment, options, "max_iterations", question, record)


def vetoes_of(moment: Moment, options: Options, verdict: ReviewVerdict) -> List[str]:
    """What stands against a GO; nothing needs to stand against a NO_GO."""
    if verdict.decision == "NO_GO":
        return []
    scope = {
        "review": {
            "decision": verdict.decision,
            "iteration": moment.iteration,
            "quality_checks": verdict.quality_checks,
            "findings": len(verdict.findings),
        },
        "checks": {check.name: {"ok": check.ok, "exit": check.exit} for check in moment.checks},
        "task": {"attempt": moment.attempt},
    }
    failed = [f'the required check "{check.name}" failed' for check in moment.checks if check.required and not check.ok]
    conditions = options.get("exit_conditions", [])
    return failed + [f'the exit condition "{text}" does not hold' for text in conditions if not holds(text, scope)]


def feedback_with(verdict: ReviewVerdict, vetoes: List[str]) -> str:
    if verdict.decision == "NO_GO" or not vetoes:
        return verdict.feedback
    parts = [f"The reviewer said GO, but: {'; '.join(vetoes)}.", verdict.feedback]
    return "\n\n".join(part for part in parts if part != "")


def iteration_record(
    moment: Moment, options: Options, reply: Answer, verdict: ReviewVerdict, vetoes: List[str]
) -> Dict[str, Any]:
    is_vetoed = verdict.decision == "GO" and len(vetoes) > 0
    usage = reply.usage or {}
    record: Dict[str, Any] = {
        "iteration": moment.iteration,
        "decision": "NO_GO" if is_vetoed else verdict.decision,
        "feedback": feedback_with(verdict, vetoes),
        "timestamp": moment.at,
        "task_id": moment.task.id,
        "reviewer_agent": options["reviewer_agent"],
        "coder_agent": moment.task.agent,
        "quality_checks": verdict.quality_checks,
        "findings": verdict.findings,
        "artifacts": [{"path": artifact.path, "sha256": artifact.sha256} for artifact in moment.artifacts],
        "attempt": moment.attempt,
        "prompt_sha256": reply.prompt_sha256,
        "usage": {name: usage.get(name) for name in ("input_tokens", "output_tokens", "cost_usd")},
    }
    if is_vetoed:
        record.update(reviewer_decision="GO", vetoed_by=vetoes)
    if moment.worker != moment.task.agent:
        record["attempt_by_agent"] = moment.worker
    return record


def ask_person(
    moment: Moment, options: Options, trigger: str, question: str, record: Optional[Dict[str, Any]] = None
) -> Ask:
    """Puts the work to a person with the whole history; one more round is offered only below the hard cap."""
    more = ["rework"] if rounds_left(moment, options) else []
    context = {
        "artifacts": [{"path": artifact.path, "sha256": artifact.sha256} for artifact in moment.artifacts],
        "rounds_used": moment.iteration,
        "hard_cap": hard_cap(options),
    }
    choices = ["accept", *more, "takeover", "reject"]
    return ask(Question("decide", "human", question, choices=choices, trigger=trigger, context=context), record=record)


def obey(moment: Moment, options: Options, answer: Answer) -> Verdict:
    """A person's word is final; what it leads to is on the log."""
    record = decision_record(moment, answer)
    notes = answer.notes or ""
    if answer.value == "accept":
        return passed(f"accepted as it is by {answer.by}", record=record)
    if answer.value == "rework":
        if rounds_left(moment, options):
            return last_review(moment, options, answer, record)
        most = f"but {hard_cap(options)} are the most there can be"
        reason = f"{answer.by} ordered one more round after round {moment.iteration}, {most}"
        return fail(reason, code="REVIEW_HARD_CAP", record=record)
    if answer.value == "takeover":
        return rework(notes or f"{answer.by} takes over", by="human", record=record)
    return fail(f"rejected by {answer.by}{': ' + notes if notes else ''}", code="HIL_REJECTED", record=record)


def decision_record(moment: Moment, answer: Answer) -> Dict[str, Any]:
    decision: Dict[str, Any] = {
        "hil_item": answer.item,
        "choice": answer.value,
        "decided_by": answer.by,
        "decided_via": answer.via,
        "notes": answer.notes,
        "timestamp": answer.at,
        "after_iteration": moment.iteration,
    }
    failed = [check.name for check in moment.checks if check.required and not check.ok]
    if answer.value == "accept" and failed:
        decision["failed_checks"] = failed
    final = {"accept": "ACCEPTED_BY_HUMAN", "reject": "NO_GO"}.get(str(answer.value))
    return decision if final is None else {"final_decision": final, **decision}


def last_review(moment: Moment, options: Options, answer: Answer, record: Dict[str, Any]) -> Verdict:
    """The coder gets the person's notes from the engine, as guidance; beside them stands the review that led there."""
    reply = reply_in(moment)
    verdict = None if reply is None else parse(moment, options, reply)
    if isinstance(verdict, ReviewVerdict):
        feedback = feedback_with(verdict, vetoes_of(moment, options, verdict))
        return rework(feedback, findings=verdict.findings, record=record)
    return rework(f"{answer.by} asked for one more round.", record=record)


def max_iterations(options: Options) -> int:
    return int(options.get("max_iterations", DEFAULT_MAX_ITERATIONS))


def hard_cap(options: Options) -> int:
    """A workflow that asks for more reviews than the usual cap means it: then its own limit is the cap."""
    return max(HARD_CAP, max_iterations(options))


def rounds_left(moment: Moment, options: Options) -> bool:
    return moment.iteration < hard_cap(options)


if __name__ == "__main__":
    overlay.serve()
