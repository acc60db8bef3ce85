"""What the host would say of a verdict: the same rules, so that a test can tell before a run does."""

from __future__ import annotations

import json
import re
from typing import Any, Callable, Dict, Mapping, Optional

from ._model import ALLOWED_VERDICTS

#: Says what is wrong with a value, or None.
Rule = Callable[[Any], Optional[str]]


def problem_with(hook: str, verdict: Any) -> Optional[str]:
    """Why the host would not take this as a verdict at this hook; None if it would."""
    try:
        plain = json.loads(json.dumps(verdict, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        return f"it is no JSON: {error}"
    if not isinstance(plain, dict):
        return "it is not an object"
    kind = plain.get("kind")
    if not isinstance(kind, str) or kind not in _VERDICTS:
        return f'"kind" is {json.dumps(kind)}, but must be one of {", ".join(_VERDICTS)}'
    if kind not in ALLOWED_VERDICTS[hook]:
        return f"the hook {hook} takes {', '.join(ALLOWED_VERDICTS[hook])}, but not {kind}"
    return _VERDICTS[kind](plain)


def _text(value: Any) -> Optional[str]:
    return None if isinstance(value, str) else "must be a text"


def _words(value: Any) -> Optional[str]:
    return None if isinstance(value, str) and value != "" else "must be a text that says something"


def _whole(value: Any) -> Optional[str]:
    is_whole = isinstance(value, (int, float)) and not isinstance(value, bool) and value == int(value)
    return None if is_whole else "must be a whole number"


def _number(value: Any) -> Optional[str]:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return None if is_number else "must be a number"


def _object(value: Any) -> Optional[str]:
    return None if isinstance(value, dict) else "must be an object"


def _pattern(pattern: str) -> Rule:
    return lambda value: None if isinstance(value, str) and re.search(pattern, value) else f"must fit {pattern}"


def _one_of(*values: str) -> Rule:
    return lambda value: None if value in values else f"must be one of {', '.join(values)}"


def _list(rule: Rule, least: int = 0) -> Rule:
    def check(value: Any) -> Optional[str]:
        if not isinstance(value, list):
            return "must be a list"
        if len(value) < least:
            return f"must have at least {least}"
        problems = (problem for problem in map(rule, value) if problem is not None)
        first = next(problems, None)
        return None if first is None else f"has one that is wrong: {first}"

    return check


def _members(needed: Mapping[str, Rule], optional: Mapping[str, Rule]) -> Rule:
    known: Dict[str, Rule] = {**needed, **optional}

    def check(value: Any) -> Optional[str]:
        if not isinstance(value, dict):
            return "must be an object"
        for name in needed:
            if name not in value:
                return f'"{name}" is missing'
        for name, member in value.items():
            if name not in known:
                return f'"{name}" is unknown; there are {", ".join(known)}'
            problem = known[name](member)
            if problem is not None:
                return f'"{name}" {problem}'
        return None

    return check


def _kind(value: Any) -> Optional[str]:
    return None


_FINDING = _members(
    {"severity": _words, "issue": _words},
    {"file": _text, "line": _whole, "details": _text, "fix": _text, "confidence": _number, "reviewer": _text},
)
_FIXER = _members({"agent": _words, "feedback": _text}, {"files": _list(_text)})
_QUESTION = _members(
    {
        "id": _pattern(r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z"),
        "to": _pattern(r"^(human|agent:[a-z0-9][a-z0-9_-]{0,63})\Z"),
        "brief": _members({"prompt": _text}, {}),
    },
    {"role": _words, "choices": _list(_words, 1), "trigger": _words, "context": _object, "review_id": _words},
)
_VERDICTS: Dict[str, Rule] = {
    "pass": _members({"kind": _kind}, {"amend": _members({}, {"brief": _text, "output": _text}), "note": _text, "record": _object}),
    "rework": _members(
        {"kind": _kind, "feedback": _words},
        {"findings": _list(_FINDING), "fixers": _list(_FIXER), "by": _one_of("agent", "human"), "record": _object},
    ),
    "ask": _members({"kind": _kind, "questions": _list(_QUESTION, 1)}, {"record": _object}),
    "fail": _members({"kind": _kind, "reason": _words}, {"code": _words, "record": _object}),
}
