"""The conversation with the host: JSON-RPC 2.0, one UTF-8 JSON a line, on stdin and stdout."""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from queue import SimpleQueue
from typing import IO, Callable, Dict, Iterable, List, NoReturn, Optional, Tuple

from ._model import HOOKS, Json, JsonObject, Moment
from ._overlay import PROTOCOL, Call, Cancelled, Overlay

#: The host takes no longer line; one overlong verdict must not take down the others that are being thought about.
MAX_LINE_BYTES = 32 * 1024 * 1024

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
OVERLAY_ERROR = -32000
CANCELLED = -32800


def serve(overlay: Overlay) -> NoReturn:
    """Answers until stdin ends. From here on nothing but the protocol can reach the host."""
    if sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write(f"{overlay.name} is an sdd overlay: sdd starts it. Try `sdd overlays test {sys.argv[0]}`.\n")
    lines, out, err = _take_over_streams()
    try:
        _Server(overlay, out, err).run(lines)
    except KeyboardInterrupt:
        _end(130)
    # The host is gone or done: nobody waits for what is still being judged.
    _end(0)


def _take_over_streams() -> Tuple[IO[bytes], IO[bytes], int]:
    """The protocol moves to descriptors that no program started from here inherits.

    Descriptor 1 becomes stderr, for whatever prints; descriptor 0 becomes empty, so that nobody eats the host's requests.
    The last one returned is stderr, whatever becomes of descriptor 2.
    """
    lines = os.fdopen(os.dup(0), "rb")
    out = os.fdopen(os.dup(1), "wb")
    err = os.dup(2)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    if sys.stdout is not None:
        sys.stdout.flush()  # What was printed so far goes to stderr too.
    sys.stdout = sys.stderr
    if hasattr(os, "register_at_fork"):
        # A forked child has every descriptor; what it writes to this one goes where prints go.
        os.register_at_fork(after_in_child=lambda: os.dup2(err, out.fileno(), False))
    return lines, out, err


def _end(code: int) -> NoReturn:
    """Ends at once, whatever threads still run."""
    try:
        sys.stderr.flush()
    finally:
        os._exit(code)


class _Problem(Exception):
    """A request that cannot be answered, with the code that says why."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Threads:
    """A thread for each job; one that is through waits for the next, as starting a thread takes longer than most verdicts."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._idle: List["SimpleQueue[Callable[[], None]]"] = []

    def run(self, job: Callable[[], None]) -> None:
        try:
            idle = self._idle.pop()
        except IndexError:
            threading.Thread(target=self._work, args=(job,), name=self._name, daemon=True).start()
        else:
            idle.put(job)

    def _work(self, job: Callable[[], None]) -> None:
        jobs: "SimpleQueue[Callable[[], None]]" = SimpleQueue()
        while True:
            job()
            del job  # And with it the moment, however long the next one takes to come.
            self._idle.append(jobs)
            job = jobs.get()


