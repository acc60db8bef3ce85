"""The words of the contract: what an overlay is shown, and what it may return."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Union

Json = Any
JsonObject = Dict[str, Any]

#: Every hook, and which verdicts it accepts.
ALLOWED_VERDICTS: Mapping[str, Tuple[str, ...]] = {
    "before": ("pass", "ask", "fail"),
    "checkpoint": ("pass", "rework", "ask", "fail"),
    "after": ("pass", "rework", "ask", "fail"),
    "failed": ("pass", "rework", "ask", "fail"),
}
HOOKS: Tuple[str, ...] = tuple(ALLOWED_VERDICTS)

#: What a pass may amend at each hook: what sdd takes up there, and nothing else.
ALLOWED_AMENDMENTS: Mapping[str, Tuple[str, ...]] = {
    "before": ("brief",),
    "checkpoint": (),
    "after": ("output",),
    "failed": ("brief",),
}


@dataclass(frozen=True)
class Task:
    """What an overlay may know of the task it judges."""

    id: str
    agent: str = ""
    description: str = ""
    acceptance_criteria: Tuple[str, ...] = ()
    inputs: Tuple[str, ...] = ()
    outputs: Tuple[str, ...] = ()


@dataclass(frozen=True)
class Artifact:
    """One file the task is responsible for; ``content`` is None where it is not text."""

    path: str
    sha256: str = ""
    bytes: int = 0
    content: Optional[str] = None


@dataclass(frozen=True)
class Check:
    """What a check that the engine ran has shown."""

    name: str
    kind: str = "tests"
    required: bool = True
    ok: bool = True
    exit: Optional[int] = 0
    output: str = ""
    ms: float = 0
    #: What the exit code does not tell, as in "was killed by SIGKILL".
    reason: Optional[str] = None


@dataclass(frozen=True)
class Past:
    """What this overlay said of an earlier attempt."""

    hook: str
    attempt: int
    verdict: str
    text: str = ""
    record: Optional[JsonObject] = None


@dataclass(frozen=True)
class Answer:
    """The answer to a question; ``failed`` says why there is none (``code`` and ``reason``): never take that for a yes."""

    by: str
    value: Json = None
    at: str = ""
    via: Optional[str] = None
    notes: Optional[str] = None
    failed: Optional[Mapping[str, str]] = None
    item: Optional[str] = None
    prompt_sha256: Optional[str] = None
    usage: Optional[Mapping[str, Optional[float]]] = None


@dataclass(frozen=True)
class Failure:
    """What went wrong with an attempt, as it is shown at ``failed``."""

    code: str
    reason: str = ""


@dataclass(frozen=True)
class Moment:
    """The facts that an overlay is shown at a hook. They are all it needs: keep no state between calls."""

    run: str
    workflow: str
    hook: str
    #: When the overlay was consulted (ISO 8601): the only clock an overlay needs.
    at: str
    task: Task
    attempt: int = 1
    #: The agent that made the attempt; None where a person did, or nobody yet.
    worker: Optional[str] = None
    #: 1 + the attempts that this overlay has already judged at this hook.
    iteration: int = 1
    brief: str = ""
    output: str = ""
    artifacts: Tuple[Artifact, ...] = ()
    diff: str = ""
    #: Of the files that this overlay watches, those that are not as they were when the task began.
    touched: Tuple[str, ...] = ()
    checks: Tuple[Check, ...] = ()
    constitution: Mapping[str, str] = field(default_factory=dict)
    history: Tuple[Past, ...] = ()
    answers: Mapping[str, Answer] = field(default_factory=dict)
    #: Only at ``failed``: what went wrong.
    failure: Optional[Failure] = None

    @staticmethod
    def from_wire(wire: Mapping[str, Json]) -> "Moment":
        """Reads a moment; members that this version does not know are left out."""
        return Moment(
            run=wire.get("run", ""),
            workflow=wire.get("workflow", ""),
            hook=wire.get("hook", ""),
            at=wire.get("at", ""),
            task=_task(wire["task"]),
            attempt=wire.get("attempt", 1),
            worker=wire.get("worker"),
            iteration=wire.get("iteration", 1),
            brief=wire.get("brief", {}).get("prompt", ""),
            output=wire.get("output", {}).get("text", ""),
            artifacts=tuple(_known(Artifact, one) for one in wire.get("artifacts", ())),
            diff=wire.get("diff", ""),
            touched=tuple(wire.get("touched", ())),
            checks=tuple(_known(Check, one) for one in wire.get("checks", ())),
            constitution=dict(wire.get("constitution", {})),
            history=tuple(_known(Past, one) for one in wire.get("history", ())),
            answers={name: _known(Answer, one) for name, one in wire.get("answers", {}).items()},
            failure=None if wire.get("failure") is None else _known(Failure, wire["failure"]),
        )


@dataclass(frozen=True)
class Finding:
    """One problem a reviewer reports."""

    severity: str
    issue: str
    file: Optional[str] = None
    line: Optional[int] = None
    details: Optional[str] = None
    fix: Optional[str] = None
    confidence: Optional[float] = None
    reviewer: Optional[str] = None


@dataclass(frozen=True)
class Fixer:
    """Who repairs what, when not the task's own agent."""

    agent: str
    feedback: str
    files: Optional[Sequence[str]] = None


