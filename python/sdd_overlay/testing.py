"""Tests an overlay with plain ``unittest``, without sdd.

    from sdd_overlay.testing import artifact, consult, moment

    verdict = consult(overlay, "after", moment(artifacts=[artifact("a.py", "# GPL")]))
    assert verdict["kind"] == "rework"

``consult`` raises ``AssertionError`` if sdd would not take the verdict.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any, List, Optional

from ._check import problem_with
from ._model import HOOKS, Answer, Artifact, Check, Failure, JsonObject, Moment, Past, Task
from ._overlay import Call, Overlay

AT = "2026-01-01T00:00:00.000Z"


class RecordedCall(Call):
    """A call as a hook gets it; what the hook told the host is in ``sent``."""

    def __init__(self, *, cancelled: bool = False) -> None:
        self.sent: List[JsonObject] = []
        super().__init__(self.sent.append, 1)
        if cancelled:
            self.cancel()

    @property
    def logged(self) -> List[str]:
        """The lines it put into the run's log."""
        return [message["params"]["text"] for message in self.sent if message["method"] == "log"]


def moment(hook: str = "after", **parts: Any) -> Moment:
    """A moment with sensible facts; name the parts that matter to the test."""
    base = Moment(
        run="20260101-000000-test",
        workflow="test",
        hook=hook,
        at=AT,
        task=Task("implement", "dev", "Do it.", ("it works",), (), ("out.txt",)),
    )
    lists = {"artifacts", "checks", "history"}
    return replace(base, **{name: tuple(value) if name in lists else value for name, value in parts.items()})


def artifact(path: str, content: Optional[str]) -> Artifact:
    """A file with this content; None for one that is not text."""
    data = (content or "").encode()
    return Artifact(path, hashlib.sha256(data).hexdigest(), len(data), content)


def check(name: str, ok: bool, **parts: Any) -> Check:
    """A check that passed or failed."""
    return replace(Check(name, ok=ok, exit=0 if ok else 1), **parts)


def answer(value: Any, by: str = "reviewer", **parts: Any) -> Answer:
    """An answer to a question."""
    return replace(Answer(by, value, AT), **parts)


def past(attempt: int, verdict: str, text: str = "", record: Optional[JsonObject] = None, hook: str = "after") -> Past:
    """Something that the overlay said before."""
    return Past(hook, attempt, verdict, text, record)


def failure(code: str, reason: str = "it failed") -> Failure:
    """What went wrong with an attempt, for a moment at ``failed``."""
    return Failure(code, reason)


def consult(
    overlay: Overlay, hook: str, of: Moment, options: Optional[JsonObject] = None, call: Optional[Call] = None
) -> JsonObject:
    """The verdict as the host reads it; an ``AssertionError`` if the host would refuse it."""
    if hook not in HOOKS:
        raise ValueError(f'"{hook}" is not a hook; there are {", ".join(HOOKS)}')
    verdict = overlay.judge(hook, replace(of, hook=hook), options or {}, call or RecordedCall())
    problem = problem_with(hook, verdict)
    if problem is not None:
        raise AssertionError(f"sdd would not take this verdict: {problem}\n{verdict}")
    return verdict


__all__ = ["RecordedCall", "answer", "artifact", "check", "consult", "failure", "moment", "past"]
