"""The other end of the pipe, for tests: starts an overlay and speaks the protocol with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, List, Optional, Type

PYTHON = Path(__file__).resolve().parent.parent

#: What a moment must at least have.
MOMENT: Dict[str, Any] = {"run": "r", "workflow": "w", "at": "2026-01-01T00:00:00.000Z", "task": {"id": "write"}}


class Host:
    """An overlay's process. Every read waits for exactly one line, so no test needs to sleep."""

    def __init__(self, source: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sdd-")
        self.folder = Path(self._folder.name)
        file = self.folder / "overlay.py"
        head = "from sdd_overlay import *\noverlay = Overlay('t', summary='a test')\n"
        tail = "\nif __name__ == '__main__':\n    overlay.serve()\n"
        file.write_text(head + textwrap.dedent(source) + tail)
        self._stderr = open(self.folder / "stderr", "wb")
        self.process = subprocess.Popen(
            [sys.executable, str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(PYTHON), "PYTHONUNBUFFERED": ""},
        )

    def __enter__(self) -> "Host":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], where: Optional[TracebackType]
    ) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self._stderr):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass
        self._folder.cleanup()

    def send_line(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, params: Any = None, request: Any = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": {} if params is None else params}
        self.send_line(json.dumps({**message, **({} if request is None else {"id": request})}).encode())

    def consult(self, hook: str, request: Any = 1, **moment: Any) -> None:
        self.send(hook, {"options": {}, "moment": {**MOMENT, **moment}}, request)

    def line(self) -> Dict[str, Any]:
        """The next message; the test fails if there is none."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line != b"", f"the overlay ended: {self.stderr()}"
        message: Dict[str, Any] = json.loads(line)
        return message

    def lines(self, count: int) -> List[Dict[str, Any]]:
        return [self.line() for _ in range(count)]

    def close(self) -> None:
        """Ends its stdin."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def rest(self) -> bytes:
        """Everything else it writes to stdout until it ends."""
        assert self.process.stdout is not None
        return self.process.stdout.read()

    def stderr(self) -> str:
        return (self.folder / "stderr").read_text()
