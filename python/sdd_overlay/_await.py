"""Runs ``async`` hooks, each in a loop of its own: one that blocks must not hold up the others."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Coroutine

from ._overlay import Call, Cancelled


def await_verdict(verdict: "Coroutine[Any, Any, Any]", call: Call) -> Any:
    """What the hook returns in the end; it hears of a cancellation as asyncio code does."""
    return asyncio.run(_until_cancelled(verdict, call))


async def _until_cancelled(verdict: "Coroutine[Any, Any, Any]", call: Call) -> Any:
    loop = asyncio.get_running_loop()
    work = asyncio.ensure_future(verdict)
    call._when_cancelled(lambda: _soon(loop, work.cancel))
    try:
        return await work
    except asyncio.CancelledError:
        raise Cancelled() from None
    finally:
        call._when_cancelled(None)


def _soon(loop: asyncio.AbstractEventLoop, function: Callable[[], Any]) -> None:
    try:
        loop.call_soon_threadsafe(function)
    except RuntimeError:
        pass  # The hook has just ended.
