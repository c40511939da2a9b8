"""Deadlines for code that might never return.

`bounded` awaits a coroutine in its own task, and abandons the task if it resists cancellation. `alarm` interrupts code
that does not await, by raising an exception wherever that code is. It works only in the main thread, the only one that
runs signal handlers. `SIGALRM` interrupts sleeps, locks, sockets and loops alike, but not native code that never checks
for signals.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.machinery import ExtensionFileLoader
from itertools import takewhile
from types import CodeType, FrameType
from typing import Any, Final, Generic, TypeVar

from pressroom.gate.failures import awaited_by, own_exit, raised_in

T = TypeVar("T")

CANCEL_SECONDS: Final = 1.0
"""How long a cancelled task can take to end before it is abandoned."""

_left_behind: set[asyncio.Task[_Outcome[object]]] = set()
"""Abandoned tasks. The event loop keeps only weak references, so they could be garbage-collected."""

_REPEAT_SECONDS: Final = 0.25
_MAX_RINGS: Final = 20
"""How often code can swallow the exception before the process is ended, as a last resort."""

end_process: Final = os._exit
"""Ends the process at once. `os._exit` itself may be replaced by `no_exit`."""

_refusing = threading.Lock()
_blocks = 0
_process = 0


class DeadlineExceeded(Exception):
    """An awaited call exceeded its time. It was cancelled, and abandoned if it did not end.

    `frames` are those of the coroutine and of what it was waiting for, outermost first.
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
    """Return the result of a coroutine function, which runs in a task called `name`.

    Its exceptions propagate, including its own `CancelledError`. To distinguish that from a cancellation of the caller,
    check the caller's `Task.cancelling`. Its own `GeneratorExit` becomes a `RuntimeError`.

    Raises:
        DeadlineExceeded: The function took longer than `seconds`.
    """
    task = asyncio.create_task(_supervised(function), name=name)
    try:
        await asyncio.wait({task}, timeout=seconds)
    except BaseException:
        await _abandon(task, cancel_seconds)
        raise
    if not task.done():
        frames = tuple(awaited_by(task.get_coro()))
        await _abandon(task, cancel_seconds)
        raise DeadlineExceeded(frames=frames)
    if task.cancelled():
        raise asyncio.CancelledError
    outcome = task.result()
    if isinstance(outcome.error, GeneratorExit):
        raise own_exit(outcome.error) from outcome.error
    if outcome.error is not None:
        raise outcome.error
    return outcome.value  # type: ignore[return-value] # it is what the function returned


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Cancel what this block of a coroutine awaits after `seconds`.

    Raises:
        DeadlineExceeded: The time was exceeded, and the block did not swallow the cancellation. The frames lead to
            where it was cancelled.
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
    # A task passes `SystemExit` and `KeyboardInterrupt` on to the event loop, which would stop the server.
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
"""The code object on the stack while a bounded function runs."""


class Overdue(BaseException):
    """Raised inside code that exceeded its time. It is not an `Exception`, so that few handlers swallow it."""


@contextmanager
def alarm(
    seconds: float, give_up: Callable[[], None], within: CodeType | None = None, *, imports: bool = True
) -> Iterator[None]:
    """Raise `Overdue` in this block after `seconds`, and repeatedly if it is swallowed.

    With `within`, the exception is raised only while that code object is on the stack; use it for coroutines, which
    share the event loop with other code. If the block cannot be interrupted, `give_up` is called and the process is
    ended. In threads other than the main thread, this does nothing. With `imports`, modules whose import was
    interrupted can be imported again.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    armed, rings, started_at = True, 0, time.monotonic()
    latest = _latest_module() if imports else None

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
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, seconds, _REPEAT_SECONDS)
    # Nested, because the alarm can be raised within the first `finally`.
    try:
        try:
            yield
        finally:
            armed = False
    except BaseException as error:
        if rings and within is None:
            raise Overdue from error  # it was swallowed, or replaced by another exception
        raise
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if rings and latest is not None:
            _forget_half_imported(latest)
        if remaining:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, remaining - (time.monotonic() - started_at)), interval)
    if rings and within is None:
        raise Overdue  # it was swallowed, but the time was exceeded all the same


def _latest_module() -> str:
    """Return the name of the module imported last, without copying all names: this runs hundreds of times at start."""
    while True:
        with suppress(RuntimeError):  # another thread imports a module at the same moment
            return next(reversed(sys.modules))


def _forget_half_imported(latest: str) -> None:
    """Remove the remains of packages whose import was interrupted, so that they can be imported again.

    Python removes the package itself, but keeps submodules that were complete. A second import would find these, but
    not set them as attributes of their package. Native modules are kept, since some can be loaded only once. `latest`
    is the last module imported before the block; `sys.modules` is in import order.
    """
    for name in sorted(takewhile(lambda name: name != latest, reversed(list(sys.modules)))):
        parent = name.rpartition(".")[0]
        if parent and parent not in sys.modules:
            spec = getattr(sys.modules[name], "__spec__", None)
            if not isinstance(getattr(spec, "loader", None), ExtensionFileLoader):
                del sys.modules[name]


def _runs(code: CodeType, frame: FrameType | None) -> bool:
    return any(caller.f_code is code for top in (frame, *_greenlets_below()) for caller in _callers(top))


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _greenlets_below() -> Iterator[FrameType]:
    """Yield the frames of parent greenlets: SQLAlchemy runs synchronous code, such as migrations, in a greenlet."""
    greenlets = sys.modules.get("greenlet")
    parent = greenlets.getcurrent().parent if greenlets is not None else None
    while parent is not None:
        if parent.gr_frame is not None:
            yield parent.gr_frame
        parent = parent.parent


@contextmanager
def operator_interrupts() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether the operator pressed Ctrl-C in this block.

    This distinguishes it from a `KeyboardInterrupt` raised by a plugin.
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
    """A plugin called `os._exit`, which would have ended the server without any message."""


def _refuse(status: int) -> Any:
    if os.getpid() != _process:
        end_process(status)
    raise ProcessExit(f"it called os._exit({status})")


@contextmanager
def no_exit() -> Iterator[None]:
    """Raise `ProcessExit` if `os._exit` is called in this process; forked child processes can still exit.

    Blocks can overlap, such as those of two hosts in two threads. The last one to end restores `os._exit`.
    """
    global _blocks, _process  # noqa: PLW0603 - `os._exit` itself is global to all threads as well
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
