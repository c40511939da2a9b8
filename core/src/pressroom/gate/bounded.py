"""Awaiting what may never end: in a task of its own, which is left behind where it does not let itself be cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import CodeType
from typing import Final, Generic, TypeVar

T = TypeVar("T")

CANCEL_SECONDS: Final = 1.0
"""How long what was cancelled may take to end before it is left behind."""


class DeadlineExceeded(Exception):
    """What was awaited has used up its time; it was cancelled, and left behind where it did not end."""


@dataclass(frozen=True, slots=True)
class _Outcome(Generic[T]):
    value: T | None = None
    error: BaseException | None = None


_left_behind: set[asyncio.Task[_Outcome[object]]] = set()
"""Tasks that nobody waits for any more. The event loop itself would let the garbage collector have them."""


async def bounded(
    seconds: float, function: Callable[[], Awaitable[T]], name: str, cancel_seconds: float = CANCEL_SECONDS
) -> T:
    """Return what a coroutine function returns, or raise whatever it raises. It runs in a task of that name.

    A `CancelledError` of its own is raised as it is: only the caller's `Task.cancelling` tells whose it was.

    Raises:
        DeadlineExceeded: it took longer than that many seconds.
    """
    task = asyncio.create_task(_supervised(function), name=name)
    try:
        await asyncio.wait({task}, timeout=seconds)
    except BaseException:
        await _abandon(task, cancel_seconds)
        raise
    if not task.done():
        await _abandon(task, cancel_seconds)
        raise DeadlineExceeded
    if task.cancelled():
        raise asyncio.CancelledError
    outcome = task.result()
    if outcome.error is not None:
        raise outcome.error
    return outcome.value  # type: ignore[return-value] # it is what the function returned


async def _supervised(function: Callable[[], Awaitable[T]]) -> _Outcome[T]:
    # A task hands `SystemExit` and `KeyboardInterrupt` to the event loop, and that ends the server.
    try:
        return _Outcome(value=await function())
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return _Outcome(error=error)
    except BaseException as error:  # noqa: BLE001 - the caller raises it
        return _Outcome(error=error)


async def _abandon(task: asyncio.Task[_Outcome[T]], seconds: float) -> None:
    task.cancel()
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        if not task.done():
            _left_behind.add(task)  # type: ignore[arg-type] # whatever it returns
            task.add_done_callback(_left_behind.discard)


SUPERVISED: Final[CodeType] = _supervised.__code__
"""The code that is on the stack while something bounded runs."""
