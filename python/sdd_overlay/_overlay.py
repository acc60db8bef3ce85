"""An overlay: a name, options, and a function per hook."""

from __future__ import annotations

import inspect
import sys
import threading
from dataclasses import dataclass
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Sequence, TypeVar

from ._model import HOOKS, Json, JsonObject, Moment, verdict_to_wire

PROTOCOL = 1

#: A hook takes the moment, then the options, then the call; it may stop after any of them, and be ``async``.
Hook = TypeVar("Hook", bound=Callable[..., Any])


class Cancelled(Exception):
    """Raised by ``Call.check()`` once the host no longer waits for the answer."""


class Call:
    """One consultation under way: whether it was cancelled, and ways to tell people about it."""

    def __init__(self, write: Callable[[JsonObject], None], request: Json) -> None:
        self._write = write
        self._request = request
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._on_cancel: Optional[Callable[[], None]] = None

    @property
    def cancelled(self) -> bool:
        """Whether the host has stopped waiting."""
        return self._cancelled.is_set()

    def check(self) -> None:
        """Raises ``Cancelled`` if the host has stopped waiting: call it now and then in long loops."""
        if self.cancelled:
            raise Cancelled()

    def sleep(self, seconds: float) -> None:
        """Waits, and raises ``Cancelled`` at once if the host stops waiting meanwhile."""
        if self._cancelled.wait(seconds):
            raise Cancelled()

    def progress(self, text: str) -> None:
        """Tells the host that work goes on."""
        self._write({"jsonrpc": "2.0", "method": "$/progress", "params": {"id": self._request, "text": text}})

    def log(self, text: str, level: str = "info") -> None:
        """Puts a line into the run's log; ``level`` is debug, info, warning or error."""
        self._write({"jsonrpc": "2.0", "method": "log", "params": {"level": level, "text": text}})

    def cancel(self) -> None:
        """What the host does when it stops waiting; tests may do it too."""
        with self._lock:
            self._cancelled.set()
            stop = self._on_cancel
        if stop is not None:
            stop()

    def _when_cancelled(self, stop: Optional[Callable[[], None]]) -> None:
        with self._lock:
            self._on_cancel = stop
            is_late = self.cancelled
        if stop is not None and is_late:
            stop()


@dataclass(frozen=True)
class Log:
    """A document that sdd keeps of the overlay's records: ``.ai-sdd/state/<folder>/<task>.json``.

    It is also put into the context of the overlay's questions to people, under ``name``. ``members`` come first in a record.
    """

    folder: str
    name: str
    members: Sequence[str] = ()


class Overlay:
    """A judge: a name, options, and a function per hook."""

    def __init__(
        self,
        name: str,
        *,
        summary: str = "",
        version: str = "0.0.0",
        options: Optional[JsonObject] = None,
        order: Optional[int] = None,
        conflicts_with: Optional[Sequence[str]] = None,
        agents: Optional[Sequence[str]] = None,
        watches: Optional[Sequence[str]] = None,
        log: Optional[Log] = None,
    ) -> None:
        """``options`` is the JSON Schema (draft-07) of the options; ``order`` is the overlay's place among the judges (50);
        ``agents`` are those it will ask, whatever its options say: an unknown one is told of before anything runs;
        ``watches`` are files and folders that its verdict depends on besides the outputs (``moment.touched``).
        """
        self.name = name
        self.summary = summary
        self.version = version
        self.options = options
        self.order = order
        self.conflicts_with = conflicts_with
        self.agents = agents
        self.watches = watches
        self.log = log
        self.hooks: Dict[str, Callable[..., Any]] = {}

    def before(self, hook: Hook) -> Hook:
        """Decorates the function that is consulted once, before the first attempt."""
        return self._add("before", hook)

    def checkpoint(self, hook: Hook) -> Hook:
        """Decorates the function that is consulted during a looping task."""
        return self._add("checkpoint", hook)

    def after(self, hook: Hook) -> Hook:
        """Decorates the function that is consulted on every attempt that finished."""
        return self._add("after", hook)

    def failed(self, hook: Hook) -> Hook:
        """Decorates the function that is consulted when an attempt crashed, timed out or broke its contract."""
        return self._add("failed", hook)

    def handshake(self) -> JsonObject:
        """What the overlay says of itself."""
        log = self.log
        said: JsonObject = {
            "protocol": PROTOCOL,
            "name": self.name,
            "version": self.version,
            "summary": self.summary,
            "hooks": [name for name in HOOKS if name in self.hooks],
            "options": self.options,
            "order": self.order,
            "conflicts_with": None if self.conflicts_with is None else list(self.conflicts_with),
            "agents": None if self.agents is None else list(self.agents),
            "watches": None if self.watches is None else list(self.watches),
            "log": None if log is None else {"folder": log.folder, "name": log.name, "members": list(log.members)},
        }
        return {name: value for name, value in said.items() if value is not None}

    def judge(self, hook: str, moment: Moment, options: JsonObject, call: Call) -> JsonObject:
        """Consults one hook and returns the verdict as plain data."""
        function = self.hooks.get(hook)
        if function is None:
            raise LookupError(f"the overlay {self.name} has no hook {hook}")
        verdict = function(*[moment, options, call][: _arguments(function)])
        if inspect.iscoroutine(verdict):
            from ._await import await_verdict  # asyncio takes longer to load than all the rest.

            verdict = await_verdict(verdict, call)
        return verdict_to_wire(verdict)

    def serve(self) -> None:
        """Answers the host until it closes stdin; never returns. What the overlay prints goes to stderr."""
        from ._serve import serve

        if not self.hooks:
            sys.exit(f"the overlay {self.name} has no hooks: decorate a function with @overlay.after")
        serve(self)

    def _add(self, name: str, hook: Hook) -> Hook:
        if name in self.hooks:
            raise ValueError(f"the hook {name} of the overlay {self.name} has two functions")
        if _arguments(hook) == 0:
            raise TypeError(f"the hook {name} of the overlay {self.name} must take the moment")
        if _by_name(hook):
            raise TypeError(f"the hook {name} of the overlay {self.name} must take moment, options and call by position")
        self.hooks[name] = hook
        return hook


def _by_name(function: Callable[..., Any]) -> bool:
    """Whether it waits for options or call by name only: it would never get them, and judge without."""
    if isinstance(function, partial):  # What is bound already is by name, too.
        return False
    parameters = inspect.signature(function).parameters.values()
    return any(one.kind is one.KEYWORD_ONLY and one.name in ("options", "call") for one in parameters)


def _arguments(function: Callable[..., Any]) -> int:
    """How many of moment, options and call the function takes."""
    positional: List[inspect.Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            return 3
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            positional.append(parameter)
    return min(3, len(positional))
