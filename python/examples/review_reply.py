"""Reads a reviewer's reply. Whatever is wrong with it is a violation with a reason, and a violation is never a GO."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, NoReturn, Optional, Sequence, Tuple, Union

QUALITY_CHECKS = ("acceptance_criteria_met", "code_standards_met", "test_coverage_adequate", "security_review_passed")

#: Types by which a stream of agent events is known; a verdict on one line may have a ``type`` of its own.
STREAM_TYPES = {"system", "assistant", "result", "thread.started", "turn.started", "item.completed", "step_start", "text"}
#: Events that say how a stream ended.
ENDS = {"result", "turn.completed", "turn.failed"}

#: What JavaScript takes for space, so that both reviews see the same emptiness; Python's own list is longer.
SPACE = " \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

NOTHING_SAID = "the reply is a stream of events that ended in an error, or in which the agent itself said nothing"

#: More verdicts than any reply has; each must be looked for in the work.
MAX_CANDIDATES = 20
#: Characters that may be looked at: enough for any honest reply, and a wall for one made of a million braces.
STEP_LIMIT = 20_000_000


@dataclass(frozen=True)
class ReviewVerdict:
    """A reviewer's verdict, proven well-formed."""

    decision: str
    feedback: str
    quality_checks: Dict[str, Optional[bool]]
    findings: List[Any]


@dataclass(frozen=True)
class Violation:
    """Why a reply has no verdict."""

    reason: str


@dataclass(frozen=True)
class Reading:
    """What a reply is read by."""

    protocol: str
    #: What the reviewer was told to echo, if it echoes.
    review_id: str
    #: What others wrote: a verdict that stands there is not the reviewer's own.
    material: Sequence[str]


@dataclass(frozen=True)
class Found:
    """A JSON object, how it was written and where it begins."""

    value: Dict[str, Any]
    text: str
    at: int


Parsed = Union[ReviewVerdict, Violation]


def parse_reply(reply: str, reading: Reading) -> Parsed:
    """The one verdict in a reply, or why there is none."""
    words = own_words(reply)
    if words == "" and reply != "":
        return Violation(NOTHING_SAID)
    objects = find_objects(words)
    if objects is None:
        return Violation("the reply has too many braces to find a verdict in it")
    key = "decision" if reading.protocol == "decision" else "verdict"
    candidates = [found for found in objects if key in found.value]
    if not candidates:
        return Violation(f'the reply has no JSON object with "{key}"')
    if len(candidates) > MAX_CANDIDATES:
        return Violation(f'the reply has {len(candidates)} JSON objects with "{key}"')
    if any(says_twice(found.text, key) for found in candidates):
        return Violation(f'a verdict says "{key}" twice, differently')
    members = ("decision", "feedback") if reading.protocol == "decision" else ("verdict", "followUpPrompt")
    quoted = quoted_in(reading.material, candidates, members)
    if all(quoted):
        return Violation("the verdict is no judgement: it stands word for word in the work that was judged")
    # The reviewer's own comes first, as it is the one that counts; what it quotes must not say otherwise.
    in_order = sorted(range(len(candidates)), key=lambda at: quoted[at])
    found = one_verdict([read_candidate(candidates[at].value, reading) for at in in_order])
    if isinstance(found, ReviewVerdict) and hides_another(outside(words, candidates), found, reading.protocol):
        return Violation(f'beside its verdict the reply has another "{key}" that cannot be read')
    return found


def one_verdict(parsed: List[Parsed]) -> Parsed:
    for one in parsed:
        if isinstance(one, Violation):
            return one
    decisions = {one.decision for one in parsed if isinstance(one, ReviewVerdict)}
    return parsed[0] if len(decisions) == 1 else Violation("the reply has verdicts that disagree with each other")


def read_candidate(candidate: Dict[str, Any], reading: Reading) -> Parsed:
    if "review_id" in candidate and candidate["review_id"] != reading.review_id:
        echoed = f'review_id {show(candidate, "review_id")}, asked for "{reading.review_id}"'
        return Violation(f"the verdict is about another review ({echoed})")
    return read_decision(candidate) if reading.protocol == "decision" else read_drift(candidate)


