"""Run functions on threads that never keep the server from exiting."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Final, TypeVar

from pressroom.gate.failures import one_line

T = TypeVar("T")

IDLE_SECONDS: Final = 10.0
"""How long an idle thread waits for its next function, in seconds."""

_IDLE_NAME: Final = "idle"


async def on_daemon_thread(name: str, function: Callable[..., T], *arguments: object) -> T:
    """Run a function on its own thread, with the caller's context variables, and return its result.

    The thread is a daemon: the interpreter joins an executor's threads at exit, and would wait forever for a function
    that never returns. The thread continues when the awaiting task is cancelled; its result is then dropped.

    Raises:
        Exception: whatever the function raises.
        RuntimeError: the function raised a `BaseException` with a special meaning to an event loop, such as
            `SystemExit`.
    """

    def start(work: Callable[[], None], notify: Callable[[], None]) -> None:
        def body() -> None:
            work()
            notify()

        threading.Thread(target=body, name=name, daemon=True).start()

    return await _run(start, function, arguments)


class DaemonThreads:
    """Runs functions like `on_daemon_thread`, on threads that wait a while for the next function.

    A busy thread, such as one whose function never returns, gets no other function.
    """

    def __init__(self) -> None:
        self._idle: deque[_IdleThread] = deque()

    async def run(self, name: str, function: Callable[..., T], *arguments: object) -> T:
        """Run a function on a thread that is named `name` meanwhile. See `on_daemon_thread`."""

        def start(work: Callable[[], None], notify: Callable[[], None]) -> None:
            try:
                thread = self._idle.pop()
            except IndexError:
                thread = _IdleThread(self._idle)
            thread.given.put((name, work, notify))

        return await _run(start, function, arguments)

    def close(self) -> None:
        """End the idle threads. Busy threads end some time after their function returns."""
        while self._idle:
            with contextlib.suppress(IndexError):
                self._idle.pop().given.put(None)


async def _run(
    start: Callable[[Callable[[], None], Callable[[], None]], None],
    function: Callable[..., T],
    arguments: tuple[object, ...],
) -> T:
    """Return the function's result. `start` must run both of its arguments on a thread, one after the other."""
    loop = asyncio.get_running_loop()
    outcome: Future[T] = Future()
    finished = asyncio.Event()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            outcome.set_result(context.run(function, *arguments))
        except BaseException as error:  # noqa: BLE001  # raised again below
            outcome.set_exception(error)

    def notify() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the caller is gone
            loop.call_soon_threadsafe(finished.set)

    start(work, notify)
    await finished.wait()
    error = outcome.exception()
    if error is None or isinstance(error, Exception):
        return outcome.result()
    raise RuntimeError(f"the function raised {one_line(error)}") from error


class _IdleThread:
    """A thread that runs the functions it is given, and is in the pool of idle threads in between."""

    def __init__(self, idle: deque[_IdleThread]) -> None:
        self.given: SimpleQueue[tuple[str, Callable[[], None], Callable[[], None]] | None] = SimpleQueue()
        self._idle = idle
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                task = self.given.get(timeout=IDLE_SECONDS)
            except Empty:
                try:
                    self._idle.remove(self)
                except ValueError:
                    continue  # another thread has just popped this one and is about to give it a function
                return
            if task is None:
                return
            self._thread.name, work, notify = task
            work()
            self._thread.name = _IDLE_NAME
            # Before `notify`, so that the next caller finds this thread idle.
            self._idle.append(self)
            notify()
            del task, work, notify
