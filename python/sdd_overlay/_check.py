"""What the host would say of a verdict: the same rules, so that a test can tell before a run does."""

from __future__ import annotations

import json
import re
from typing import Any, Callable, Dict, List, Mapping, Optional

from ._model import ALLOWED_AMENDMENTS, ALLOWED_VERDICTS

#: Says what is wrong with a value, or None.
Rule = Callable[[Any], Optional[str]]


#: Deeper than this sdd reads no verdict.
MAX_DEPTH = 200


def problem_with(hook: str, verdict: Any) -> Optional[str]:
    """Why the host would not take this as a verdict at this hook; None if it would."""
    try:
        plain = json.loads(json.dumps(verdict, allow_nan=False))
    except RecursionError:
        return _TOO_DEEP
    except (TypeError, ValueError) as error:
        return f"it is no JSON: {error}"
    if not isinstance(plain, dict):
        return "it is not an object"
    if _is_too_deep(plain):
        return _TOO_DEEP
    kind = plain.get("kind")
    if not isinstance(kind, str) or kind not in _VERDICTS:
        return f'"kind" is {json.dumps(kind)}, but must be one of {", ".join(_VERDICTS)}'
    if kind not in ALLOWED_VERDICTS[hook]:
        return f"the hook {hook} takes {', '.join(ALLOWED_VERDICTS[hook])}, but not {kind}"
    return _VERDICTS[kind](plain) or _misplaced_amendment(hook, plain) or _asked_twice(plain)


_TOO_DEEP = f"it is nested too deeply: more than {MAX_DEPTH} levels"


def _is_too_deep(value: Any) -> bool:
    level: List[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [part for one in level for part in _parts(one)]
    return len(level) > 0


def _parts(value: Any) -> List[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _misplaced_amendment(hook: str, plain: Mapping[str, Any]) -> Optional[str]:
    allowed = ALLOWED_AMENDMENTS[hook]
    for name in plain.get("amend", {}):
        if name not in allowed:
            instead = f"only {', '.join(allowed)} has" if allowed else "nothing can be amended there"
            return f'an amended "{name}" has no effect at {hook}; {instead}'
    return None


def _asked_twice(plain: Mapping[str, Any]) -> Optional[str]:
    ids = [question["id"] for question in plain.get("questions", [])]
    twice = next((one for index, one in enumerate(ids) if one in ids[:index]), None)
    return None if twice is None else f'two of its questions have the id "{twice}"'


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
            return "must not be empty"
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
_QUESTION_MEMBERS = _members(
    {
        "id": _pattern(r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z"),
        "to": _pattern(r"^(human|agent:[a-z0-9][a-z0-9_-]{0,63})\Z"),
        "brief": _members({"prompt": _text}, {}),
    },
    {"role": _words, "choices": _list(_words, 1), "trigger": _words, "context": _object, "review_id": _words},
)


def _question(value: Any) -> Optional[str]:
    """What would have no effect is refused: a person has no role, an agent chooses nothing."""
    problem = _QUESTION_MEMBERS(value)
    if problem is not None:
        return problem
    is_person = value["to"] == "human"
    for name in ("role", "review_id") if is_person else ("choices", "trigger", "context"):
        if name in value:
            return f'"{name}" is only for questions to {"an agent" if is_person else "a person"}'
    return None


_VERDICTS: Dict[str, Rule] = {
    "pass": _members({"kind": _kind}, {"amend": _members({}, {"brief": _text, "output": _text}), "note": _text, "record": _object}),
    "rework": _members(
        {"kind": _kind, "feedback": _words},
        {"findings": _list(_FINDING), "fixers": _list(_FIXER), "by": _one_of("agent", "human"), "record": _object},
    ),
    "ask": _members({"kind": _kind, "questions": _list(_question, 1)}, {"record": _object}),
    "fail": _members({"kind": _kind, "reason": _words}, {"code": _words, "record": _object}),
}