def read_decision(candidate: Dict[str, Any]) -> Parsed:
    decision, feedback = candidate.get("decision"), candidate.get("feedback")
    if decision not in ("GO", "NO_GO"):
        return Violation(f'"decision" is {show(candidate, "decision")}, expected "GO" or "NO_GO"')
    if not isinstance(feedback, str):
        return Violation(f'"feedback" is {show(candidate, "feedback")}, expected a text')
    if decision == "NO_GO" and feedback.strip(SPACE) == "":
        return Violation('a NO_GO needs "feedback" that says what to change')
    checks = read_quality_checks(candidate)
    if isinstance(checks, Violation):
        return checks
    findings = read_findings(candidate)
    return findings if isinstance(findings, Violation) else ReviewVerdict(decision, feedback, checks, findings)


def read_drift(candidate: Dict[str, Any]) -> Parsed:
    verdict, follow_up = candidate.get("verdict"), candidate.get("followUpPrompt")
    if verdict not in ("pass", "drift"):
        return Violation(f'"verdict" is {show(candidate, "verdict")}, expected "pass" or "drift"')
    if not isinstance(follow_up, str):
        return Violation(f'"followUpPrompt" is {show(candidate, "followUpPrompt")}, expected a text')
    if verdict == "drift" and follow_up.strip(SPACE) == "":
        return Violation('a drift needs a "followUpPrompt" that says what to change')
    return ReviewVerdict("GO" if verdict == "pass" else "NO_GO", follow_up, dict.fromkeys(QUALITY_CHECKS), [])


def read_quality_checks(candidate: Dict[str, Any]) -> Union[Dict[str, Optional[bool]], Violation]:
    """What a reviewer did not say is unknown, not true."""
    given = candidate.get("quality_checks")
    checks: Dict[str, Optional[bool]] = dict.fromkeys(QUALITY_CHECKS)
    if given is None:
        return checks
    if not isinstance(given, dict):
        return Violation(f'"quality_checks" is {show(candidate, "quality_checks")}, expected an object')
    for name in QUALITY_CHECKS:
        if given.get(name) is not None and not isinstance(given[name], bool):
            return Violation(f'"quality_checks.{name}" is {show(given, name)}, expected true or false')
        checks[name] = given.get(name)
    return checks


def read_findings(candidate: Dict[str, Any]) -> Union[List[Any], Violation]:
    given = candidate.get("findings")
    if given is None:
        return []
    if not isinstance(given, list):
        return Violation(f'"findings" is {show(candidate, "findings")}, expected a list')
    findings = [read_finding(entry) for entry in given]
    return Violation('a finding needs the texts "severity" and "issue"') if None in findings else findings


def read_finding(entry: Any) -> Optional[Dict[str, Any]]:
    if not isinstance(entry, dict) or not has_words(entry.get("severity")) or not has_words(entry.get("issue")):
        return None
    finding = {"severity": entry["severity"], "issue": entry["issue"]}
    for name in ("file", "details", "fix", "reviewer"):
        if isinstance(entry.get(name), str):
            finding[name] = entry[name]
    line, confidence = entry.get("line"), entry.get("confidence")
    if is_number(line) and line == math.floor(line):
        finding["line"] = int(line)
    if is_number(confidence):
        finding["confidence"] = confidence
    return finding


def has_words(value: Any) -> bool:
    return isinstance(value, str) and value.strip(SPACE) != ""


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def show(holder: Dict[str, Any], name: str) -> str:
    """Names a wrong value. Never its inside: that may be nested deeper than can be written out."""
    if name not in holder:
        return "missing"
    value = holder[name]
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = json.dumps(value, ensure_ascii=False)
    return f"{text[:60]}…" if len(text) > 60 else text