@dataclass(frozen=True)
class Question:
    """A question that the engine puts to ``agent:<name>`` or to ``human``."""

    id: str
    to: str
    prompt: str
    #: For an agent: its role, given as SDD_ROLE (``reviewer`` where nothing is said).
    role: Optional[str] = None
    #: For a person: what they may choose.
    choices: Optional[Sequence[str]] = None
    #: For a person: why it is asked.
    trigger: Optional[str] = None
    #: For a person: what they need to decide.
    context: Optional[JsonObject] = None
    #: For an agent: an id that its reply may echo, given as SDD_REVIEW_ID.
    review_id: Optional[str] = None

    def to_wire(self) -> JsonObject:
        """The question as the host reads it."""
        wire = _present(self)
        wire["brief"] = {"prompt": wire.pop("prompt")}
        return wire


@dataclass(frozen=True)
class Pass:
    """Carry on; may amend what comes next."""

    note: Optional[str] = None
    amend: Optional[Mapping[str, str]] = None
    record: Optional[JsonObject] = None
    kind: str = field(default="pass", init=False)


@dataclass(frozen=True)
class Rework:
    """Not good enough: what to change, and optionally who changes it."""

    feedback: str
    findings: Optional[Sequence[Finding]] = None
    fixers: Optional[Sequence[Fixer]] = None
    by: Optional[str] = None
    record: Optional[JsonObject] = None
    kind: str = field(default="rework", init=False)


@dataclass(frozen=True)
class Ask:
    """I cannot judge yet: consult me again with the answers."""

    questions: Sequence[Question]
    record: Optional[JsonObject] = None
    kind: str = field(default="ask", init=False)


@dataclass(frozen=True)
class Fail:
    """Stop this task."""

    reason: str
    code: Optional[str] = None
    record: Optional[JsonObject] = None
    kind: str = field(default="fail", init=False)


Verdict = Union[Pass, Rework, Ask, Fail]


def passed(
    note: Optional[str] = None,
    *,
    brief: Optional[str] = None,
    output: Optional[str] = None,
    record: Optional[JsonObject] = None,
) -> Pass:
    """Carry on. ``brief`` adds to the coder's brief (at ``before`` and ``failed``), ``output`` replaces its output (at ``after``)."""
    amend = {name: text for name, text in (("brief", brief), ("output", output)) if text is not None}
    return Pass(note, amend or None, record)


def rework(
    feedback: str,
    *,
    findings: Optional[Sequence[Finding]] = None,
    fixers: Optional[Sequence[Fixer]] = None,
    by: Optional[str] = None,
    record: Optional[JsonObject] = None,
) -> Rework:
    """Send the work back with what has to change. ``by="human"``: a person did the work, no agent runs."""
    return Rework(feedback, findings, fixers, by, record)


def ask(*questions: Question, record: Optional[JsonObject] = None) -> Ask:
    """Ask agents or a person; the answers come back in ``moment.answers``."""
    return Ask(questions, record)


def fail(reason: str, *, code: Optional[str] = None, record: Optional[JsonObject] = None) -> Fail:
    """Stop the task, with the reason."""
    return Fail(reason, code, record)


def verdict_to_wire(verdict: Any) -> JsonObject:
    """A verdict as the host reads it. A dict is taken as it is, for those who like it plain."""
    if isinstance(verdict, (Pass, Rework, Ask, Fail)):
        return {"kind": verdict.kind, **_present(verdict)}
    if isinstance(verdict, Mapping):
        return {name: _plain(member) for name, member in verdict.items()}
    what = "nothing" if verdict is None else f"a {type(verdict).__name__}"
    raise TypeError(f"a hook must return passed(), rework(), ask() or fail(), but this one returned {what}")


def _task(wire: Mapping[str, Json]) -> Task:
    lists = ("acceptance_criteria", "inputs", "outputs")
    task: Task = _known(Task, {name: tuple(value) if name in lists else value for name, value in wire.items()})
    return task


def _known(kind: Any, wire: Mapping[str, Json]) -> Any:
    """An instance of a dataclass from what it knows of an object."""
    names = kind.__dataclass_fields__
    return kind(**{name: value for name, value in wire.items() if name in names})


def _present(value: Any) -> JsonObject:
    """Plain data without the members that are None."""
    members = {one.name: getattr(value, one.name) for one in fields(value)}
    return {name: _plain(member) for name, member in members.items() if member is not None}


def _plain(value: Any) -> Json:
    if isinstance(value, Question):
        return value.to_wire()
    if is_dataclass(value) and not isinstance(value, type):
        return _present(value)
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return value
