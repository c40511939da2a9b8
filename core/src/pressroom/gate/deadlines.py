"""Deadlines for code that may never return.

`bounded` awaits a coroutine in a task of its own, which is left behind where it does not let itself be cancelled. An
alarm interrupts code that does not await: an exception is raised in it, wherever it is. Only the main thread can be
interrupted, since only it runs signal handlers. `SIGALRM` reaches a sleep, a lock, a socket and a loop alike; what
native code does without ever looking at signals it does not reach.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import ExtensionFileLoader
from itertools import takewhile
from types import CodeType, FrameType
from typing import Any, Final, Generic, TypeVar

from pressroom.gate.attribution import awaited_by, raised_in

T = TypeVar("T")

CANCEL_SECONDS: Final = 1.0
"""How long what was cancelled may take to end before it is left behind."""

_left_behind: set[asyncio.Task[_Outcome[object]]] = set()
"""Tasks that nobody waits for any more. The event loop itself would let the garbage collector have them."""

_AGAIN_SECONDS: Final = 0.25
_MAX_RINGS: Final = 20
"""How often code may swallow the exception before the process is ended: nothing else could be done any more."""

end_process: Final = os._exit
"""Ends the process at once; `os._exit` itself may be that of `no_exit`."""

_refusing = threading.Lock()
_blocks = 0
_process = 0


class DeadlineExceeded(Exception):
    """What was awaited has used up its time; it was cancelled, and left behind where it did not end.

    `frames` are those of the coroutine and of what it waited for, the outermost first.
    """

    def __init__(self, message: str = "", frames: Sequence[FrameType] = ()) -> None:
        super().__init__(message)
        self.frames = frames


@dataclass(frozen=True, slots=True)
class _Outcome(Generic[T]):
    value: T | None = None
    error: BaseException | None = None


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
        waiting = tuple(awaited_by(task.get_coro()))
        await _abandon(task, cancel_seconds)
        raise DeadlineExceeded(frames=waiting)
    if task.cancelled():
        raise asyncio.CancelledError
    outcome = task.result()
    if outcome.error is not None:
        raise outcome.error
    return outcome.value  # type: ignore[return-value] # it is what the function returned


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Cancel what is awaited in this block of a coroutine once that many seconds are over.

    Raises:
        DeadlineExceeded: they were; its frames lead to where it was cancelled.
    """
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("only a coroutine that runs in a task can have a time limit")
    before, fired = task.cancelling(), False

    def end() -> None:
        nonlocal fired
        fired = task.cancel()

    timer = asyncio.get_running_loop().call_later(seconds, end)
    try:
        yield
    except asyncio.CancelledError as error:
        if fired and task.uncancel() <= before:
            raise DeadlineExceeded(frames=tuple(raised_in(error))) from None
        raise
    except BaseException:
        if fired:
            task.uncancel()
        raise
    else:
        if fired:
            task.uncancel()
    finally:
        timer.cancel()


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


class Overdue(BaseException):
    """Raised within code that has used up its time. No `Exception`, so that few handlers swallow it."""


@contextmanager
def alarm(
    seconds: float, give_up: Callable[[], None], within: CodeType | None = None, *, imports: bool = True
) -> Iterator[None]:
    """Raise `Overdue` in this block once it has taken that many seconds, and again where it is swallowed.

    With `within` it is raised only while that code is on the stack: for coroutines, beside which other code runs.
    `give_up` is called before the process is ended, because the block cannot be interrupted. In other threads than the
    main one nothing happens. With `imports`, modules whose import it interrupts can be imported again.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    armed, rings, began = True, 0, time.monotonic()
    # Not a copy of all names: this runs hundreds of times for a start.
    latest = next(reversed(sys.modules)) if imports else None

    def ring(_number: int, frame: FrameType | None) -> None:
        nonlocal rings
        if not armed or (within is not None and not _runs(within, frame)):
            return
        rings += 1
        if rings > _MAX_RINGS:
            give_up()
            sys.stderr.flush()
            end_process(1)
        raise Overdue

    handler = signal.signal(signal.SIGALRM, ring)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_SECONDS)
    # Twice: the first `finally` may be where the alarm is raised.
    try:
        try:
            yield
        finally:
            armed = False
    except BaseException as error:
        if rings and within is None:
            raise Overdue from error  # it was swallowed, or became something else
        raise
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if rings and latest is not None:
            _forget_half_imported(latest)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, left - (time.monotonic() - began)), interval)
    if rings and within is None:
        raise Overdue  # it was swallowed, and it took too long all the same


def _forget_half_imported(latest: str) -> None:
    """Remove what is left of packages whose import was interrupted, so that others can import them anew.

    Python removes the package itself, and leaves those of its modules that were ready: a second import finds them, and
    not what they are attributes of. Native modules stay, since some can be loaded only once. `latest` is the module
    that came last before: `sys.modules` is in the order of the imports.
    """
    for name in sorted(takewhile(lambda name: name != latest, reversed(list(sys.modules)))):
        parent = name.rpartition(".")[0]
        if parent and parent not in sys.modules:
            spec = getattr(sys.modules[name], "__spec__", None)
            if not isinstance(getattr(spec, "loader", None), ExtensionFileLoader):
                del sys.modules[name]


def _runs(code: CodeType, frame: FrameType | None) -> bool:
    return any(one.f_code is code for top in (frame, *_greenlets_below()) for one in _callers(top))


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _greenlets_below() -> Iterator[FrameType]:
    """Yield what waits for the current greenlet: SQLAlchemy runs synchronous code, such as migrations, in one."""
    greenlets = sys.modules.get("greenlet")
    waiting = greenlets.getcurrent().parent if greenlets is not None else None
    while waiting is not None:
        if waiting.gr_frame is not None:
            yield waiting.gr_frame
        waiting = waiting.parent


@contextmanager
def operator_interrupts() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether the operator pressed Ctrl-C in this block.

    A `KeyboardInterrupt` that a plugin raises looks the same, and does not mean the same.
    """
    pressed = False

    def note(_number: int, _frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        raise KeyboardInterrupt

    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda: pressed
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class ProcessExit(BaseException):
    """A plugin called `os._exit` where that would have ended the server without a word."""


def _refuse(status: int) -> Any:
    if os.getpid() != _process:
        end_process(status)
    raise ProcessExit(f"it called os._exit({status})")


@contextmanager
def no_exit() -> Iterator[None]:
    """Raise `ProcessExit` where this process would be ended with `os._exit`; a process that it forks may end.

    Blocks may overlap, such as those of two hosts in two threads: the last one to end puts `os._exit` back.
    """
    global _blocks, _process  # noqa: PLW0603 - as `os._exit` itself is one for all threads
    with _refusing:
        _blocks, _process = _blocks + 1, os.getpid()
        os._exit = _refuse
    try:
        yield
    finally:
        with _refusing:
            _blocks -= 1
            if not _blocks:
                os._exit = end_process