class _Server:
    """One conversation with the host; consultations run in threads, so that several tasks can be judged at once."""

    def __init__(self, overlay: Overlay, out: IO[bytes], err: int) -> None:
        self._overlay = overlay
        self._out = out
        self._err = err
        self._lock = threading.Lock()
        self._calls: Dict[Json, Call] = {}
        self._threads = _Threads(overlay.name)
        self._pid = os.getpid()

    def run(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            if not line.strip():
                continue
            message = self._read(line)
            if message is None:
                continue
            if message.get("method") == "shutdown":
                if "id" in message:
                    self._answer(message["id"], None)
                return
            self._take(message)

    def _read(self, line: bytes) -> Optional[JsonObject]:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            self._error(None, PARSE_ERROR, f"this line is no JSON: {error}")
            return None
        if isinstance(message, dict):
            return message
        self._error(None, INVALID_REQUEST, "a message must be an object")
        return None

    def _take(self, message: JsonObject) -> None:
        method, request = message.get("method"), message.get("id")
        params = message.get("params", {})
        if not isinstance(params, dict):
            params = {}
        if method == "$/cancel":
            call = self._calls.get(params.get("id"))
            if call is not None:
                call.cancel()
        elif request is None:
            pass  # A notification of a later version.
        elif isinstance(request, (dict, list)):
            self._error(None, INVALID_REQUEST, "an id must be a number or a text")
        elif method == "initialize":
            self._initialize(request, params)
        elif method in HOOKS:
            self._start(str(method), request, params)
        else:
            self._error(request, METHOD_NOT_FOUND, f"unknown method {method}")

    def _initialize(self, request: Json, params: JsonObject) -> None:
        spoken = params.get("protocol")
        low, high = (spoken.get("min"), spoken.get("max")) if isinstance(spoken, dict) else (None, None)
        if not isinstance(low, int) or not isinstance(high, int):
            self._error(request, INVALID_PARAMS, "initialize needs protocol.min and protocol.max")
        elif not low <= PROTOCOL <= high:
            wanted = str(low) if low == high else f"{low} to {high}"
            self._error(request, OVERLAY_ERROR, f"the host speaks protocol {wanted}, this overlay speaks {PROTOCOL}")
        else:
            self._answer(request, self._overlay.handshake())

    def _start(self, hook: str, request: Json, params: JsonObject) -> None:
        call = Call(self._write, request)
        self._calls[request] = call
        self._threads.run(lambda: self._consult(hook, request, params, call))

    def _consult(self, hook: str, request: Json, params: JsonObject, call: Call) -> None:
        try:
            self._answer(request, self._judge(hook, params, call))
        except Cancelled:
            self._error(request, CANCELLED, "cancelled")
        except _Problem as problem:
            self._error(request, problem.code, str(problem))
        except BaseException as error:  # A judge that throws, or exits, must never look like a pass.
            self._blame(hook, params, error)
            self._error(request, OVERLAY_ERROR, _described(error))
        finally:
            self._calls.pop(request, None)
            if os.getpid() != self._pid:
                os._exit(0)  # A child that the hook forked and that came back here: it is nobody's server.

    def _judge(self, hook: str, params: JsonObject, call: Call) -> JsonObject:
        if hook not in self._overlay.hooks:
            raise _Problem(METHOD_NOT_FOUND, f"the overlay {self._overlay.name} has no hook {hook}")
        try:
            moment = Moment.from_wire({**params["moment"], "hook": hook})
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise _Problem(INVALID_PARAMS, f"the moment cannot be read: {_described(error)}") from error
        options = params.get("options")
        verdict = self._overlay.judge(hook, moment, options if isinstance(options, dict) else {}, call)
        call.check()
        return verdict

    def _blame(self, hook: str, params: JsonObject, error: BaseException) -> None:
        """The traceback goes to stderr, which the host keeps; whatever stands in its way, the answer must not wait."""
        if os.getpid() != self._pid:
            return
        try:
            text = f"{self._overlay.name}, {hook} of task {params['moment']['task']['id']}:\n{_traceback(error)}"
            try:
                sys.stderr.write(text)
                sys.stderr.flush()
            except Exception:  # A hook may close stderr, or put something else in its place.
                os.write(self._err, text.encode("utf-8", "backslashreplace"))
        except Exception:
            pass

    def _answer(self, request: Json, result: Json) -> None:
        self._write({"jsonrpc": "2.0", "id": request, "result": result})

    def _error(self, request: Json, code: int, message: str) -> None:
        self._write({"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": message}})

    def _write(self, message: JsonObject) -> None:
        line = _line(message)
        if os.getpid() != self._pid:
            return
        try:
            with self._lock:
                self._out.write(line)
                self._out.flush()
        except BrokenPipeError:
            _end(0)  # The host is gone.


def _line(message: JsonObject) -> bytes:
    try:
        try:
            line = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        except UnicodeEncodeError:  # Half a surrogate pair, which JSON can only escape.
            line = json.dumps(message, allow_nan=False, separators=(",", ":")).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"what it says is no JSON: {error}") from error
    if len(line) > MAX_LINE_BYTES:
        raise ValueError(f"what it says has {len(line)} bytes, and the host takes {MAX_LINE_BYTES}")
    return line


def _traceback(error: BaseException) -> str:
    """Without the frames of this package: the last lines, which people see first, are about the overlay."""
    whole = traceback.TracebackException(type(error), error, error.__traceback__)
    package = os.path.dirname(__file__) + os.sep
    todo: List[Optional[traceback.TracebackException]] = [whole]
    while todo:
        one = todo.pop()
        if one is not None:
            one.stack[:] = [frame for frame in one.stack if not frame.filename.startswith(package)]
            todo += [one.__cause__, one.__context__]
    return "".join(whole.format())


def _described(error: BaseException) -> str:
    try:
        if isinstance(error, SystemExit):
            return f"the overlay tried to exit ({error.code})"
        text = str(error)[:2000]
    except Exception:  # An exception that cannot even be printed must still be answered with.
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