#: The words for yes and no.
ANSWERS = {"decision": ("GO", "NO_GO"), "drift": ("pass", "drift")}

SP = f"[{SPACE}]*"
NOISE = re.compile(rf"""(?:[{SPACE}]|/\*[\s\S]*?\*/|//[^\n]*|[(*_])*""")
QUOTED = re.compile("""\\\\*["'“‘`]([^"'“”‘’`\\\\\n]*)\\\\*["'”’`]?""")
BARE = re.compile(f"""[^{SPACE},;}}\\])|"'“”‘’`*\\\\]+""")
BETWEEN = re.compile(rf"""{SP}(?:[|/]|\bor\b){SP}""", re.ASCII)
OR = re.compile(rf"{SP}(?:\||or\b){SP}", re.ASCII)
#: What stands for a value in a text without quotes; any other word there is prose.
LITERAL = re.compile(r"(?:[A-Z][A-Z_-]+|true|false|null|-?\.?[0-9].*)\Z")
BLANK = re.compile(r"…|\.\.\.|<")


def hides_another(rest: str, found: ReviewVerdict, protocol: str) -> bool:
    """What is no JSON was not weighed so far, and may be a no."""
    key, answers = ("decision" if protocol == "decision" else "verdict"), ANSWERS[protocol]
    return found.decision == "GO" and any(not leaves_yes(one, answers) for one in sayings_in(rest, key, answers))


def leaves_yes(saying: List[str], answers: Tuple[str, str]) -> bool:
    """Whether a garbled verdict is a yes itself, or only repeats how to answer (``"GO" | "NO_GO"``)."""
    return saying[0] == answers[0] or (len(saying) > 1 and all(word in answers for word in saying))


def sayings_in(text: str, key: str, words: Sequence[str]) -> Iterator[List[str]]:
    """What a text says behind each ``"key":`` in it, however it is quoted; prose and blanks say nothing."""
    keys = rf"""(?:[{{,]{SP}{key}|["'“”‘’`]{key}\\*["'“”‘’`]){SP}(?:=>|[:=])"""
    for found in re.finditer(keys, text, re.ASCII | re.IGNORECASE):
        saying = saying_at(text, found.end(), words)
        if saying is not None:
            yield saying


def saying_at(text: str, start: int, words: Sequence[str]) -> Optional[List[str]]:
    noise = NOISE.match(text, start)
    at = start if noise is None else noise.end()
    one = QUOTED.match(text, at)
    if one is None:
        bare_word = BARE.match(text, at)
        value = "" if bare_word is None else re.sub(r"\.\Z", "", bare_word[0])
        return [value] if LITERAL.match(value) or value in words else None
    values = []
    while one is not None:
        values.append(one[1])
        either = OR.match(text, one.end())
        one = None if either is None else QUOTED.match(text, either.end())
    if len(values) > 1:
        return values
    return None if BLANK.match(values[0]) else BETWEEN.split(values[0])


def says_twice(text: str, key: str) -> bool:
    """JSON lets the last of two equal keys win; here that would hide a disagreement."""
    plain = re.sub(r"\\u00([46][1-9a-fA-F]|[57][0-9aA])", lambda match: chr(int(match[1], 16)), text)
    values = re.findall(rf'(?<!\\)"{key}"\s*:\s*("(?:[^"\\]|\\.)*"|[^\s,}}\]]+)', plain)
    return len(set(values)) > 1


def quoted_in(material: Sequence[str], candidates: List[Found], members: Sequence[str]) -> List[bool]:
    """Which verdicts stand in the material: word for word, or with the same values of what they say."""
    wanted = [(bare(found.text), said_by(found.value, members)) for found in candidates]
    quoted = [False] * len(candidates)
    for text in material:
        bared = bare(text)
        for at, (whole, said) in enumerate(wanted):
            if whole in bared or (said is not None and all(one in bared for one in said)):
                quoted[at] = True
    return quoted


