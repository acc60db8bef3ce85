"""The small language of ``exit_conditions``: or, and, not, parentheses, ``path op (literal | path)``. Never ``eval``."""

from __future__ import annotations

import operator
import re
from typing import Any, Callable, Dict, List, NamedTuple

RESERVED = {"and", "or", "not", "true", "false", "null"}
LITERALS: Dict[str, Any] = {"true": True, "false": False, "null": None}
TOKEN = re.compile(
    r"""\s*(?:(?P<word>[A-Za-z_][\w-]*(?:\.\w[\w-]*)*)|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]))
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?P<op>==|!=|>=|<=|>(?!=)|<(?!=))|(?P<open>\()|(?P<close>\)))""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
ORDER: Dict[str, Callable[[Any, Any], bool]] = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
}  # fmt: skip
MISSING = object()


class Token(NamedTuple):
    kind: str
    text: str


class Unreadable(Exception):
    """The text is no expression."""


def holds(text: str, scope: Dict[str, Any]) -> bool:
    """Whether the expression holds; one that cannot be read never does."""
    try:
        reader = _Reader(_tokens(text), scope)
        result = reader.either()
        return result and reader.token.kind == "end"
    except (Unreadable, RecursionError):
        return False


def _tokens(text: str) -> List[Token]:
    tokens: List[Token] = []
    at = 0
    while text[at:].strip() != "":
        match = TOKEN.match(text, at)
        if match is None:
            raise Unreadable()
        kind = str(match.lastgroup)
        tokens.append(Token(kind, match.group(kind)))
        at = match.end()
    return [*tokens, Token("end", "")]


class _Reader:
    """Reads and evaluates at once; every part is read, whatever the parts before it say."""

    def __init__(self, tokens: List[Token], scope: Dict[str, Any]) -> None:
        self._tokens = tokens
        self._at = 0
        self._scope = scope

    @property
    def token(self) -> Token:
        return self._tokens[self._at]

    def take(self) -> Token:
        token = self.token
        if token.kind != "end":
            self._at += 1
        return token

    def takes(self, kind: str, text: str) -> bool:
        found = self.token == Token(kind, text)
        if found:
            self._at += 1
        return found

    def either(self) -> bool:
        parts = [self.both()]
        while self.takes("word", "or"):
            parts.append(self.both())
        return any(parts)

    def both(self) -> bool:
        parts = [self.negated()]
        while self.takes("word", "and"):
            parts.append(self.negated())
        return all(parts)

    def negated(self) -> bool:
        if self.takes("word", "not"):
            return not self.negated()
        if self.takes("open", "("):
            inner = self.either()
            if not self.takes("close", ")"):
                raise Unreadable()
            return inner
        return self.comparison()

    def comparison(self) -> bool:
        token = self.take()
        if token.kind != "word" or token.text in RESERVED:
            raise Unreadable()
        left = self.value(token.text)
        if self.token.kind != "op":
            return left is True
        sign = self.take().text
        return _compare(sign, _scalar(left), _scalar(self.operand(self.take())))

    def operand(self, token: Token) -> Any:
        if token.kind == "number":
            return float(token.text)
        if token.kind == "text":
            return re.sub(r"\\(.)", r"\1", token.text[1:-1], flags=re.DOTALL)
        if token.kind != "word":
            raise Unreadable()
        if token.text in RESERVED:
            if token.text not in LITERALS:
                raise Unreadable()
            return LITERALS[token.text]
        # GO, NO_GO, COMPLETED: people write these words without quotes.
        return token.text if re.fullmatch(r"[A-Z][A-Z0-9_]*", token.text) else self.value(token.text)

    def value(self, path: str) -> Any:
        value: Any = self._scope
        for name in path.split("."):
            if not isinstance(value, dict) or name not in value:
                return MISSING
            value = value[name]
        return value


def _scalar(value: Any) -> Any:
    """Lists and objects have no order and no identity here, so they compare like something missing."""
    return MISSING if isinstance(value, (dict, list)) else value


def _compare(sign: str, left: Any, right: Any) -> bool:
    if left is MISSING or right is MISSING:
        return False
    is_same = _sort(left) is _sort(right) and left == right
    if sign in ("==", "!="):
        return is_same if sign == "==" else not is_same
    return _sort(left) is _sort(right) and _sort(left) in (float, str) and ORDER[sign](left, right)


def _sort(value: Any) -> type:
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)