def said_by(value: Dict[str, Any], members: Sequence[str]) -> Optional[List[str]]:
    if any(not isinstance(value.get(name), str) for name in members):
        return None
    return [bare(f'"{name}":{json.dumps(value[name], ensure_ascii=False)}') for name in members]


def bare(text: str) -> str:
    """A text without white space and escapes: JSON looks the same then, whoever wrote it, and inside JSON as well."""
    unescaped = re.sub(r"(?<!\\)\\+u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    # Two halves of one character, each escaped by itself, become that character again.
    whole = unescaped.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return re.sub(rf"\\[bfnrt]?|[{SPACE}]+", "", whole)


def find_objects(text: str) -> Optional[List[Found]]:
    """The outermost JSON objects and how they were written; None when it would take too long to find them."""
    found: List[Found] = []
    budget = STEP_LIMIT
    at = text.find("{")
    while at != -1:
        end, looked_at = closing_brace(text, at, budget)
        budget -= looked_at
        if budget <= 0:
            return None
        value = None if end == -1 else parse_object(text[at : end + 1])
        if value is not None:
            found.append(Found(value, text[at : end + 1], at))
        at = text.find("{", at + 1 if value is None else end + 1)
    return found


def outside(text: str, objects: List[Found]) -> str:
    """The text without these of its objects; a blank stands for each."""
    starts = [0] + [found.at + len(found.text) for found in objects]
    ends: List[Optional[int]] = [found.at for found in objects]
    return " ".join(text[start:end] for start, end in zip(starts, ends + [None]))


MARKS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}"]', re.DOTALL)


def closing_brace(text: str, start: int, budget: int) -> Tuple[int, int]:
    """Where the brace opened at ``start`` closes, minding JSON strings (-1: never), and how far it looked."""
    depth = 0
    for mark in MARKS.finditer(text, start, min(len(text), start + budget)):
        sign = mark.group()
        if sign == '"':  # A string without an end.
            return -1, len(text) - start
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth == 0:
            return mark.start(), mark.end() - start
    return -1, len(text) - start


def parse_object(text: str) -> Optional[Dict[str, Any]]:
    try:
        value: Dict[str, Any] = json.loads(text, parse_constant=_refuse)
        return value
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def own_words(reply: str) -> str:
    """The reply itself, or, if it is a stream of JSON events, the texts the agent spoke in it."""
    events = stream_events(reply)
    if events is None:
        return reply
    ends = [event for event in events if event["type"] in ENDS]
    if ends and ends[-1]["type"] == "result":
        result = ends[-1].get("result")
        return result if isinstance(result, str) and ends[-1].get("is_error") is not True else ""
    if ends and ends[-1]["type"] == "turn.failed":
        # What an agent said before it broke down was not its last word.
        return ""
    return "\n".join(text for event in events for text in spoken_texts(event))


def stream_events(reply: str) -> Optional[List[Dict[str, Any]]]:
    """In a stream every line is a JSON object with a ``type``, and some types are known; anything else is plain text."""
    events = []
    for line in reply.split("\n"):
        if line.strip(SPACE) == "":
            continue
        event = parse_object(line) if line.startswith("{") else None
        if not isinstance(event, dict) or not isinstance(event.get("type"), str):
            return None
        events.append(event)
    return events if any(event["type"] in STREAM_TYPES for event in events) else None


def spoken_texts(event: Dict[str, Any]) -> Iterator[str]:
    kind = event["type"]
    spoken: List[Any] = []
    if kind == "assistant" and isinstance(event.get("message"), dict):
        parts = event["message"].get("content")
        spoken = [part.get("text") for part in parts if is_text_part(part)] if isinstance(parts, list) else []
    elif kind == "item.completed" and isinstance(event.get("item"), dict):
        spoken = [event["item"].get("text")] if event["item"].get("type") == "agent_message" else []
    elif kind == "text":
        spoken = [event["part"].get("text") if isinstance(event.get("part"), dict) else event.get("text")]
    return (text for text in spoken if isinstance(text, str))


def is_text_part(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text"
